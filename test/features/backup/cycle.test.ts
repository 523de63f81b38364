import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadConfig } from "../../../server/config.ts";
import { makeRecipient, wrapBackupKey } from "../../../server/features/backup/recipient.ts";
import { openTarget } from "../../../server/features/backup/target.ts";
import { createLog } from "../../../server/kernel/log.ts";
import { openDeps } from "../../../server/open-deps.ts";
import { signet } from "../../harness/cli.ts";

/** By the command line alone: backup → an empty machine → drill there, with a passphrase and with a key. */

const passphrase = "neun Löwen trinken Tee";
let home: string;
let secretFile: string;
let recipient: string;
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "signet-cycle-"));
  secretFile = path.join(home, "secret.txt");
  const made = await signet(["backup", "key", "--out", secretFile, "--json"]);
  recipient = String(JSON.parse(made.out).recipient);
  expect(made.out).not.toContain("SIGNET-BACKUP-SECRET");
  await writeFile(path.join(home, "passphrase.txt"), `${passphrase}\n`, { mode: 0o600 });
});
afterAll(() => rm(home, { recursive: true, force: true }));

async function appliance(name: string, own: Record<string, string>) {
  const share = path.join(home, `${name}-share`);
  await mkdir(share);
  const env = { SIGNET_DATA_DIR: path.join(home, name), SIGNET_BACKUP_DIR: share, ...own };
  const { deps, close } = await openDeps({ config: loadConfig(env), log: createLog("silent"), createKey: true });
  for (const text of ["one", "two"]) await deps.blobs.put(Buffer.from(text));
  await close();
  return { share, env };
}

test.each(["passphrase", "key"])(
  "backed up, restored on an empty machine and drilled there with a %s",
  async (kind) => {
    const byPassphrase = kind === "passphrase";
    const set = byPassphrase
      ? { SIGNET_BACKUP_PASSPHRASE_FILE: path.join(home, "passphrase.txt") }
      : { SIGNET_BACKUP_RECIPIENT: recipient };
    const { share, env } = await appliance(kind, set);
    const opener = byPassphrase ? ["--passphrase-stdin"] : ["--key", secretFile];
    // As the same letters come from another keyboard: composed of two code points.
    const typed = byPassphrase ? passphrase.normalize("NFD") : "";

    const made = await signet(["backup"], env);
    expect(made, made.err).toMatchObject({ code: 0 });
    const to = path.join(home, `${kind}-restored`);
    const restored = await signet(["restore", "--from", share, "--to", to, "--json", ...opener], {}, typed);
    expect(restored, restored.err).toMatchObject({ code: 0 });
    expect(JSON.parse(restored.out)).toMatchObject({ ok: true, to });
    const there = { ...env, SIGNET_DATA_DIR: to };
    const drilled = await signet(["drill", "--json", ...opener], there, typed);
    expect(JSON.parse(drilled.out)).toMatchObject({ ok: true, checked: { blobs: 2 }, openedBy: kind });
    const state = await signet(["backup", "status", "--json"], there);
    expect(JSON.parse(state.out)).toMatchObject({ lastDrill: { status: "passed", ageHours: 0, openedBy: kind } });
    expect(await signet(["backup", "verify", ...opener], there, typed)).toMatchObject({ code: 0 });
    const said = [made, restored, drilled, state].map(({ out, err }) => out + err).join("");
    const secret = (await readFile(secretFile, "utf8")).split("\n")[1] ?? "";
    for (const hidden of [passphrase, secret, (await readFile(path.join(to, "master.key"), "utf8")).trim()])
      expect(said).not.toContain(hidden);
  },
);

test.each(["passphrase", "key"])(
  "nothing but the right one opens a backup under a %s, and nothing is begun before",
  async (kind) => {
    const byPassphrase = kind === "passphrase";
    const share = path.join(home, `${kind}-share`);
    const wrong = path.join(home, "wrong.txt");
    await writeFile(wrong, makeRecipient().secret);
    const tries: [string[], string, RegExp][] = byPassphrase
      ? [
          [["--passphrase-stdin"], "neun Löwen trinken Bier", /this passphrase does not open the backup/],
          [["--passphrase-stdin"], `${passphrase} `, /this passphrase does not open the backup/],
          [["--key", secretFile], "", /opened with its passphrase/],
        ]
      : [
          [["--key", wrong], "", /this key does not open the backup/],
          [["--passphrase-stdin"], passphrase, new RegExp(`opened with the secret key of ${recipient}`)],
        ];
    for (const [args, stdin, said] of tries) {
      const empty = path.join(home, `${kind}-never`);
      const refused = await signet(["restore", "--from", share, "--to", empty, ...args], {}, stdin);
      expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(said) });
      await expect(readdir(empty)).rejects.toThrow("ENOENT");
    }
    const there = { SIGNET_DATA_DIR: path.join(home, kind), SIGNET_BACKUP_DIR: share };
    const [args, stdin] = tries[0] ?? [[], ""];
    expect(await signet(["backup", "verify", ...args], there, stdin)).toMatchObject({ code: 1 });
  },
);

test("a drill says what opened the backup, that the key that is kept away was not tried, and counts one thing as one", async () => {
  const { env } = await appliance("said", { SIGNET_BACKUP_RECIPIENT: recipient });
  const { deps, close } = await openDeps({ config: loadConfig(env), log: createLog("silent"), createKey: false });
  for await (const sha256 of deps.blobs.list()) {
    await deps.blobs.removeUnused(sha256, Number.POSITIVE_INFINITY);
    break;
  }
  await close();
  expect(await signet(["backup"], env)).toMatchObject({ code: 0 });
  const own = await signet(["drill"], env);
  expect(own, own.err).toMatchObject({ code: 0, out: expect.stringMatching(/^The drill passed\. .* own master key/) });
  expect(own.out).toContain("What you keep away was not tried: signet drill --key FILE");
  expect(own.out).toMatch(/\b1 blob\b/);
  expect(own.out).not.toMatch(/\b1 \w+s\b/);
  const kept = await signet(["drill", "--key", secretFile], env);
  expect(kept.out).toMatch(/opened by the key that was given/);
  expect(kept.out).not.toContain("not tried");
});

test("while a key is wrapped with a passphrase the process does other things too", async () => {
  let turned = false;
  setImmediate(() => {
    turned = true;
  });
  await wrapBackupKey(Buffer.alloc(32), { kind: "passphrase", passphrase }, "20260101-000000000-000000");
  expect(turned).toBe(true);
});

test("guessing a passphrase costs 128 MB and half a second each: scrypt with N = 2^17, r = 8, p = 1", async () => {
  const { keys } = await openTarget(path.join(home, "passphrase-share")).read();
  expect(keys.recipient).toMatchObject({ kind: "passphrase", log2N: 17 });
  const short = path.join(home, "short.txt");
  await writeFile(short, "elf Zeichen");
  const { env } = await appliance("short", { SIGNET_BACKUP_PASSPHRASE_FILE: short });
  const refused = await signet(["backup"], env);
  expect(refused).toMatchObject({ code: 1, out: expect.stringContaining("at least 12 characters") });
  const checked = JSON.parse((await signet(["doctor", "--json"], env)).out);
  expect(checked.findings).toContainEqual(expect.objectContaining({ id: "backup", state: "wrong" }));
});
