import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { z } from "zod";
import { createClient } from "../../server/commands/demo/client.ts";
import { publishTemplate } from "../../server/commands/demo/main-job.ts";
import { loadConfig } from "../../server/config.ts";
import { AuditEntry, AuditTrail } from "../../server/features/envelopes/audit-contract.ts";
import { fsck } from "../../server/features/evidence/fsck/fsck.ts";
import { createApiKey, createOrganization } from "../../server/features/identity/service.ts";
import { ensureKeys } from "../../server/features/keys/service.ts";
import { listMail } from "../../server/features/mail/service.ts";
import { eventSchemas, WebhookEndpoint } from "../../server/features/webhooks/contract.ts";
import { createLog } from "../../server/kernel/log.ts";
import { permissions } from "../../server/kernel/wire.ts";
import { openDeps } from "../../server/open-deps.ts";
import { CrashingAppliance } from "../harness/crashing-appliance.ts";
import { streamed } from "../harness/envelopes.ts";
import { allowing, type Received, startReceiver } from "../harness/webhook-receiver.ts";
import { persistentJob, readOutbox } from "./persistent-job.ts";

const fixture = path.resolve(import.meta.dirname, "../fixtures/pdf/lecture.pdf");

export type CrashReport = {
  /** `point#nth` of every kill that was planned, and whether it struck. */
  planned: { at: string; struck: boolean }[];
  randomKills: number;
  envelopes: string[];
  problems: string[];
};

/** A generator of numbers in [0, 1) that a printed seed repeats (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/**
 * Kills the appliance at each distinct job and transaction boundary of the main job once, then at random instants, and
 * looks at what is left: every envelope sealed, every chain valid, nothing missing, nothing doubled.
 */
export async function crashScenario(options: {
  randomKills: number;
  seed: number;
  /** Kills at each transaction's boundaries whose number this divides; at every one of them when absent. */
  everyNthTransaction?: number;
  say?: (line: string) => void;
}): Promise<CrashReport> {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-crash-"));
  const port = await freePort();
  const env = { SIGNET_DATA_DIR: folder, SIGNET_PORT: String(port), SIGNET_LOG_LEVEL: "silent" };
  const config = loadConfig(env);
  const log = createLog("silent");
  const key = await prepare(config, log);
  const receiver = await startReceiver();
  const appliance = new CrashingAppliance(folder, port, allowing(receiver), true);
  const url = `http://127.0.0.1:${port}`;
  const random = seeded(options.seed);
  const report: CrashReport = { planned: [], randomKills: 0, envelopes: [], problems: [] };
  const followed = new Map<string, Promise<Trail["data"]>>();
  let number = 0;
  try {
    await appliance.start();
    const client = createClient(url, key);
    await client.json(WebhookEndpoint, "/v1/webhook-endpoints", { json: { url: receiver.url } });
    const { template } = await publishTemplate(client, await readFile(fixture), "none");
    const job = async () => {
      number++;
      const created = (id: string) => void followed.set(id, followStream(appliance, `${url}/v1/envelopes/${id}`, key));
      report.envelopes.push(
        await persistentJob(appliance, { url, key, template: template.id, folder, number, created }),
      );
    };
    await appliance.arm({ record: true });
    const started = performance.now();
    await job();
    const usualMs = performance.now() - started;
    for (const plan of killPlans(appliance.points, options.everyNthTransaction ?? 1)) {
      await appliance.arm(plan);
      const before = appliance.kills;
      await job();
      // The anchor comes behind the seal, which is all that the job waits for.
      const until = performance.now() + (plan.point.startsWith("job:") ? boundaryWithinMs : 0);
      while (appliance.kills === before && performance.now() < until) await delay(20);
      const struck = appliance.kills > before;
      report.planned.push({ at: `${plan.point}#${plan.nth}`, struck });
      options.say?.(`${plan.point}#${plan.nth} ${struck ? "struck" : "did not come up"}`);
    }
    await appliance.arm({});
    for (let i = 0; i < options.randomKills; i++) {
      const killing = delay(random() * usualMs).then(() => appliance.kill());
      await Promise.all([job(), killing]);
      await appliance.up();
      report.randomKills++;
      options.say?.(`random kill ${i + 1}`);
    }
    await quiet(folder, config, log);
    for (const id of report.envelopes) {
      const trail = await client.json(AuditTrail, `/v1/envelopes/${id}/events`);
      report.problems.push(...examineTrail(trail, id), ...examineEvents(trail, id, receiver.received));
      report.problems.push(...examineStream(trail, id, (await followed.get(id)) ?? []));
    }
  } finally {
    await appliance.stop();
    await receiver.stop();
  }
  report.problems.push(...appliance.crashes);
  report.problems.push(...(await examineFolder(config, log, report.envelopes.length)));
  await rm(folder, { recursive: true, force: true });
  return report;
}

type Config = ReturnType<typeof loadConfig>;
type Log = ReturnType<typeof createLog>;

export async function prepare(config: Config, log: Log): Promise<string> {
  const { deps, close } = await openDeps({ config, log, createKey: true });
  // The server would make them in the background, and it depends on its speed whether the first envelope sees that job.
  await ensureKeys(deps);
  const owner = { email: "owner@example.com", name: "Olive Owner", password: null };
  const made = await createOrganization(deps, { name: "Example Ltd", owner });
  const actor = { type: "user" as const, id: made.user, name: owner.name, email: owner.email };
  const { key } = await createApiKey(deps, made.organization, actor, new Set(permissions), {
    name: "crash",
    mode: "live",
    scopes: [...permissions],
  });
  await close();
  return key;
}

/** Each distinct job boundary at its first coming; each transaction of the main job before and after its commit. */
function killPlans(points: readonly string[], everyNth: number): { point: string; nth: number }[] {
  const count = new Map<string, number>();
  for (const point of points) count.set(point, (count.get(point) ?? 0) + 1);
  return [...count].flatMap(([point, times]) =>
    point.startsWith("tx:")
      ? Array.from({ length: times }, (_, index) => ({ point, nth: index + 1 })).filter(
          ({ nth }) => nth % everyNth === 0,
        )
      : [{ point, nth: 1 }],
  );
}

/** How long after the seal a job's boundary may still come up, in milliseconds. */
const boundaryWithinMs = 15_000;

/** Work that was never tried and has longer to wait, in milliseconds, comes at its own time: deadlines, renewals, sweeps. */
const laterMs = 60_000;

/** Waits until no job is due or running and every leaf is anchored, seen from outside the process. */
async function quiet(_folder: string, config: Config, log: Log): Promise<void> {
  const { deps, close } = await openDeps({ config, log });
  try {
    for (let i = 0; i < 1200; i++) {
      const left = await deps.db.read
        .selectFrom("jobs")
        .select("name")
        .where("status", "!=", "dead")
        .where((is) => is.or([is("run_at", "<", Date.now() + laterMs), is("attempts", ">", 0)]))
        .execute();
      if (left.length === 0) return;
      await delay(100);
    }
    throw new Error("jobs were left over");
  } finally {
    await close();
  }
}

const once = ["envelope.created", "envelope.ready", "envelope.completed", "envelope.sealed"];

type Trail = z.infer<typeof AuditTrail>;

/** Reads the stream of an envelope to its end, again and again from where it broke off. */
async function followStream(appliance: CrashingAppliance, url: string, key: string): Promise<Trail["data"]> {
  const entries: Trail["data"] = [];
  for (;;) {
    await appliance.up();
    try {
      const headers = { authorization: `Bearer ${key}`, "last-event-id": String(entries.at(-1)?.seq ?? 0) };
      const response = await fetch(`${url}/events/stream`, { headers });
      if (response.status === 204) return entries;
      if (response.status !== 200) throw new Error(`the stream answered ${response.status}`);
      for await (const { event, data } of streamed(response)) {
        if (event === "end") return entries;
        if (data !== undefined) entries.push(AuditEntry.parse(JSON.parse(data)));
      }
    } catch {
      await delay(20);
    }
  }
}

function examineStream({ data }: Trail, id: string, streamed: Trail["data"]): string[] {
  if (!streamed.some(({ type }) => type === "envelope.sealed")) return [`${id}: the stream ended before the seal`];
  const [wanted, got] = [data.slice(0, streamed.length), streamed].map((entries) => entries.map((entry) => entry.id));
  return JSON.stringify(wanted) === JSON.stringify(got) ? [] : [`${id}: the stream gave ${got}, the trail ${wanted}`];
}

/** Every event came at least once, each time with the same bytes. */
function examineEvents({ data }: Trail, id: string, received: readonly Received[]): string[] {
  return data
    .filter(({ type }) => Object.hasOwn(eventSchemas, type))
    .flatMap((entry) => {
      const bodies = new Set(
        received.flatMap(({ headers, body }) => (headers["webhook-id"] === entry.id ? [body] : [])),
      );
      return bodies.size === 1 ? [] : [`${id}: ${entry.type} came as ${bodies.size} different bodies`];
    });
}

function examineTrail(trail: Trail, id: string): string[] {
  const problems: string[] = [];
  if (!trail.verification.valid) problems.push(`${id}: the chain breaks at ${trail.verification.brokenAtSeq}`);
  const types = trail.data.map(({ type }) => type);
  for (const type of once) {
    const times = types.filter((other) => other === type).length;
    if (times !== 1) problems.push(`${id}: ${type} stands ${times} times`);
  }
  for (const type of ["recipient.sent", "recipient.signed"] as const) {
    const times = types.filter((other) => other === type).length;
    if (times !== 2) problems.push(`${id}: ${type} stands ${times} times instead of twice`);
  }
  return problems;
}

async function examineFolder(config: Config, log: Log, envelopes: number): Promise<string[]> {
  const { deps, close } = await openDeps({ config, log });
  try {
    const problems = (await fsck(deps)).problems.map(({ kind, where, message }) => `fsck ${kind} ${where}: ${message}`);
    const leaves = await deps.db.read.selectFrom("leaves").select("envelope").execute();
    const distinct = new Set(leaves.map(({ envelope }) => envelope)).size;
    if (leaves.length !== envelopes || distinct !== envelopes)
      problems.push(`${leaves.length} leaves of ${distinct} envelopes for ${envelopes} sealed`);
    const mails = await listMail(deps.db.read, deps, { limit: envelopes * 10 });
    const written = new Set((await readOutbox(config.dataDir)).map(({ messageId }) => messageId));
    for (const mail of mails)
      if (!written.has(mail.messageId)) problems.push(`${mail.kind} mail ${mail.messageId} was never written`);
    if (new Set(mails.map(({ messageId }) => messageId)).size !== mails.length)
      problems.push("two mails share a Message-ID");
    // Two requests, and the completion mail to both signers and the sender.
    if (mails.length !== envelopes * 5) problems.push(`${mails.length} mails instead of ${envelopes * 5}`);
    const dead = await deps.db.read
      .selectFrom("jobs")
      .select(["name", "last_error"])
      .where("status", "=", "dead")
      .execute();
    problems.push(...dead.map(({ name, last_error: cause }) => `dead job ${name}: ${cause}`));
    return problems;
  } finally {
    await close();
  }
}
