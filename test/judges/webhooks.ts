import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import { WebhookEndpoint, WebhookSecret } from "../../server/features/webhooks/contract.ts";
import { startAppliance } from "../harness/appliance.ts";
import { auditOf, ok, publishTemplate, send } from "../harness/scenario.ts";

/**
 * The PyPI package of Standard Webhooks verifies deliveries, also during a rotation. Its receiver stands in a network namespace of
 * its own, with a certificate of a private authority, as in somebody's network, and speaks IPv6 only.
 */

const version = "1.1.0";
const environment = path.resolve(import.meta.dirname, `../../out/judges/standardwebhooks-${version}`);
const space = "signet-hooks";
const link = { here: "signet-hooks0", there: "signet-hooks1" };
const addresses = { here: "fd5a:77::1", there: "fd5a:77::2" };
const port = 8443;
const host = `[${addresses.there}]:${port}`;

const Verdict = z.object({ id: z.string(), verdicts: z.array(z.boolean()), tampered: z.boolean() });
type Verdict = z.infer<typeof Verdict>;

const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, { stdio: ["ignore", "ignore", "pipe"] });
const ip = (...args: string[]) => run("/usr/sbin/ip", ...args);

/** @returns whether every delivery verified with each secret that was in use, and none that was changed */
export async function judgeWebhooks(): Promise<boolean> {
  if (!existsSync(path.join(environment, "bin/python"))) {
    run("python3", "-m", "venv", environment);
    run(path.join(environment, "bin/pip"), "install", "--quiet", `standardwebhooks==${version}`);
  }
  const folder = await mkdtemp(path.join(tmpdir(), "signet-hooks-"));
  openSpace();
  const certificate = path.join(folder, "certificate.pem");
  const key = path.join(folder, "key.pem");
  run(
    "/usr/bin/openssl",
    ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=hooks"],
    ...["-addext", `subjectAltName=IP:${addresses.there}`, "-keyout", key, "-out", certificate],
  );
  const app = await startAppliance({
    env: { SIGNET_CA_FILE: certificate, SIGNET_OUTBOUND_ALLOW: `webhook=${host}` },
  });
  try {
    const made = WebhookEndpoint.parse(
      (await ok(app, 201, "/v1/webhook-endpoints", { json: { url: `https://${host}/` } })).body,
    );
    const rotated = WebhookSecret.parse(
      (await ok(app, 200, `/v1/webhook-endpoints/${made.id}/secret/rotate`, { method: "POST" })).body,
    );
    const receiver = await receive([made.secret ?? "", rotated.secret], certificate, key);
    try {
      const { id } = await send(app, await publishTemplate(app));
      await app.jobs.idle();
      const wanted = (await auditOf(app, id)).data.map((entry) => entry.id);
      const got = receiver.verdicts.filter((verdict) => wanted.includes(verdict.id));
      const good = got.filter(({ verdicts, tampered }) => verdicts.every(Boolean) && !tampered);
      console.log(`webhooks: ${good.length} of ${got.length} deliveries verify with both secrets`);
      return got.length > 0 && good.length === got.length;
    } finally {
      receiver.stop();
    }
  } finally {
    await app.stop();
    closeSpace();
    await rm(folder, { recursive: true, force: true });
  }
}

function openSpace(): void {
  closeSpace();
  ip("netns", "add", space);
  ip("link", "add", link.here, "type", "veth", "peer", "name", link.there, "netns", space);
  ip("addr", "add", `${addresses.here}/64`, "dev", link.here, "nodad");
  ip("link", "set", link.here, "up");
  ip("-n", space, "addr", "add", `${addresses.there}/64`, "dev", link.there, "nodad");
  ip("-n", space, "link", "set", link.there, "up");
}

function closeSpace(): void {
  try {
    ip("netns", "delete", space);
  } catch {
    // There was none.
  }
}

async function receive(secrets: readonly string[], certificate: string, key: string) {
  const script = path.join(import.meta.dirname, "receiver.py");
  const python = path.join(environment, "bin/python");
  const child = spawn(
    "/usr/sbin/ip",
    ["netns", "exec", space, python, script, addresses.there, String(port), certificate, key],
    { env: { PATH: "/usr/sbin:/usr/bin", SECRETS: secrets.join() }, stdio: ["ignore", "pipe", "inherit"] },
  );
  const verdicts: Verdict[] = [];
  const lines = createInterface(child.stdout);
  await once(lines, "line");
  lines.on("line", (line) => verdicts.push(Verdict.parse(JSON.parse(line))));
  return { verdicts, stop: () => void child.kill("SIGKILL") };
}
