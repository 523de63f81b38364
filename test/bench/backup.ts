/**
 * A backup and a restore of 10 000 sealed envelopes against `cp` and a flush of the same folder onto the same disk, and what
 * people who use the API meanwhile notice.
 */

import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { sql } from "kysely";
import { machineOf, openAsAppliance } from "../../server/features/backup/opened.ts";
import { makeRecipient } from "../../server/features/backup/recipient.ts";
import { restoreBackup } from "../../server/features/backup/restore.ts";
import { newBackupId, openTarget } from "../../server/features/backup/target.ts";
import { writeBackup } from "../../server/features/backup/write.ts";
import { sealedEnvelope } from "../features/evidence/bundle-support.ts";
import { ok, publishTemplate } from "../features/signing/flow.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { median } from "./median.ts";
import type { BenchResult } from "./seal.ts";

const run = promisify(execFile);
const envelopes = Number(process.env.SIGNET_BENCH_ENVELOPES ?? 10_000);
const rounds = 3;
const atOnce = 64;
/** Calls of each kind that are measured without a backup; beside one, as many as there is time for. */
const quietCalls = 300;

export async function benchBackup(): Promise<BenchResult[]> {
  const home = await mkdtemp(path.join(tmpdir(), "signet-bench-backup-"));
  const { recipient } = makeRecipient();
  const app = await startAppliance();
  try {
    const template = await publishTemplate(app);
    const id = await fill(app, template);
    const bytes = await sizeOf(app.folder);
    const keep = { last: 1, daily: 0, weekly: 0, monthly: 0 };
    const backUp = async (folder: string) => {
      await mkdir(folder);
      const settings = { folder, keep, recipient: { kind: "x25519" as const, text: recipient } };
      const about = {
        id: newBackupId(app.deps.clock.ts()),
        usedBefore: false,
        noted: new Map(),
        told: () => undefined,
      };
      const { problems } = await writeBackup(app.deps, settings, about);
      if (problems.length > 0) throw new Error(`the backup is not whole: ${problems[0]?.problem}`);
    };
    const [plains, backups, restores]: number[][] = [[], [], []];
    const reads: { quiet: number[]; beside: number[] } = { quiet: [], beside: [] };
    const writes: typeof reads = { quiet: [], beside: [] };
    for (let round = 0; round < rounds; round += 1) {
      const [plain, share, second, to] = ["plain", "share", "second", "restored"].map((name) => path.join(home, name));
      if (!plain || !share || !second || !to) throw new Error("unreachable");
      await run("sync", ["-f", home]);
      plains?.push(
        await secondsOf(async () => {
          // At the priority that the threads of a backup have, so that whatever else the machine does slows both.
          await run("nice", ["-n", "5", "cp", "-r", app.folder, plain]);
          await run("nice", ["-n", "5", "sync", "-f", plain]);
        }),
      );
      await rm(plain, { recursive: true });
      await run("sync", ["-f", home]);
      backups?.push(await secondsOf(() => backUp(share)));
      const target = openTarget(share);
      const manifest = await target.read();
      const opened = openAsAppliance(manifest, app.deps.secrets);
      const about = { to, masterKeyFile: path.join(to, "master.key"), clock: app.deps.clock, actor: null };
      const machine = machineOf(target, manifest, opened.backupKey);
      await run("sync", ["-f", home]);
      restores?.push(
        await secondsOf(() =>
          restoreBackup({ target, manifest, opened: { ...opened, machine }, ...about, told: () => undefined }),
        ),
      );
      await Promise.all([rm(share, { recursive: true }), rm(to, { recursive: true })]);
      await run("sync", ["-f", home]);

      let left = quietCalls;
      const quiet = await callWhile(app, { id, template }, () => left-- > 0);
      let over = false;
      const calling = callWhile(app, { id, template }, () => !over);
      await backUp(second);
      over = true;
      const beside = await calling;
      reads.quiet.push(p95(quiet.reads));
      reads.beside.push(p95(beside.reads));
      writes.quiet.push(p95(quiet.writes));
      writes.beside.push(p95(beside.writes));
      await rm(second, { recursive: true });
    }
    const speed = (name: string, own: readonly number[] = [], against: readonly number[] = []): BenchResult => ({
      name: `${name} of ${envelopes} envelopes ÷ cp and flush of the same folder, MB a second`,
      ratio: median(own.map((seconds, round) => (against[round] ?? Number.NaN) / seconds)),
      target: "≥ 0.5",
      detail: `${rate(bytes, own)} against ${rate(bytes, against)}, ${Math.round(bytes / 1e6)} MB`,
    });
    const pace = (name: string, { quiet, beside }: typeof reads): BenchResult => ({
      name: `${name} beside a backup ÷ without one, p95`,
      ratio: median(beside.map((ms, round) => ms / (quiet[round] ?? Number.NaN))),
      target: "≤ 1.5",
      detail: `${median(beside).toFixed(1)} ms against ${median(quiet).toFixed(1)} ms`,
    });
    return [
      speed("backup, read again,", backups, plains),
      speed("restore", restores, plains),
      pace("GET /v1/envelopes/{id}", reads),
      pace("POST /v1/envelopes", writes),
    ];
  } finally {
    await app.stop();
    await rm(home, { recursive: true, force: true });
  }
}

/**
 * A few envelopes are signed, sealed and anchored for real. Of the last one all rows are repeated under new ids by SQL, and files of
 * the sizes of its own go through the store under random content: what a backup copies is as much, in as many pieces.
 * @returns the id of the last real one
 */
async function fill(app: TestAppliance, template: string): Promise<string> {
  const clock = { advance: () => undefined };
  await sealedEnvelope(app, clock, template);
  const before = new Set(await blobsOf(app));
  const id = await sealedEnvelope(app, clock, template);
  await app.jobs.idle();
  const sizes: number[] = [];
  for (const sha256 of await blobsOf(app)) if (!before.has(sha256)) sizes.push(await app.deps.blobs.size(sha256));
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
  const wanted = Array.from({ length: envelopes }, () => sizes).flat();
  const rest = wanted[Symbol.iterator]();
  const write = async () => {
    for (const size of rest) await app.deps.blobs.put(randomBytes(size));
  };
  await Promise.all(Array.from({ length: atOnce }, write));
  return id;
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

/** One client that reads an envelope and makes one, in turns. @returns milliseconds of each call */
async function callWhile(
  app: TestAppliance,
  { id, template }: { id: string; template: string },
  goesOn: () => boolean,
): Promise<{ reads: number[]; writes: number[] }> {
  const [reads, writes]: [number[], number[]] = [[], []];
  const recipients = [
    { role: "Tenant", name: "Ada", email: "ada@example.com" },
    { role: "Landlord", name: "Ben", email: "ben@example.com" },
  ];
  while (goesOn()) {
    reads.push(1000 * (await secondsOf(() => ok(app, 200, `/v1/envelopes/${id}`))));
    writes.push(1000 * (await secondsOf(() => ok(app, 201, "/v1/envelopes", { json: { template, recipients } }))));
  }
  return { reads, writes };
}

function p95(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? Number.NaN;
}

const rate = (bytes: number, seconds: readonly number[]) => `${Math.round(bytes / 1e6 / median(seconds))} MB/s`;
