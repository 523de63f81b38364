import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { inflateRawSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { followLog, readLog } from "../../../server/features/appliance/logs-contract.ts";
import { prepareSupportBundle, saveSupportBundle } from "../../../server/features/appliance/support-contract.ts";
import { readZip } from "../../../server/features/evidence/bundle/zip.ts";
import { createLog, type Log } from "../../../server/kernel/log.ts";
import { createLogTail } from "../../../server/kernel/log-tail.ts";
import { callLocal, downloadLocal, followLocal } from "../../../server/local-client.ts";
import { administrator } from "../../harness/admin.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { commandOn } from "../../harness/cli.ts";

/** Everything that nobody outside may read, planted wherever it may come from. */
const smtpPassword = "s3cret/pass&word";
const metricsToken = "metrics-token-of-this-site";
const clientSecret = "GOCSPX-social-client-secret";

let app: TestAppliance;
let log: Log;
let env: Record<string, string>;

beforeAll(async () => {
  const logTail = createLogTail();
  log = createLog("debug", logTail);
  env = {
    SIGNET_SMTP_URL: `smtp://mailer:${encodeURIComponent(smtpPassword)}@mail.example.com:587`,
    SIGNET_METRICS_TOKEN: metricsToken,
    SIGNET_SOCIAL_GOOGLE_CLIENT_ID: "client-id",
    SIGNET_SOCIAL_GOOGLE_CLIENT_SECRET: clientSecret,
    SIGNET_MAIL_FROM: "Signet <office@example.com>",
  };
  app = await startAppliance({ log, logTail, env });
});
afterAll(() => app.stop());

async function contentsOf(zip: Uint8Array): Promise<Map<string, string>> {
  const files = await readZip(zip, async (bytes, size) => inflateRawSync(bytes, { maxOutputLength: size }));
  return new Map([...files].map(([name, bytes]) => [name, Buffer.from(bytes).toString("utf8")]));
}

test("a support bundle holds no secret from wherever one was planted, and is saved as it was shown", async () => {
  const key = await app.createKey("live");
  const session = (await app.signIn()).split("=")[1] ?? "";
  const masterKey = (await readFile(app.config.masterKeyFile)).toString("utf8").trim();
  const pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n-----END PRIVATE KEY-----";
  const signer = "grace.hopper@navy.example";
  const planted = [
    encodeURIComponent(smtpPassword),
    smtpPassword,
    Buffer.from(smtpPassword).toString("base64"),
    metricsToken,
    clientSecret,
    key,
    session,
    signer,
    app.owner.email,
    "jörg@müller.example",
    "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.c2ln",
  ];
  log.error(
    { note: `${planted.join(" | ")} | ${pem} | https://u:${smtpPassword}@x.example/`, token: key },
    `failed: ${planted.join(" ")}`,
  );
  await app.deps.db.tx((tx) =>
    tx
      .insertInto("jobs")
      .values({
        id: "job_planted",
        name: "mail.send",
        queue: "elsewhere",
        payload: JSON.stringify({ secret: key }),
        run_at: 0,
        attempts: 58,
        status: "dead",
        lease_until: null,
        lease_by: null,
        dedupe_key: null,
        last_error: planted.join(" "),
        created_at: 0,
      })
      .execute(),
  );
  const { address, call } = administrator(app);
  const shown = await call(prepareSupportBundle, {});
  const pieces: Uint8Array[] = [];
  for await (const piece of downloadLocal(address, saveSupportBundle, { params: { id: shown.id } })) pieces.push(piece);
  const files = await contentsOf(Buffer.concat(pieces));
  expect([...files]).toEqual(shown.files.map(({ name, text }) => [name, text]));
  expect([...files.keys()]).toEqual([
    "README.txt",
    "about.json",
    "settings.json",
    "checks.json",
    "status.json",
    "work.json",
    "operator-audit.json",
    "log.jsonl",
  ]);
  const everything = [...files.values()].join("\n");
  const organization = await app.deps.db.read.selectFrom("organizations").select("name").executeTakeFirstOrThrow();
  for (const secret of [...planted, organization.name, masterKey, "MIIEvQIBADANBgkqhkiG9w0BAQ"])
    expect([secret, everything.includes(secret)]).toEqual([secret, false]);
  // It is of use all the same.
  expect(files.get("log.jsonl")).toContain("failed: ");
  expect(files.get("settings.json")).toContain('"metricsToken"');
  expect(files.get("work.json")).toContain("job_planted");
  expect(JSON.parse(files.get("about.json") ?? "")).toMatchObject({
    processors: availableParallelism(),
    schema: expect.arrayContaining([expect.stringContaining("0033-appliance")]),
  });
});

test("the command saves it while the appliance runs and while it is stopped, never over another file", async () => {
  const signet = commandOn(app.folder, env);
  const out = path.join(app.folder, "support.zip");
  expect((await signet("support-bundle")).code).toBe(2);
  const { code, json } = await signet("support-bundle", "--out", out, "--json");
  expect(code).toBe(0);
  expect((await contentsOf(await readFile(out))).get("log.jsonl")).not.toBe("");
  expect(json().file).toBe(out);
  expect((await signet("support-bundle", "--out", out)).code).toBe(1);
  const away = commandOn(app.folder, { ...env, SIGNET_ADMIN_SOCKET: path.join(app.folder, "nobody.sock") });
  const shown = await away("support-bundle", "--show", "--json");
  expect(shown.code).toBe(0);
  expect(shown.out).not.toContain(clientSecret);
});

test.skipIf(process.platform === "win32")("what could not be written whole leaves nothing of it", async () => {
  const out = path.join(app.folder, "cut.zip");
  const main = path.resolve(import.meta.dirname, "../../../server/main.ts");
  // No file may grow beyond one block, as where a disk is full.
  const script = 'ulimit -f 1; exec "$@"';
  const child = spawn("/bin/sh", ["-c", script, "sh", process.execPath, main, "support-bundle", "--out", out], {
    env: { SIGNET_DATA_DIR: app.folder, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [said] = await Promise.all([text(child.stderr), once(child, "close")]);
  expect([child.exitCode, said]).toEqual([1, expect.stringContaining("EFBIG")]);
  expect(existsSync(out)).toBe(false);
});

test("whoever stops it is left with nothing of it", async () => {
  const out = path.join(app.folder, "stopped.zip");
  const signet = commandOn(app.folder, env, "", (listener) => listener("SIGINT"));
  const { code, err } = await signet("support-bundle", "--out", out);
  expect([code, err]).toEqual([130, "Stopped. Nothing was written.\n"]);
  expect(existsSync(out)).toBe(false);
});

test("the log is read by level and text, and followed", async () => {
  const { address } = administrator(app);
  log.warn({ disk: "full" }, "a warning to be found");
  log.debug({}, "a whisper to be found");
  const found = await callLocal(address, readLog, { query: { level: "warn", search: "TO BE found" } });
  expect(found.data.map(({ level, message, data }) => [level, message, data])).toEqual([
    ["warn", "a warning to be found", '{"disk":"full"}'],
  ]);
  const last = found.data[0]?.seq ?? 0;
  const after = await callLocal(address, readLog, { query: { after: String(last), search: "to be found" } });
  expect(after.data.map(({ message }) => message)).toEqual(["a whisper to be found"]);
  const ended = new AbortController();
  const stream = followLocal(
    address,
    followLog,
    { query: { level: "error", search: "follow" } },
    { signal: ended.signal },
  );
  const first = stream.next();
  // Until the stream is open nobody listens: the same line again and again does no harm.
  const timer = setInterval(() => log.error({}, "follow me"), 20);
  const { value } = await first;
  clearInterval(timer);
  expect(value).toMatchObject({ level: "error", message: "follow me" });
  ended.abort();
  await stream.next().catch(() => undefined);
});
