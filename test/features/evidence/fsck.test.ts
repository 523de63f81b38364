import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDeps } from "../../../server/compose.ts";
import { type Config, loadConfig } from "../../../server/config.ts";
import { confirmed, type FsckProblem, type FsckReport } from "../../../server/features/evidence/findings.ts";
import { fsck } from "../../../server/features/evidence/fsck.ts";
import type { Deps } from "../../../server/kernel/deps.ts";
import { createLog } from "../../../server/kernel/log.ts";
import { startAppliance } from "../../harness/appliance.ts";
import { enter, movableClock, ok, publishTemplate, send, submission } from "../signing/flow.ts";

/** Somebody with full access to the data folder changes one thing: fsck must name it. */

let folder: string;
let original: string;
let envelope: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-fsck-"));
  original = path.join(folder, "original");
  const clock = movableClock(new Date().toISOString());
  const app = await startAppliance({ clock });
  const template = await publishTemplate(app);
  for (let round = 0; round < 2; round += 1) {
    clock.advance(60_000);
    envelope = (await send(app, template)).id;
    for (const email of ["ada@example.com", "ben@example.com"]) {
      clock.advance(60_000);
      const bearer = await enter(app, email);
      await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
      await app.jobs.idle();
    }
  }
  await app.deps.db.close();
  await cp(app.folder, original, { recursive: true });
  await app.stop().catch(() => undefined);
  await rm(app.folder, { recursive: true, force: true });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const configOf = (dataDir: string): Config => loadConfig({ SIGNET_DATA_DIR: dataDir, SIGNET_LOG_LEVEL: "silent" });

async function check(statements: string, look?: (deps: Deps) => Promise<void>): Promise<FsckReport> {
  const copy = await mkdtemp(path.join(folder, "copy-"));
  await cp(original, copy, { recursive: true });
  const raw = new DatabaseSync(path.join(copy, "signet.db"));
  raw.exec("PRAGMA foreign_keys = OFF");
  for (const table of ["audit_entries", "leaves", "merkle_nodes", "anchors", "revisions", "signing_submissions"]) {
    raw.exec(`DROP TRIGGER ${table}_no_update; DROP TRIGGER ${table}_no_delete`);
  }
  raw.exec(statements.replaceAll("$ENVELOPE", `'${envelope}'`));
  raw.close();
  const { deps, close } = await openDeps({ config: configOf(copy), log: createLog("silent") });
  try {
    const report = await fsck(deps);
    await look?.(deps);
    return report;
  } finally {
    await close();
  }
}

test("an untouched folder is whole, and everything was looked at", async () => {
  const report = await check("");
  expect(report).toMatchObject({ ok: true, problems: [] });
  expect(report.checked).toMatchObject({ envelopes: 2, revisions: 6, "sealed documents": 2, leaves: 2 });
  for (const what of ["audit entries", "anchors", "mails", "blobs"]) expect(report.checked[what]).toBeGreaterThan(0);
});

const first = "(SELECT min(id) FROM envelopes)";
const damages: [string, string, string, RegExp][] = [
  [
    "a changed audit entry",
    "UPDATE audit_entries SET ip = '203.0.113.9' WHERE envelope = $ENVELOPE AND seq = 3",
    "audit-chain",
    /entry 3 /,
  ],
  [
    "a missing last audit entry",
    "DELETE FROM audit_entries WHERE envelope = $ENVELOPE AND seq = (SELECT max(seq) FROM audit_entries WHERE envelope = $ENVELOPE)",
    "audit-chain",
    /does not follow/,
  ],
  [
    "revisions in another order",
    "UPDATE revisions SET number = 9 WHERE envelope = $ENVELOPE AND number = 1; UPDATE revisions SET number = 1 WHERE envelope = $ENVELOPE AND number = 2; UPDATE revisions SET number = 2 WHERE envelope = $ENVELOPE AND number = 9",
    "revision",
    /does not begin with the bytes/,
  ],
  [
    "a revision that names no file",
    `UPDATE revisions SET sha256 = '${"ab".repeat(32)}' WHERE envelope = $ENVELOPE AND number = 1`,
    "blob",
    /./,
  ],
  [
    "another sealed document",
    `UPDATE envelopes SET sealed_sha256 = (SELECT certificate_sha256 FROM envelopes WHERE id = $ENVELOPE) WHERE id = $ENVELOPE`,
    "sealed-document",
    /does not begin with what was signed/,
  ],
  [
    "a changed leaf",
    "UPDATE leaves SET leaf = replace(leaf, 'false', 'true') WHERE leaf_index = 0",
    "leaf",
    /does not have the hash/,
  ],
  ["a changed leaf column", "UPDATE leaves SET test_mode = 1 WHERE leaf_index = 0", "leaf", /columns/],
  ["a missing leaf", "DELETE FROM leaves WHERE leaf_index = 0", "leaf", /missing/],
  [
    "a changed node",
    `UPDATE merkle_nodes SET hash = '${"cd".repeat(32)}' WHERE level = 1 AND node_index = 0`,
    "tree",
    /stored hash is wrong/,
  ],
  ["a missing node", "DELETE FROM merkle_nodes WHERE level = 0 AND node_index = 1", "tree", /no node 1 on level 0/],
  [
    "a changed anchor",
    "UPDATE anchors SET created_at = '2020-01-01T00:00:00.000Z' WHERE sequence = 1",
    "anchor",
    /hash or signature/,
  ],
  ["a missing anchor", "DELETE FROM anchors WHERE sequence = 1", "anchor", /before it is missing/],
  [
    "a mail that is gone",
    "DELETE FROM mails WHERE kind = 'completed' AND to_email = 'ada@example.com'",
    "mail",
    /was not told/,
  ],
  ["a seal that nobody makes", `UPDATE envelopes SET seal = 'pending' WHERE id = ${first}`, "job", /no job/],
  [
    "a document that nobody draws",
    `UPDATE envelopes SET status = 'rendering', seal = 'none' WHERE id = ${first}`,
    "job",
    /to be drawn/,
  ],
  [
    "a signature that nobody draws",
    `UPDATE envelopes SET status = 'sent', seal = 'none' WHERE id = ${first};
     DELETE FROM revisions WHERE envelope = ${first} AND number = 2`,
    "job",
    /a signature waits/,
  ],
  [
    "an envelope that waits for nobody",
    `UPDATE envelopes SET status = 'sent', seal = 'none' WHERE id = ${first}`,
    "job",
    /nobody's turn/,
  ],
  [
    "a countersigner whom nobody lets sign",
    `UPDATE envelopes SET status = 'sent', seal = 'none' WHERE id = ${first};
     UPDATE recipients SET status = 'sent', kind = 'countersigner' WHERE envelope = ${first}`,
    "job",
    /a countersigner's turn/,
  ],
  [
    "an envelope that nobody ends",
    `UPDATE envelopes SET status = 'sent', seal = 'none', expires_at = '2099-01-01T00:00:00.000Z' WHERE id = ${first};
     DELETE FROM jobs WHERE name = 'envelopes.expire'`,
    "job",
    /no job will end it/,
  ],
  [
    "a mail that nobody sends",
    "UPDATE mails SET status = 'queued' WHERE kind = 'completed'",
    "job",
    /no job will send it/,
  ],
  ["leaves that nobody anchors", "DELETE FROM anchors; DELETE FROM jobs", "job", /no job will sign one/],
  [
    "a job that was given up",
    `INSERT INTO jobs (id, name, queue, payload, run_at, attempts, status, last_error, created_at)
     VALUES ('job_x', 'signing.invite', 'default', '{}', 0, 25, 'dead', 'no luck', 0)`,
    "job",
    /no luck/,
  ],
  [
    "values that were not signed",
    `UPDATE signing_submissions SET "values" = '{}' WHERE envelope = $ENVELOPE AND number = 1`,
    "submission",
    /other values are stored/,
  ],
  [
    "another signature",
    `UPDATE signing_submissions SET signature = NULL WHERE envelope = $ENVELOPE AND number = 1`,
    "submission",
    /another signature/,
  ],
  [
    "other values of a recipient",
    `UPDATE recipients SET "values" = '{}' WHERE envelope = $ENVELOPE`,
    "submission",
    /shows other values/,
  ],
  [
    "a submission that is gone",
    "DELETE FROM signing_submissions WHERE envelope = $ENVELOPE AND number = 1",
    "submission",
    /is missing/,
  ],
  [
    "a row that names nothing",
    `UPDATE recipients SET envelope = 'env_nowhere' WHERE envelope = ${first}`,
    "database",
    /recipients/,
  ],
];
test.each(damages)("finds %s", async (_, statements, kind, message) => {
  const report = await check(statements);
  expect(report.ok).toBe(false);
  const found = report.problems.filter((problem) => problem.kind === kind);
  expect(found.map((problem) => problem.message).join("\n")).toMatch(message);
});

test("what cannot even be read is a finding, and does not hide the others", async () => {
  const report = await check(
    `UPDATE recipients SET "values" = '{' WHERE envelope <> $ENVELOPE;
     UPDATE leaves SET leaf = '{' WHERE leaf_index = 0;
     UPDATE audit_entries SET ip = '203.0.113.9' WHERE envelope = $ENVELOPE AND seq = 3`,
  );
  expect(report.problems.filter(({ kind }) => kind === "unreadable").length).toBeGreaterThanOrEqual(2);
  expect(report.problems.filter(({ kind }) => kind === "audit-chain")).toMatchObject([{ where: envelope }]);
  expect(report.checked.blobs).toBeGreaterThan(0);
});

test("keys that are gone are not made anew", async () => {
  const report = await check("DELETE FROM signing_keys", async (deps) => {
    expect(await deps.db.read.selectFrom("signing_keys").select("id").execute()).toEqual([]);
  });
  expect(report.problems.filter(({ kind }) => kind === "sealed-document").length).toBeGreaterThan(0);
});

test("what only the first look finds is not reported", async () => {
  const found: FsckProblem[] = [];
  let looks = 0;
  let count = 0;
  const findings = {
    count: (_: string, by = 1) => {
      count += by;
    },
    problem: (kind: FsckProblem["kind"], where: string, message: string) => void found.push({ kind, where, message }),
    progress: () => undefined,
  };
  await confirmed(findings, "somewhere", async (own) => {
    looks += 1;
    own.count("things");
    if (looks === 1) own.problem("job", "here", "it was in the middle of something");
    own.problem("leaf", "there", "it is wrong");
  });
  expect({ looks, count, found }).toEqual({
    looks: 2,
    count: 1,
    found: [{ kind: "leaf", where: "there", message: "it is wrong" }],
  });
});

test("what was signed cannot be changed or removed through the database's front door", async () => {
  const copy = await mkdtemp(path.join(folder, "copy-"));
  await cp(original, copy, { recursive: true });
  const raw = new DatabaseSync(path.join(copy, "signet.db"));
  for (const table of ["signing_submissions", "revisions"]) {
    expect(() => raw.exec(`UPDATE ${table} SET number = 7`)).toThrow(/append-only/);
    expect(() => raw.exec(`DELETE FROM ${table}`)).toThrow(/append-only/);
  }
  raw.close();
});
