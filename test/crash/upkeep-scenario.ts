import { existsSync, readFileSync } from "node:fs";
import { cp, lstat, mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { loadConfig } from "../../server/config.ts";
import { fsck } from "../../server/features/evidence/fsck/fsck.ts";
import { createLog } from "../../server/kernel/log.ts";
import { openDeps } from "../../server/open-deps.ts";
import { startAppliance } from "../harness/appliance.ts";
import { makeAuthority, opensslTimestamp } from "../harness/authority.ts";
import { sealedEnvelope } from "../harness/bundles.ts";
import { movableClock } from "../harness/clock.ts";
import { CrashingAppliance, type KillPlan } from "../harness/crashing-appliance.ts";
import { browser } from "../harness/people.ts";
import { ok, publishTemplate } from "../harness/scenario.ts";
import { type Image, Images } from "./images.ts";
import { freePort } from "./scenario.ts";

/**
 * An appliance that finds everything at once that is done for documents after their seal: one to be raised to a higher
 * level, one whose time stamp is to be renewed, one whose documents are to be deleted, anchors that want a time stamp.
 */

const upkeepJobs = [
  "evidence.raise",
  "evidence.renew",
  "evidence.extend",
  "evidence.anchor",
  "evidence.stamp-anchor",
  "retention.run",
];

const dayMs = 86_400_000;
/** How long nobody looked after it. */
const awayMs = 300 * dayMs;

type Envelopes = { raised: string; renewed: string; deleted: string };
type Upkeep = {
  /** Runs it in a copy of its own, killed once at each of these and started again until everything is done. */
  run(points: readonly string[]): Promise<{ struck: string[]; problems: string[] }>;
  /** Runs it undisturbed and keeps the folder as a kill at each transaction's boundary would leave it. */
  record(): Promise<{ images: Image[]; points: number; problems: string[] }>;
  /** Starts on what a kill has left, which is gone afterwards. @returns what is wrong when everything is done */
  goOn(image: Image): Promise<string[]>;
  close(): Promise<void>;
};

export async function prepareUpkeep(): Promise<Upkeep> {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-upkeep-"));
  const data = path.join(folder, "data");
  const envelopes = await seal(data);
  const authority = await startAuthority();
  let copies = 0;

  async function copied(): Promise<string> {
    copies += 1;
    const copy = path.join(folder, `copy-${copies}`);
    await cp(data, copy, { recursive: true, preserveTimestamps: true });
    return copy;
  }

  /** @param copy is gone afterwards */
  async function complete(
    copy: string,
    plan: KillPlan,
    follow?: (appliance: CrashingAppliance) => () => Promise<void>,
  ) {
    const appliance = new CrashingAppliance(copy, await freePort(), authority.env);
    const { struckFile } = plan;
    const successors = (plan.points?.length ?? 0) - 1;
    appliance.successors.push(...Array.from({ length: Math.max(0, successors) }, () => plan));
    try {
      // One that dies before it is ready is followed by the next all the same.
      const starting = appliance.start(plan).catch(() => undefined);
      const unfollow = follow?.(appliance);
      await starting;
      const unfinished = await finished(appliance, copy, envelopes);
      await unfollow?.();
      await appliance.stop();
      const struck = struckFile && existsSync(struckFile) ? readFileSync(struckFile, "utf8").trimEnd().split("\n") : [];
      return { struck, problems: [...unfinished, ...appliance.crashes, ...(await examine(copy, data, envelopes))] };
    } finally {
      await appliance.stop();
      await rm(copy, { recursive: true, force: true });
    }
  }

  return {
    async run(points) {
      const copy = await copied();
      return await complete(copy, { points: [...points], struckFile: `${copy}-struck`, armed: true });
    },
    async record() {
      const copy = await copied();
      const pauseFile = `${copy}-paused`;
      const images = new Images(copy, pauseFile);
      const { problems } = await complete(copy, { pauseFile, armed: true }, (appliance) => images.follow(appliance));
      return { images: images.distinct, points: images.points, problems };
    },
    async goOn({ folder: image, points }) {
      const { problems } = await complete(image, {});
      return problems.map((problem) => `${points.join(" = ")}: ${problem}`);
    },
    async close() {
      authority.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Dies once at each boundary of each job, in one folder. Then goes on from what a kill before and after each commit leaves:
 * such folders are kept from one run, which saves the way up to each; equal ones, as after a commit and before the next, are
 * gone on from once.
 */
export async function upkeepScenario(say: (line: string) => void): Promise<{
  jobs: { planned: number; struck: number };
  /** Boundaries of transactions in the recorded run, those whose folder was gone on from, and how many folders differ. */
  transactions: { boundaries: number; examined: number; folders: number };
  problems: string[];
}> {
  const upkeep = await prepareUpkeep();
  try {
    const jobs = upkeepJobs.flatMap((job) => ["claimed", "effect-done", "committed"].map((at) => `job:${job}:${at}`));
    const { struck, problems } = await upkeep.run(jobs);
    say(`upkeep: ${struck.join(", ")}${problems.length > 0 ? ", wrong" : ""}`);
    const { images, points, problems: recorded } = await upkeep.record();
    problems.push(...recorded);
    say(`upkeep: ${points} boundaries of transactions left ${images.length} different folders`);
    for (const [index, image] of images.entries()) {
      const wrong = await upkeep.goOn(image);
      problems.push(...wrong);
      say(`upkeep: ${index + 1} of ${images.length}, ${image.points.join(" = ")}${wrong.length > 0 ? ", wrong" : ""}`);
    }
    return {
      jobs: { planned: jobs.length, struck: struck.length },
      transactions: {
        boundaries: points,
        examined: images.reduce((sum, image) => sum + image.points.length, 0),
        folders: images.length,
      },
      problems,
    };
  } finally {
    await upkeep.close();
  }
}

/** A year ago: three documents were sealed, two of them held, the first sealed only at B-T. */
async function seal(data: string): Promise<Envelopes> {
  const clock = movableClock(new Date(Date.now() - awayMs).toISOString());
  const app = await startAppliance({ clock });
  const template = await publishTemplate(app);
  const owner = browser(app, await app.signIn());
  const hold = (id: string) => owner("PUT", `/auth/envelopes/${id}/hold`, { reason: "Court" });
  await owner("PATCH", "/auth/organization/retention", { keepDays: 30 });
  const deleted = await sealedEnvelope(app, clock, template);
  const renewed = await sealedEnvelope(app, clock, template);
  await hold(renewed);
  Object.assign(app.config, { sealLevel: "B-T" });
  await app.restart();
  const raised = await sealedEnvelope(app, clock, template);
  await hold(raised);
  clock.advance(2000);
  await app.jobs.idle();
  // As if the certificate behind its time stamp were about to end.
  const renew_at = clock.ts();
  await app.deps.db.tx((tx) =>
    tx.updateTable("seal_terms").set({ renew_at }).where("envelope", "=", renewed).execute(),
  );
  await ok(app, 200, "/v1/public/anchors/latest", { key: null });
  await app.deps.db.close();
  await cp(app.folder, data, { recursive: true, filter: async (name) => !(await lstat(name)).isSocket() });
  await app.stop().catch(() => undefined);
  await rm(app.folder, { recursive: true, force: true });
  for (const file of await readdir(path.join(data, "blobs"), { recursive: true }))
    await utimes(path.join(data, "blobs", file), new Date(clock.now()), new Date(clock.now()));
  return { raised, renewed, deleted };
}

/** An outside time-stamping authority with its revocation list, over HTTP. */
async function startAuthority() {
  const requests = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (request.url === "/ca.crl") response.end(outside.revocationList());
      else response.end(opensslTimestamp(Buffer.concat(chunks), outside));
    });
  });
  await new Promise<void>((resolve) => requests.listen(0, "127.0.0.1", resolve));
  const { port } = requests.address() as AddressInfo;
  const base = `http://127.0.0.1:${port}`;
  const outside = makeAuthority({ name: "Outside", seal: "ec-p256", listUrl: `${base}/ca.crl` });
  return {
    env: {
      SIGNET_TSA_URLS: `${base}/tsa`,
      SIGNET_OUTBOUND_ALLOW: `tsa=127.0.0.1:${port},crl=127.0.0.1:${port}`,
      SIGNET_CA_FILE: outside.caPem,
      SIGNET_ANCHOR_TIMESTAMP: "true",
    },
    close() {
      requests.closeAllConnections();
      requests.close();
      outside.close();
    },
  };
}

/** Work that was never tried and has longer to wait, in milliseconds, comes at its own time. */
const laterMs = 5_000;

/** @returns what is still to be done after a long wait */
async function finished(appliance: CrashingAppliance, folder: string, envelopes: Envelopes): Promise<string[]> {
  let waiting: string[] = [];
  for (let look = 0; look < 1200; look++) {
    await appliance.up().catch(() => undefined);
    waiting = asked(folder, (db) => outstanding(db, envelopes));
    if (waiting.length === 0) return [];
    await delay(100);
  }
  return waiting;
}

function asked<T>(folder: string, question: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(path.join(folder, "signet.db"), { readOnly: true });
  try {
    return question(db);
  } finally {
    db.close();
  }
}

function outstanding(db: DatabaseSync, { raised, renewed, deleted }: Envelopes): string[] {
  const count = (sql: string, ...values: string[]) => Number(Object.values(db.prepare(sql).get(...values) ?? {})[0]);
  const missing = {
    "the one at B-T is raised": count("select count(*) from envelopes where id = ? and seal_level = 'B-LTA'", raised),
    "the old time stamp is renewed": count(
      "select count(*) from leaves where envelope = ? having count(*) > 1",
      renewed,
    ),
    "documents are deleted": count(
      "select count(*) from envelopes where id = ? and documents_deleted_at > ''",
      deleted,
    ),
    "a run of the retention is noted": count("select count(*) from retention_runs"),
    "every leaf is anchored": count(
      "select count(*) from anchors where tree_size = (select count(*) from leaves) having count(*) = 1",
    ),
    "the last anchor has its token": count(
      "select count(*) from anchor_tokens where sequence = (select max(sequence) from anchors)",
    ),
  };
  const left = db
    .prepare("select name, last_error from jobs where status <> 'dead' and (run_at < ? or attempts > 0)")
    .all(Date.now() + laterMs);
  return [
    ...Object.entries(missing).flatMap(([what, there]) => (there ? [] : [`not done: ${what}`])),
    ...left.map(({ name, last_error: cause }) => `still to do: ${name} ${cause ?? ""}`),
  ];
}

/** What is there twice, or not at all, behind everything that was done. */
async function examine(copy: string, before: string, { raised, renewed, deleted }: Envelopes): Promise<string[]> {
  const problems: string[] = [];
  const expectAll = (what: string, found: unknown, wanted: unknown) => {
    const [is, should] = [JSON.stringify(found), JSON.stringify(wanted)];
    if (is !== should) problems.push(`${what}: ${is} instead of ${should}`);
  };
  const rows = (folder: string, sql: string, ...values: string[]) =>
    asked(folder, (db) =>
      db
        .prepare(sql)
        .all(...values)
        .map((row) => Object.values(row).join(" ")),
    );
  const told = (type: string) =>
    rows(copy, "select envelope from audit_entries where type = ? order by envelope", type);
  expectAll("extensions", told("envelope.seal_extended"), [raised, renewed].sort());
  expectAll("deletions", told("envelope.documents_deleted"), [deleted]);
  expectAll(
    "acts of deletion",
    rows(copy, "select target from admin_audit where action = 'envelope.documents_deleted'"),
    [deleted],
  );
  expectAll(
    "leaves",
    rows(copy, "select envelope from leaves order by envelope"),
    [raised, raised, renewed, renewed, deleted].sort(),
  );
  expectAll("terms", rows(copy, "select envelope from seal_terms order by envelope"), [raised, renewed].sort());
  const anchors = "select sequence, tree_size, root_hash, anchor_hash from anchors order by sequence";
  const earlier = rows(before, anchors);
  expectAll("earlier anchors", rows(copy, anchors).slice(0, earlier.length), earlier);
  const sequences = rows(copy, "select sequence from anchors order by sequence");
  expectAll("time stamps of the later anchors", rows(copy, "select sequence from anchor_tokens order by sequence"), [
    ...sequences.slice(earlier.length),
  ]);
  const mails = "select id from mails order by id";
  expectAll("mails", rows(copy, mails), rows(before, mails));
  expectAll("dead jobs", rows(copy, "select name, last_error from jobs where status = 'dead'"), []);
  const files =
    "select sha256 from revisions where envelope = ? union select sealed_sha256 from envelopes where id = ?";
  const gone = rows(before, files, deleted, deleted);
  const kept = rows(before, files, renewed, renewed);
  const there = (names: string[]) =>
    names.filter((name) => existsSync(path.join(copy, "blobs", name.slice(0, 2), name.slice(2, 4), name)));
  expectAll("files that were to go", there(gone), []);
  expectAll("files that were to stay", there(kept), kept);
  const { deps, close } = await openDeps({
    config: loadConfig({ SIGNET_DATA_DIR: copy, SIGNET_LOG_LEVEL: "silent" }),
    log: createLog("silent"),
  });
  try {
    const report = await fsck(deps);
    problems.push(...report.problems.map(({ kind, where, message }) => `fsck ${kind} ${where}: ${message}`));
  } finally {
    await close();
  }
  return problems;
}
