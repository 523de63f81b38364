import { writeFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import type { Container } from "./container.ts";
import { answers, type Job, mainJob, trustServer, urlOf } from "./service.ts";
import { equal, holds, step } from "./steps.ts";

/** Setting it up by its assistant, as root and as somebody behind sudo, and its use from outside. */

export const backupFolder = "/srv/backup/signet";
const printed = z.object({ recipient: z.string() });
const SetUp = z.object({
  changed: z.array(z.string()),
  link: z.string().nullable(),
  setup: z.object({ complete: z.boolean() }),
});

export async function openBackupFolder(at: Container): Promise<void> {
  await at.must(["install", "-d", "-o", "signet", "-g", "signet", "-m", "700", backupFolder]);
  await at.must(["mkdir", "-p", "/etc/systemd/system/signet.service.d"]);
  const example = "/usr/share/doc/signet-server/examples/backup-folder.conf";
  await at.must(["cp", example, "/etc/systemd/system/signet.service.d/"]);
  await at.must(["systemctl", "daemon-reload"]);
}

export async function useAsAdministrator(at: Container): Promise<void> {
  await step("a folder for backups, opened to the service by the drop-in that the package brings", () =>
    openBackupFolder(at),
  );
  await step("set up by a file of answers that root alone can read", async () => {
    const { recipient } = printed.parse(
      JSON.parse(await at.must(["signet", "backup", "key", "--out", "/root/backup.key", "--json"])),
    );
    equal(await at.must(["stat", "-c", "%a %U", "/root/backup.key"]), "600 root", "the backup's key");
    const settings = [
      "host: 0.0.0.0",
      "port: 443",
      `baseUrl: ${urlOf(at)}`,
      "anchorIntervalSeconds: 2",
      `backupDir: ${backupFolder}`,
      `backupRecipient: ${recipient}`,
    ];
    const owner = ["organization: Example Ltd", "email: owner@example.com", "name: Olga Owner"];
    const lines = ["settings:", ...settings.map((line) => `  ${line}`), "owner:", ...owner.map((line) => `  ${line}`)];
    const file = path.join(at.root, "root/answers.yaml");
    writeFileSync(file, `${[...lines, "skip: [mail, tls]"].join("\n")}\n`, { mode: 0o600 });
    // A login as ada, behind which everything that follows happens.
    const asAda =
      "ada=$(id -u ada); echo $ada >/proc/self/loginuid; exec signet setup --answers /root/answers.yaml --json";
    const { link, changed } = SetUp.parse(JSON.parse(await at.must(["sh", "-c", asAda])));
    equal(link === null ? null : new URL(link).origin, urlOf(at), "the owner's link");
    holds(changed.join(" "), /settings\.host .*owner/, "what was changed");
    await at.must(["systemctl", "restart", "signet"]);
    await trustServer(at);
    await answers(at);
    equal((await fetch(link ?? "")).status, 200, "the owner's link, from outside");
  });
  await step("everything is set up; the same answers change nothing", async () => {
    equal((await at.tryTo(["signet", "setup"])).status, 0, "signet setup");
    const again = await at.must(["signet", "setup", "--answers", "/root/answers.yaml", "--json"]);
    equal(SetUp.parse(JSON.parse(again)).changed, [], "changes of the second time");
  });
  await step("root's files are read and written where root names them; audits name the person", async () => {
    await at.must(["env", "SUDO_USER=grace", "signet", "support-bundle", "--out", "/root/support.zip"]);
    equal(await at.must(["sh", "-c", "head -c 2 /root/support.zip"]), "PK", "the support bundle");
    await at.must(["env", "SUDO_USER=grace", "signet", "recover-owner", "--email", "owner@example.com"]);
    await ownCertificate(at);
    // The same while it is stopped, on the data itself.
    await at.must(["systemctl", "stop", "signet"]);
    await at.must(["env", "SUDO_USER=grace", "signet", "support-bundle", "--out", "/root/stopped.zip"]);
    await at.must(["env", "SUDO_USER=grace", "signet", "config", "set", "logLevel=debug"]);
    await at.must(["signet", "doctor"]);
    await at.must(["signet", "setup", "--answers", "/root/answers.yaml"]);
    // It is no document of ours, and is read all the same.
    const verified = await at.tryTo(["signet", "verify", "/root/answers.yaml"]);
    holds(verified.stdout, /^\/root\/answers\.yaml: \d+ bytes/, "signet verify");
    equal(await at.must(["find", "/var/lib/signet", "!", "-user", "signet"]), "", "files of others in the data");
    await at.must(["systemctl", "start", "signet"]);
    await answers(at);
    const names = await operators(at);
    for (const [name, action] of [
      ["ada", "settings.changed"],
      ["grace", "support.bundle_made"],
      ["grace", "settings.changed"],
      ["root", "tls."],
    ] as const)
      if (!names.some((act) => act.name === name && act.action.startsWith(action)))
        throw new Error(`no act ${action} of ${name} in ${JSON.stringify(names)}`);
    equal(
      names.filter(({ name }) => name === "signet"),
      [],
      "acts of nobody in particular",
    );
  });
}

/** One that root alone can read goes in by the command, and the one of before comes back. */
async function ownCertificate(at: Container): Promise<void> {
  const made = [
    "cd /root && umask 077",
    `openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout tls.key -out tls.csr -subj /CN=${at.address}`,
    `echo subjectAltName=IP:${at.address} >tls.ext`,
    "openssl x509 -req -in tls.csr -signkey tls.key -days 30 -extfile tls.ext -out tls.pem",
  ];
  await at.must(["sh", "-c", made.join(" && ")]);
  await at.must(["signet", "tls", "install", "--certificate", "/root/tls.pem", "--key", "/root/tls.key"]);
  await at.must(["signet", "tls", "rollback"]);
}

type Act = { name: string; action: string };

async function operators(at: Container): Promise<Act[]> {
  const code = `import { DatabaseSync } from "node:sqlite";
    const rows = new DatabaseSync("/var/lib/signet/signet.db", { readOnly: true }).prepare("SELECT actor, action FROM operator_audit").all();
    console.log(JSON.stringify(rows.map(({ actor, action }) => ({ actor: JSON.parse(actor), action }))))`;
  const acts = JSON.parse(await at.must(["/opt/signet/current/bin/node", "--input-type=module", "-e", code]));
  return z
    .array(z.object({ actor: z.object({ type: z.string(), name: z.string().nullable() }), action: z.string() }))
    .parse(acts)
    .filter(({ actor }) => actor.type === "operator")
    .map(({ actor, action }) => ({ name: actor.name ?? "", action }));
}

export async function useFromOutside(at: Container): Promise<Job> {
  return await step("main job over HTTPS from outside: upload, send, two signers, seal, anchor, verify", async () => {
    const made = await at.must(["signet", "api-key", "create", "--name", "test", "--mode", "live", "--json"]);
    return await mainJob(at, z.object({ key: z.string() }).parse(JSON.parse(made)).key);
  });
}
