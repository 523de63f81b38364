import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { access, cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { runCli } from "../../server/cli.ts";
import { rotateMaster } from "../../server/commands/rotate-master.ts";
import { startAppliance as startServer } from "../../server/compose.ts";
import { type Config, loadConfig } from "../../server/config.ts";
import { testSign } from "../../server/features/keys/ceremony.ts";
import { sealedColumns } from "../../server/features/keys/sealed-columns.ts";
import { listMail } from "../../server/features/mail/service.ts";
import { replaceAcme } from "../../server/features/tls/acme/store.ts";
import type { Deps } from "../../server/kernel/deps.ts";
import { defineJob, enqueue } from "../../server/kernel/jobs.ts";
import { createLog } from "../../server/kernel/log.ts";
import { openDeps } from "../../server/open-deps.ts";
import { startAppliance } from "../harness/appliance.ts";
import { sealedEnvelope } from "../harness/bundles.ts";
import { movableClock } from "../harness/clock.ts";
import { publishTemplate } from "../harness/scenario.ts";

/** A new master key over everything that lies under the one before, with a death at every step. */

const log = createLog("silent");
const secretJob = defineJob({ name: "test.secret", payload: z.object({ token: z.string() }), secret: true });
let home: string;
let original: string;
let envelope: string;
let sealedSha256: string;
const made: string[] = [];

beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "signet-rotate-"));
  original = path.join(home, "original");
  const clock = movableClock();
  const app = await startAppliance({ folder: original, clock });
  const template = await publishTemplate(app);
  envelope = await sealedEnvelope(app, clock, template);
  const response = await app.call(`/v1/envelopes/${envelope}/document?version=sealed`);
  sealedSha256 = createHash("sha256")
    .update(Buffer.from(await response.arrayBuffer()))
    .digest("hex");
  const named = await app.call("/v1/templates", {
    json: { name: "Once" },
    headers: { "idempotency-key": "only-once" },
  });
  expect(named.status).toBe(201);
  const hook = await app.json("/v1/webhook-endpoints", { json: { url: "https://8.8.8.8/hooks" } });
  const { id: endpoint } = z.object({ id: z.string() }).parse(hook.body);
  await app.call(`/v1/webhook-endpoints/${endpoint}/secret/rotate`, { method: "POST" });
  const saved = await app.call("/auth/profile/signature", {
    key: null,
    method: "PUT",
    json: { method: "type", text: "Olive Owner", font: "Caveat" },
    headers: { cookie: await app.signIn(), origin: app.url },
  });
  expect(saved.status).toBe(200);
  await app.deps.db.tx(async (tx) => {
    // Far enough away that nobody runs it.
    await enqueue(tx, secretJob, { token: "hidden" }, { runAt: Date.parse("2999-01-01") });
    const state = "ab".repeat(32);
    await tx
      .insertInto("social_states")
      .values({
        state_sha256: state,
        browser_sha256: "cd".repeat(32),
        provider: "google",
        secrets: app.deps.secrets.seal("{}", `social_states.secrets:${state}`),
        return_to: null,
        user: null,
        expires_at: "2999-01-01T00:00:00.000Z",
      })
      .execute();
    const authority = { directory: "https://ca.example.com/directory", rootPem: null, names: [], contacts: [] };
    await replaceAcme(tx, app.deps, {
      id: "one",
      since: app.deps.clock.ts(),
      settings: { ...authority, challenge: "tls-alpn-01", eabKid: null },
      secrets: { accountKey: "hidden", nextAccountKey: null, eabKey: null, request: null },
      progress: {
        account: null,
        order: null,
        unheard: null,
        certificate: null,
        requested: false,
        choices: 0,
        state: "valid",
        trouble: null,
        failures: 0,
        nextAt: Date.parse("2999-01-01"),
        renewal: null,
      },
    });
  });
  await app.stop();
});
afterAll(() => rm(home, { recursive: true, force: true }));

async function copy(): Promise<{ folder: string; config: Config; env: Record<string, string> }> {
  const folder = path.join(home, `copy-${made.length}`);
  made.push(folder);
  await cp(original, folder, { recursive: true });
  const env = { SIGNET_DATA_DIR: folder, SIGNET_PORT: "0", SIGNET_LOG_LEVEL: "silent" };
  return { folder, config: loadConfig(env), env };
}

async function within<T>(config: Config, look: (deps: Deps) => Promise<T>): Promise<T> {
  const { deps, close } = await openDeps({ config, log });
  try {
    return await look(deps);
  } finally {
    await close();
  }
}

type Text = { place: string; value: string };

/** Every text in every table that is sealed under a key of this installation, as a stranger to the list finds it. */
async function sealedTexts({ db, secrets }: Deps): Promise<(Text & { current: boolean })[]> {
  const tables = await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(db.read);
  const found: (Text & { current: boolean })[] = [];
  for (const { name } of tables.rows) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(db.read);
    for (const row of rows)
      for (const [column, value] of Object.entries(row)) {
        if (typeof value !== "string" || !/^A[Q-Za-f]/.test(value)) continue;
        try {
          found.push({ place: `${name}.${column}`, value, current: secrets.isCurrent(value) });
        } catch {
          // It only looks like one.
        }
      }
  }
  return found;
}

/** Everything that lies under the master key can be read. */
async function readable(deps: Deps): Promise<void> {
  expect((await testSign(deps, {})).length).toBe(4);
  const mails = await listMail(deps.db.read, deps, {});
  expect(mails.length).toBeGreaterThan(3);
  for (const text of await sealedTexts(deps)) {
    const about = sealedColumns.find(({ table, column }) => text.place === `${table}.${column}`);
    if (!about) throw new Error(text.place);
    const row = await sql<Record<string, string>>`select * from ${sql.table(about.table)}
      where ${sql.ref(about.column)} = ${text.value}`.execute(deps.db.read);
    deps.secrets.open(text.value, about.context(row.rows[0] ?? {}));
  }
  for await (const sha256 of deps.blobs.list()) {
    const bytes = await deps.blobs.get(sha256);
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(sha256);
  }
  expect(await deps.blobs.has(sealedSha256)).toBe(true);
}

/** Under the new key alone, whole, and recorded once. */
async function finished(folder: string, config: Config): Promise<void> {
  await expect(access(`${config.masterKeyFile}.next`)).rejects.toThrow();
  await within(config, async (deps) => {
    await readable(deps);
    expect((await sealedTexts(deps)).every(({ current }) => current)).toBe(true);
    for await (const sha256 of deps.blobs.list()) expect(await deps.blobs.rewrap(sha256)).toBe("current");
    const records = await deps.db.read.selectFrom("key_records").select("body").execute();
    expect(records.filter(({ body }) => body.includes('"rotate-master"'))).toHaveLength(1);
  });
  const kept = (await readdir(folder)).filter((name) => name.startsWith("master.key.before-"));
  expect(kept).toHaveLength(1);
}

test("every column that is sealed is known, in the sources and in a database in use", async () => {
  const places = await within((await copy()).config, sealedTexts);
  expect([...new Set(places.map(({ place }) => place))].sort()).toEqual(
    sealedColumns.map(({ table, column }) => `${table}.${column}`).sort(),
  );
  const server = path.resolve(import.meta.dirname, "../../server");
  const callers: string[] = [];
  for (const name of await readdir(server, { recursive: true })) {
    if (!name.endsWith(".ts") || name === "kernel/secrets.ts") continue;
    const count = (await readFile(path.join(server, name), "utf8")).match(/secrets\??\.seal\(/g)?.length ?? 0;
    for (let n = 0; n < count; n += 1) callers.push(name);
  }
  // Whoever seals something new adds its column to features/keys/sealed-columns.ts, and then its place here.
  expect(callers.sort()).toEqual([
    // In the manifest of a backup, which is no part of the data: backups of before open with their recipient's key.
    "features/backup/write.ts",
    "features/keys/master-rotation.ts",
    "features/keys/rotation.ts",
    "features/keys/service.ts",
    "features/mail/service.ts",
    "features/sign-in/social/social.ts",
    "features/signing/saved-signature.ts",
    "features/tls/acme/store.ts",
    "features/webhooks/secrets.ts",
    "kernel/db.ts",
    "kernel/idempotency.ts",
    "kernel/master-key.ts",
  ]);
});

test("a death at any step leaves everything readable, and the next call ends what was begun", async () => {
  const whole = await copy();
  const steps: string[] = [];
  await rotateMaster(whole, undefined, (step) => steps.push(step));
  await finished(whole.folder, whole.config);
  expect(steps).toEqual(expect.arrayContaining(["next key", "blobs", "refused PIN", "record"]));
  const blobs = steps.flatMap((step, n) => (step === "blobs" ? [n] : []));
  const deaths = steps.flatMap((step, n) =>
    step !== "blobs" || n === blobs[0] || n === blobs[Math.floor(blobs.length / 2)] ? [n] : [],
  );
  class Death extends Error {}
  for (const death of deaths) {
    const { folder, config } = await copy();
    let n = 0;
    const dying = rotateMaster({ config }, undefined, () => {
      if (n++ === death) throw new Death();
    });
    await expect(dying).rejects.toThrow(Death);
    await within(config, readable);
    await rotateMaster({ config }, undefined, () => undefined);
    await finished(folder, config);
    await rm(folder, { recursive: true });
  }
}, 120_000);

test("killed in the middle, the server starts and shows its documents; the rest follows, and the key of before opens nothing", async () => {
  const { folder, config, env } = await copy();
  const child = path.join(import.meta.dirname, "rotate-master-child.ts");
  const killed = spawnSync(process.execPath, [child, "blobs", "2"], { env: { ...process.env, ...env } });
  expect(killed.signal).toBe("SIGKILL");
  await access(`${config.masterKeyFile}.next`);

  const signet = async (...args: string[]) => {
    let out = "";
    const streams = {
      stdout: (text: string) => {
        out += text;
      },
      stderr: () => undefined,
      stdin: (async function* () {})(),
      interactive: false,
      onSignal: () => undefined,
    };
    const code = await runCli(["keys", ...args, "--json"], env, streams);
    return { code, value: JSON.parse(out) };
  };
  const app = await startServer({ config, log });
  const sealed = await app.deps.blobs.get(sealedSha256);
  expect(Buffer.from(sealed.subarray(0, 5)).toString()).toBe("%PDF-");
  expect(await signet("rotate-master")).toMatchObject({ code: 1, value: { code: "MASTER_KEY_BUSY" } });
  await app.stop();

  const done = await signet("rotate-master", "--by", "Olive Owner");
  expect(done).toMatchObject({ code: 0, value: { damaged: [] } });
  await finished(folder, config);
  expect((await signet("record")).value.problems).toEqual([]);
  await cp(done.value.kept, config.masterKeyFile);
  await expect(within(config, readable)).rejects.toThrow("is not the one that this data was written under");
}, 60_000);
