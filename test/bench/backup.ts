/**
 * A backup and a restore of 10 000 sealed envelopes against `cp` and a flush of the same folder onto the same disk, and what
 * people who use the API meanwhile notice.
 */

import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { sql } from "kysely";
import { machineOf, openAsAppliance } from "../../server/features/backup/opened.ts";
import { makeRecipient } from "../../server/features/backup/recipient.ts";
import { restoreBackup } from "../../server/features/backup/restore.ts";
import { newBackupId, openTarget } from "../../server/features/backup/target.ts";
import { type Work, writeBackup } from "../../server/features/backup/write.ts";
import { openBlobs } from "../../server/kernel/blobs.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { sealedEnvelope } from "../harness/bundles.ts";
import { ok, publishTemplate } from "../harness/scenario.ts";
import { median } from "./median.ts";
import type { BenchResult } from "./seal.ts";

const run = promisify(execFile);
const envelopes = Number(process.env.SIGNET_BENCH_ENVELOPES ?? 10_000);
const rounds = Number(process.env.SIGNET_BENCH_ROUNDS ?? 5);
const atOnce = 64;
/** Envelopes whose files are prepared at a time: they lie in memory for a moment. */
const batch = 500;
/** Calls of each kind that are measured without a backup; beside one, as many as there is time for. */
const quietCalls = 300;
/** The same priority as the threads of a backup have, so that whatever else the machine does slows both. */
const nice = ["-n", "10"];

type Bench = { app: TestAppliance; home: string; recipient: string; template: string; id: string };
type Times = { plain: number; backup: number; restore: number };

export async function benchBackup(): Promise<BenchResult[]> {
  const home = await mkdtemp(path.join(tmpdir(), "signet-bench-backup-"));
  const { recipient } = makeRecipient();
  const app = await startAppliance();
  try {
    const template = await publishTemplate(app);
    const begun = performance.now();
    const { id, files } = await fill(app, template);
    const bytes = await sizeOf(app.folder);
    const prepared = `${envelopes} envelopes, ${files} files, ${Math.round(bytes / 1e6)} MB`;
    say(`${prepared}: prepared in ${seconds(performance.now() - begun)}.`);
    say(
      `Real in it: two envelopes, signed, sealed and anchored by the product. Of the second one the rows were repeated ${envelopes} times by SQL under new ids; ${files} files of its sizes, of random content, were encrypted and named by the product's store in memory and copied to the disk.`,
    );
    const bench: Bench = { app, home, recipient, template, id };
    const times: Times[] = [];
    for (let round = 0; round < rounds; round += 1) times.push(await measureSpeed(bench, round % 2 === 1));
    const [reads, writes]: [Pace[], Pace[]] = [[], []];
    const bySteps: Called[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const { quiet, beside } = await measurePace(bench, round % 2 === 1);
      reads.push({ quiet: p95(quiet, "read"), beside: p95(beside, "read") });
      writes.push({ quiet: p95(quiet, "write"), beside: p95(beside, "write") });
      bySteps.push(...beside);
    }
    const cold = (await forgetPages()) ? "cold" : "warm, for this machine does not let its page cache be dropped";
    const speed = (name: string, kind: "backup" | "restore"): BenchResult => ({
      name: `${name} of ${envelopes} envelopes ÷ cp and flush of the same folder, MB a second`,
      ratio: median(times.map((time) => time.plain / time[kind])),
      target: "≥ 0.5",
      detail: `${rate(bytes, times, kind)} against ${rate(bytes, times, "plain")}, ${prepared}, ${rounds} rounds in turns, ${cold}`,
    });
    const pace = (name: string, kind: Called["kind"], paces: readonly Pace[]): BenchResult => ({
      name: `${name} beside a backup ÷ without one, p95`,
      ratio: median(paces.map(({ quiet, beside }) => beside / quiet)),
      target: "≤ 1.5",
      detail: `${ms(median(paces.map(({ beside }) => beside)))} against ${ms(median(paces.map(({ quiet }) => quiet)))}; by step: ${stepsOf(bySteps, kind)}`,
    });
    return [
      speed("backup, read again,", "backup"),
      speed("restore", "restore"),
      pace("GET /v1/envelopes/{id}", "read", reads),
      pace("POST /v1/envelopes", "write", writes),
    ];
  } finally {
    await app.stop();
    await rm(home, { recursive: true, force: true });
  }
}

const say = (text: string) => console.error(text);

/** Seconds of a plain copy, of a backup and of its restore: each begins with nothing in the page cache and nothing to be flushed. */
async function measureSpeed({ app, home, recipient }: Bench, backupFirst: boolean): Promise<Times> {
  const [plain, share, to] = ["plain", "share", "restored"].map((name) => path.join(home, name));
  if (!plain || !share || !to) throw new Error("unreachable");
  const time = async (act: () => Promise<unknown>) => {
    await run("sync", ["-f", home]);
    await forgetPages();
    return await secondsOf(act);
  };
  const copyPlainly = () =>
    time(async () => {
      await run("nice", [...nice, "cp", "-r", app.folder, plain]);
      await run("nice", [...nice, "sync", "-f", plain]);
    });
  const earlier = backupFirst ? null : await copyPlainly();
  await rm(plain, { recursive: true, force: true });
  const backup = await time(() => backUp(app, share, recipient));
  const target = openTarget(share);
  const manifest = await target.read();
  const opened = openAsAppliance(manifest, app.deps.secrets);
  const about = { to, masterKeyFile: path.join(to, "master.key"), clock: app.deps.clock, actor: null };
  const machine = await machineOf(target, manifest, opened.backupKey);
  const restore = await time(() =>
    restoreBackup({ target, manifest, opened: { ...opened, machine }, ...about, told: () => undefined }),
  );
  await Promise.all([rm(share, { recursive: true }), rm(to, { recursive: true })]);
  const times = { plain: earlier ?? (await copyPlainly()), backup, restore };
  await rm(plain, { recursive: true, force: true });
  return times;
}

/** What callers notice without a backup and beside one. */
async function measurePace(
  { app, home, recipient, template, id }: Bench,
  backupFirst: boolean,
): Promise<{ quiet: Called[]; beside: Called[] }> {
  const share = path.join(home, "beside");
  const quietly = async () => {
    await run("sync", ["-f", home]);
    let left = quietCalls;
    return await callWhile(app, { id, template, step: () => "none" }, () => left-- > 0);
  };
  const earlier = backupFirst ? null : await quietly();
  await run("sync", ["-f", home]);
  let [over, step] = [false, "begin"];
  const calling = callWhile(app, { id, template, step: () => step }, () => !over);
  await backUp(app, share, recipient, (next, progress) => {
    const isCopied = next === "blobs" && progress !== null && progress.files === progress.allFiles;
    step = isCopied ? "flush" : next;
  });
  over = true;
  const beside = await calling;
  await rm(share, { recursive: true });
  return { quiet: earlier ?? (await quietly()), beside };
}

/** @param told which step it is at */
async function backUp(
  app: TestAppliance,
  folder: string,
  recipient: string,
  told: Work["told"] = () => undefined,
): Promise<void> {
  await mkdir(folder);
  const keep = { last: 1, daily: 0, weekly: 0, monthly: 0 };
  const settings = { folder, keep, recipient: { kind: "x25519" as const, text: recipient } };
  const about = { id: newBackupId(app.deps.clock.ts()), usedBefore: false, noted: new Map(), told };
  const { problems } = await writeBackup(app.deps, settings, about);
  if (problems.length > 0) throw new Error(`the backup is not whole: ${problems[0]?.problem}`);
}

/** Empties the page cache of this machine. @returns whether it may */
async function forgetPages(): Promise<boolean> {
  return await writeFile("/proc/sys/vm/drop_caches", "3").then(
    () => true,
    () => false,
  );
}

/**
 * A few envelopes are signed, sealed and anchored for real. Of the last one all rows are repeated under new ids by SQL, and files of
 * the sizes of its own go through the store under random content: what a backup copies is as much, in as many pieces.
 * @returns the id of the last real one, and how many files were made
 */
async function fill(app: TestAppliance, template: string): Promise<{ id: string; files: number }> {
  const clock = { advance: () => undefined };
  await sealedEnvelope(app, clock, template);
  const before = new Set(await blobsOf(app));
  const id = await sealedEnvelope(app, clock, template);
  await app.jobs.idle();
  const sizes: number[] = [];
  for (const sha256 of await blobsOf(app)) if (!before.has(sha256)) sizes.push(await app.deps.blobs.size(sha256));
  await repeatRows(app, id);
  for (let left = envelopes; left > 0; left -= batch)
    await bringFiles(app, Array.from({ length: Math.min(left, batch) }, () => sizes).flat());
  return { id, files: sizes.length * envelopes };
}

async function repeatRows(app: TestAppliance, id: string): Promise<void> {
  await app.deps.db.tx(async (tx) => {
    const tables = await sql<{
      name: string;
    }>`select distinct m.name from sqlite_master m, pragma_table_info(m.name) c where m.type = 'table' and (c.name = 'envelope' or m.name = 'envelopes') order by m.name = 'envelopes' desc, m.name in ('recipients', 'signing_sessions') desc, m.name = 'recipients' desc`.execute(
      tx,
    );
    for (const { name } of tables.rows) {
      const columns = await sql<{ name: string; own: number }>`
        select name, pk > 0 and type = 'TEXT' as own from pragma_table_info(${name})`.execute(tx);
      const values = columns.rows.map(({ name: column, own }) =>
        own === 1 || renamed.has(column)
          ? sql`${sql.ref(`t.${column}`)} || '-' || n`
          : column === "leaf_index"
            ? sql`t.leaf_index + n`
            : sql.ref(`t.${column}`),
      );
      const of = sql.ref(name === "envelopes" ? "t.id" : "t.envelope");
      await sql`insert into ${sql.table(name)} (${sql.join(columns.rows.map((column) => sql.ref(column.name)))})
        with recursive count(n) as (select 1 union all select n + 1 from count where n < ${envelopes})
        select ${sql.join(values)} from ${sql.table(name)} t, count where ${of} = ${id}`.execute(tx);
    }
  });
}

/**
 * The store flushes every file, which for tens of thousands of them takes longer than all that is measured. So it writes them in
 * memory, where a flush costs nothing, and they are copied to the disk.
 */
async function bringFiles({ deps, folder }: TestAppliance, sizes: readonly number[]): Promise<void> {
  const memory = await stat("/dev/shm").then(
    () => "/dev/shm",
    () => tmpdir(),
  );
  const scratch = await mkdtemp(path.join(memory, "signet-bench-"));
  try {
    const from = path.join(scratch, "blobs");
    const store = await openBlobs({ folder: from, secrets: deps.secrets });
    const rest = sizes[Symbol.iterator]();
    const write = async () => {
      for (const size of rest) await store.put(randomBytes(size));
    };
    await Promise.all(Array.from({ length: atOnce }, write));
    await store.close();
    await run("cp", ["-r", `${from}/.`, path.join(folder, "blobs")]);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** What is unique in its table, and what names it. */
const renamed = new Set(
  "id envelope recipient session access_sha256 cause message_id dedupe_key bearer_session".split(" "),
);

async function blobsOf({ deps }: TestAppliance): Promise<string[]> {
  const all: string[] = [];
  for await (const sha256 of deps.blobs.list()) all.push(sha256);
  return all;
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  let bytes = 0;
  for (const entry of entries) if (entry.isFile()) bytes += (await stat(path.join(entry.parentPath, entry.name))).size;
  return bytes;
}

async function secondsOf(act: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await act();
  return (performance.now() - begun) / 1000;
}

type Called = { kind: "read" | "write"; step: string; ms: number };
type Pace = { quiet: number; beside: number };

/** One client that reads an envelope and makes one, in turns. @param step what the backup is at, noted with each call */
async function callWhile(
  app: TestAppliance,
  { id, template, step }: { id: string; template: string; step: () => string },
  goesOn: () => boolean,
): Promise<Called[]> {
  const called: Called[] = [];
  const recipients = [
    { role: "Tenant", name: "Ada", email: "ada@example.com" },
    { role: "Landlord", name: "Ben", email: "ben@example.com" },
  ];
  const time = async (kind: Called["kind"], act: () => Promise<unknown>) => {
    const at = step();
    called.push({ kind, step: at, ms: 1000 * (await secondsOf(act)) });
  };
  while (goesOn()) {
    await time("read", () => ok(app, 200, `/v1/envelopes/${id}`));
    await time("write", () => ok(app, 201, "/v1/envelopes", { json: { template, recipients } }));
  }
  return called;
}

function p95(called: readonly Called[], kind: Called["kind"]): number {
  const sorted = called
    .filter((one) => one.kind === kind)
    .map((one) => one.ms)
    .sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? Number.NaN;
}

/** Where the time goes: the p95 and the number of calls within each step of the backups. */
function stepsOf(called: readonly Called[], kind: Called["kind"]): string {
  const steps = [...new Set(called.map(({ step }) => step))];
  return steps
    .map((step) => {
      const own = called.filter((one) => one.step === step);
      return `${step} ${ms(p95(own, kind))} (${own.filter((one) => one.kind === kind).length})`;
    })
    .join(", ");
}

const ms = (value: number) => `${value.toFixed(1)} ms`;
const seconds = (value: number) => `${Math.round(value / 1000)} s`;
const rate = (bytes: number, times: readonly Times[], kind: keyof Times) =>
  `${Math.round(bytes / 1e6 / median(times.map((time) => time[kind])))} MB/s`;
