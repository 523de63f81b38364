import { cp, lstat, mkdir, mkdtemp, rm, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Config, loadConfig } from "../../../server/config.ts";
import { confirmed, type Findings, type FsckReport } from "../../../server/features/evidence/findings.ts";
import { fsckCodes } from "../../../server/features/evidence/fsck/codes.ts";
import { fsck } from "../../../server/features/evidence/fsck/fsck.ts";
import { recordOperatorAct } from "../../../server/features/operators/service.ts";
import type { Deps } from "../../../server/kernel/deps.ts";
import { createLog } from "../../../server/kernel/log.ts";
import { systemActor } from "../../../server/kernel/wire.ts";
import { openDeps } from "../../../server/open-deps.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";
import { enter, envelopeOf, ok, publishTemplate, send, submission } from "../../harness/scenario.ts";

/** Somebody with full access to the data folder changes one thing: fsck must name it. */

let folder: string;
let original: string;
let envelope: string;
/** The one before it: ids are random, so none is the smallest by its age. */
let earlier: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-fsck-"));
  original = path.join(folder, "original");
  const clock = movableClock(new Date().toISOString());
  const app = await startAppliance({ clock });
  const template = await publishTemplate(app, { settings: { consentText: "I accept the house rules." } });
  for (const action of ["clock.accepted", "mail.tested", "work.retried", "anchor.signed"] as const)
    await app.deps.db.tx((tx) => recordOperatorAct(tx, app.deps, { actor: systemActor, action }));
  for (let round = 0; round < 2; round += 1) {
    clock.advance(60_000);
    earlier = envelope;
    envelope = (await send(app, template)).id;
    if (round === 1) await addViewers(app, envelope);
    for (const email of ["ada@example.com", "ben@example.com"]) {
      clock.advance(60_000);
      const bearer = await enter(app, email);
      await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
      await app.jobs.idle();
    }
  }
  await app.deps.db.close();
  await cp(app.folder, original, { recursive: true, filter: async (name) => !(await lstat(name)).isSocket() });
  await app.stop().catch(() => undefined);
  await rm(app.folder, { recursive: true, force: true });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Two who may look, the second one not for long. */
async function addViewers(app: TestAppliance, id: string): Promise<void> {
  const people = [{ email: "lea@example.com" }, { email: "rob@example.com" }];
  await ok(app, 200, `/v1/envelopes/${id}/viewers`, { json: { viewers: people } });
  const { viewers = [] } = await envelopeOf(app, id);
  const revoked = viewers.find(({ email }) => email === "rob@example.com");
  await ok(app, 204, `/v1/envelopes/${id}/viewers/${revoked?.id}`, { method: "DELETE" });
  await app.jobs.idle();
}

const configOf = (dataDir: string): Config => loadConfig({ SIGNET_DATA_DIR: dataDir, SIGNET_LOG_LEVEL: "silent" });

async function check(statements: string, look?: (deps: Deps) => Promise<void>): Promise<FsckReport> {
  const copy = await mkdtemp(path.join(folder, "copy-"));
  await cp(original, copy, { recursive: true });
  const raw = new DatabaseSync(path.join(copy, "signet.db"));
  raw.exec("PRAGMA foreign_keys = OFF");
  for (const table of [
    "audit_entries",
    "leaves",
    "merkle_nodes",
    "anchors",
    "revisions",
    "signing_submissions",
    "consent_texts",
    "anchor_notes",
    "witness_receipts",
    "key_records",
    "operator_audit",
    "operator_heads",
    "admin_audit",
  ]) {
    raw.exec(`DROP TRIGGER ${table}_no_update; DROP TRIGGER ${table}_no_delete`);
  }
  raw.exec(statements.replaceAll("$ENVELOPE", `'${envelope}'`).replaceAll("$EARLIER", `'${earlier}'`));
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
    "operators' last acts",
    "DELETE FROM operator_audit WHERE seq > 1",
    "record",
    /its end was cut off: anchor \d+ has seen entry 4, and entry 1 is the last/,
  ],
  [
    "operators' last acts, and what the last anchor has seen of them",
    "DELETE FROM operator_audit WHERE seq > 1; DELETE FROM operator_heads WHERE anchor = (SELECT max(anchor) FROM operator_heads)",
    "record",
    /what anchor \d+ has seen of it is not there/,
  ],
  [
    "operators' last acts, and another word of what the last anchor has seen",
    "DELETE FROM operator_audit WHERE seq > 1; UPDATE operator_heads SET seq = 1, hash = (SELECT hash FROM operator_audit)",
    "record",
    /what anchor \d+ has seen of it was changed/,
  ],
  [
    "operators' last acts, and the last anchor made one that has seen nothing of them",
    "DELETE FROM operator_audit WHERE seq > 1; UPDATE operator_heads SET anchor_hash = NULL, seq = NULL, hash = NULL, kid = NULL, signature = NULL",
    "record",
    /what anchor \d+ has seen of it was changed/,
  ],
  [
    "operators' last acts, and all that anchors have seen of them",
    "DELETE FROM operator_audit WHERE seq > 1; DELETE FROM operator_heads",
    "record",
    /all that anchors have seen of it is gone, up to anchor \d+/,
  ],
  [
    "operators' last acts, and all that anchors have seen of them as if this release were new here",
    "DELETE FROM operator_audit WHERE seq > 1; DELETE FROM operator_heads; INSERT INTO operator_heads (anchor) SELECT max(sequence) FROM anchors",
    "record",
    /all that anchors have seen of it is gone, up to anchor \d+/,
  ],
  [
    "the same, and the time at which this release came",
    `DELETE FROM operator_heads; INSERT INTO operator_heads (anchor) SELECT max(sequence) FROM anchors;
     UPDATE migrations SET at = '2099-01-01T00:00:00.000Z' WHERE name = '0047-operator-heads'`,
    "record",
    /all that anchors have seen of it is gone, up to anchor \d+/,
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
    "the certificate of another envelope",
    "UPDATE envelopes SET certificate_sha256 = (SELECT o.certificate_sha256 FROM envelopes o WHERE o.id <> envelopes.id) WHERE id = $ENVELOPE",
    "sealed-document",
    /names another certificate/,
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
  ["a seal that nobody makes", `UPDATE envelopes SET seal = 'pending' WHERE id = $EARLIER`, "job", /no job/],
  [
    "a document that nobody draws",
    `UPDATE envelopes SET status = 'rendering', seal = 'none' WHERE id = $EARLIER`,
    "job",
    /to be drawn/,
  ],
  [
    "a signature that nobody draws",
    `UPDATE envelopes SET status = 'sent', seal = 'none' WHERE id = $EARLIER;
     DELETE FROM revisions WHERE envelope = $EARLIER AND number = 2`,
    "job",
    /a signature waits/,
  ],
  [
    "an envelope that waits for nobody",
    `UPDATE envelopes SET status = 'sent', seal = 'none' WHERE id = $EARLIER`,
    "job",
    /nobody's turn/,
  ],
  [
    "a countersigner whom nobody lets sign",
    `UPDATE envelopes SET status = 'sent', seal = 'none' WHERE id = $EARLIER;
     UPDATE recipients SET status = 'sent', kind = 'countersigner' WHERE envelope = $EARLIER`,
    "job",
    /a countersigner's turn/,
  ],
  [
    "an envelope that nobody ends",
    `UPDATE envelopes SET status = 'sent', seal = 'none', expires_at = '2099-01-01T00:00:00.000Z' WHERE id = $EARLIER;
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
    "a seal below its level that nothing raises",
    `UPDATE envelopes SET seal_level = 'B-T' WHERE id = $EARLIER; DELETE FROM jobs`,
    "job",
    /sealed B-T below B-LTA/,
  ],
  ["time stamps that nobody renews", "DELETE FROM jobs", "job", /no job will renew/],
  [
    "a checkpoint of another tree",
    "UPDATE anchor_notes SET note = replace(note, char(10) || '1' || char(10), char(10) || '2' || char(10))",
    "anchor",
    /another tree|does not hold/,
  ],
  ["a missing checkpoint", "DELETE FROM anchor_notes WHERE sequence = 1", "anchor", /it is missing/],
  [
    "a receipt of another anchor",
    "INSERT INTO witness_receipts (sequence, witness, at, receipt) VALUES (1, 'folder', '2026-01-01T00:00:00.000Z', 'sha256:00')",
    "witness",
    /told another anchor/,
  ],
  [
    "a receipt from before its anchor",
    `INSERT INTO witness_receipts (sequence, witness, at, receipt)
     VALUES (1, 'url', '2001-01-01T00:00:00.000Z', '{"status":200,"body":""}')`,
    "witness",
    /older than the anchor/,
  ],
  [
    "a receipt of an anchor that is not there",
    `INSERT INTO witness_receipts (sequence, witness, at, receipt)
     VALUES (99, 'url', '2099-01-01T00:00:00.000Z', '{"status":200,"body":""}')`,
    "witness",
    /no such anchor/,
  ],
  [
    "a receipt that is no answer of a URL",
    `INSERT INTO witness_receipts (sequence, witness, at, receipt)
     VALUES (1, 'url', '2099-01-01T00:00:00.000Z', '{"status":503,"body":""}')`,
    "witness",
    /no answer/,
  ],
  [
    "a receipt of a mail that nobody wrote",
    `INSERT INTO witness_receipts (sequence, witness, at, receipt)
     SELECT 1, 'mail', '2099-01-01T00:00:00.000Z', message_id FROM mails LIMIT 1`,
    "witness",
    /no such mail/,
  ],
  [
    "the certificate of another key",
    "UPDATE signing_keys SET public_key = (SELECT public_key FROM signing_keys WHERE purpose = 'ca') WHERE purpose = 'seal'",
    "key",
    /of another key/,
  ],
  [
    "a private key of another key",
    "UPDATE signing_keys SET private_key = 'AAAA' WHERE purpose = 'anchor'",
    "key",
    /cannot be opened/,
  ],
  [
    "a template's file that is gone",
    `UPDATE template_files SET source_sha256 = '${"cd".repeat(32)}'`,
    "blob",
    /missing/,
  ],
  [
    "another standalone certificate",
    "UPDATE envelopes SET certificate_sha256 = document_sha256 WHERE id = $ENVELOPE",
    "sealed-document",
    /seal/,
  ],
  [
    "a row that names nothing",
    `UPDATE recipients SET envelope = 'env_nowhere' WHERE envelope = $EARLIER`,
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

test("anchors from before there were heads are no damage, and it is noted that none has seen the operators' acts", async () => {
  const report = await check(
    `DELETE FROM operator_heads; INSERT INTO operator_heads (anchor) SELECT max(sequence) FROM anchors;
     UPDATE migrations SET at = '2099-01-01T00:00:00.000Z' WHERE name >= '0047'`,
  );
  expect(report).toMatchObject({ ok: true, problems: [] });
  expect(report.notes.map(({ code }) => code)).toEqual(["operator-audit-unbound"]);
});

test("a viewer whom an earlier release revoked is no damage: it read the clock for the row and again for the trail", async () => {
  const report = await check(
    "UPDATE viewers SET revoked_at = strftime('%Y-%m-%dT%H:%M:%fZ', revoked_at, '-0.002 seconds') WHERE revoked_at IS NOT NULL",
  );
  expect(report).toMatchObject({ ok: true, problems: [] });
});

const rob = "email = 'rob@example.com'";
const lea = "email = 'lea@example.com'";
const forgedViewers: [string, string, RegExp][] = [
  ["the row of a viewer is gone", `DELETE FROM viewers WHERE ${lea}`, /2 viewers have 1 rows/],
  ["the row of a revoked viewer is gone", `DELETE FROM viewers WHERE ${rob}`, /2 viewers have 1 rows/],
  ["all of them are gone", "DELETE FROM viewers", /2 viewers have 0 rows/],
  [
    "one stands in another's place",
    `DELETE FROM viewers WHERE ${lea};
     INSERT INTO viewers (id, envelope, position, email, created_at)
     VALUES ('vwr_x', $ENVELOPE, 9, 'lea@example.com', '2026-01-01T00:00:00.000Z')`,
    /something else of this viewer/,
  ],
  ["a viewer has another address", `UPDATE viewers SET email = 'eve@example.com' WHERE ${lea}`, /something else/],
  ["a revoked one has another address", `UPDATE viewers SET email = 'eve@example.com' WHERE ${rob}`, /something else/],
  ["a revocation is taken back", `UPDATE viewers SET revoked_at = NULL WHERE ${rob}`, /something else of this viewer/],
  [
    "a revocation is dated later",
    `UPDATE viewers SET revoked_at = '2099-01-01T00:00:00.000Z' WHERE ${rob}`,
    /something/,
  ],
  ["one is revoked that nobody revoked", `UPDATE viewers SET revoked_at = created_at WHERE ${lea}`, /something else/],
];
test.each(forgedViewers)("finds it when %s", async (_, statements, message) => {
  const { problems } = await check(`DELETE FROM viewer_links; DELETE FROM viewer_accesses; ${statements}`);
  const found = problems.filter(({ code }) => code === "record-person");
  expect(found.map((problem) => problem.message).join("\n")).toMatch(message);
  expect(problems).toHaveLength(found.length);
});

/** All at once: each is told by itself. */
const forgeries: [string, string, RegExp][] = [
  [
    `UPDATE envelopes SET status = 'voided', voided_at = completed_at WHERE id = $EARLIER`,
    "record-status",
    /is voided/,
  ],
  [`UPDATE envelopes SET seal_level = 'B-T' WHERE id = $EARLIER`, "record-status", /level is B-T/],
  ["UPDATE envelopes SET seal = 'failed' WHERE id = $ENVELOPE", "record-status", /seal is failed/],
  [
    "UPDATE envelopes SET completed_at = '2010-01-01T00:00:00.000Z' WHERE id = $ENVELOPE",
    "record-time",
    /completed_at is 2010/,
  ],
  [
    `UPDATE envelopes SET sealed_at = '2010-01-01T00:00:00.000Z' WHERE id = $EARLIER`,
    "record-time",
    /sealed at another/,
  ],
  [`UPDATE envelopes SET test_mode = 1 WHERE id = $EARLIER`, "record-facts", /the other mode/],
  ["UPDATE envelopes SET title = 'Another' WHERE id = $ENVELOPE", "record-facts", /its title/],
  [`UPDATE envelopes SET created_by = '{}' WHERE id = $ENVELOPE`, "record-facts", /somebody else created/],
  ["UPDATE envelopes SET void_reason = 'because' WHERE id = $ENVELOPE", "record-facts", /another reason/],
  [
    "UPDATE recipients SET name = 'Mallory' WHERE envelope = $ENVELOPE AND position = 0",
    "record-person",
    /somebody else than in the trail/,
  ],
  [
    "UPDATE recipients SET status = 'declined', viewed_at = NULL WHERE envelope = $ENVELOPE AND position = 1",
    "record-status",
    /is declined, and the trail says completed/,
  ],
  [
    `INSERT INTO viewers (id, envelope, position, email, created_at)
     VALUES ('vwr_x', $ENVELOPE, 9, 'eve@example.com', '2026-01-01T00:00:00.000Z')`,
    "record-person",
    /something else of this viewer/,
  ],
  [
    "UPDATE signing_submissions SET ip = '203.0.113.9' WHERE envelope = $ENVELOPE AND number = 1",
    "submission-consent",
    /another consent/,
  ],
  ["UPDATE consent_texts SET text = 'I agree to everything'", "submission-consent-text", /accepted, was changed/],
  [
    `UPDATE signing_submissions SET consent = json_set(consent, '$.textSha256', '${"ab".repeat(32)}') WHERE envelope = $EARLIER`,
    "submission-consent-text",
    /accepted, is missing/,
  ],
  [
    `INSERT INTO signing_attachments
     (id, envelope, recipient, field, filename, content_type, size, sha256, created_at, submitted_at)
     SELECT 'att_x', envelope, recipient, 'f', 'x.pdf', 'application/pdf', 1, '${"ab".repeat(32)}', at, at
     FROM signing_submissions WHERE envelope = $ENVELOPE AND number = 1`,
    "submission-attachment",
    /another file/,
  ],
  [`UPDATE envelopes SET legal_hold = '{"reason":"none"}' WHERE id = $ENVELOPE`, "admin-audit", /of its hold/],
  ["UPDATE organizations SET retention_days = 1", "admin-audit", /kept 1, and the last act says for ever/],
  [`UPDATE envelopes SET documents_deleted_at = updated_at WHERE id = $EARLIER`, "admin-audit", /1 envelopes lost/],
  ["UPDATE operator_audit SET action = 'x.done' WHERE seq = 1", "operator-audit", /entry 1 does not follow/],
  [
    "UPDATE admin_audit SET target = 'key_forged' WHERE seq = 2",
    "admin-audit",
    /administrative act 2 does not follow the one before/,
  ],
  ["UPDATE key_records SET body = replace(body, 'software', 'hardware')", "key-record", /does not have its hash/],
  [
    `INSERT INTO anchor_tokens (sequence, token, at) VALUES (1, 'MAMCAQE=', '2026-01-01T00:00:00.000Z')`,
    "anchor-token",
    /does not hold/,
  ],
];
test("rows that say otherwise than the trail, the leaves, the acts and the chains are told each", async () => {
  const { problems } = await check(forgeries.map(([statement]) => statement).join(";"));
  for (const [statement, code, message] of forgeries) {
    const found = problems.filter((problem) => problem.code === code).map((problem) => problem.message);
    expect(found.join("\n"), statement).toMatch(message);
  }
});

test("an envelope that is gone with all its rows is missed by its leaf; one that is there misses its earlier files", async () => {
  const tables = ["revisions", "audit_entries", "mails", "carbon_copies", "viewers", "recipients", "seal_terms"];
  const signing = ["submissions", "attachments", "reassignments", "sessions", "tokens"].map(
    (name) => `signing_${name}`,
  );
  const rows = [...tables, ...signing].map((table) => `DELETE FROM ${table} WHERE envelope = $EARLIER`);
  const { problems } = await check(
    `${rows.join(";")}; DELETE FROM envelopes WHERE id = $EARLIER;
     UPDATE leaves SET document_sha256 = '${"ef".repeat(32)}', leaf = json_set(leaf, '$.documentSha256', '${"ef".repeat(32)}')
     WHERE envelope = $ENVELOPE`,
  );
  expect(problems).toContainEqual(expect.objectContaining({ code: "leaf-envelope", where: "leaf 0" }));
  const missing = problems.filter(({ code, where }) => code === "blob-missing" && where.includes("leaf 1"));
  expect(missing).toHaveLength(1);
});

test("damaged, strange, half-written and unnamed files are told apart, each with what to do", async () => {
  const copy = await mkdtemp(path.join(folder, "copy-"));
  await cp(original, copy, { recursive: true });
  const { deps, close } = await openDeps({ config: configOf(copy), log: createLog("silent") });
  const names: string[] = [];
  for await (const name of deps.blobs.list()) names.push(name);
  const [first = ""] = names;
  const place = (name: string) => path.join(copy, "blobs", name.slice(0, 2), name.slice(2, 4), name);
  const orphan = await deps.blobs.put(Buffer.from("nobody names this"));
  const young = await deps.blobs.put(Buffer.from("nobody names this yet"));
  const long = new Date("2020-01-01");
  await utimes(place(orphan.sha256), long, long);
  await truncate(place(first), 50);
  await writeFile(path.join(copy, "blobs", "notes.txt"), "mine");
  const draft = path.join(copy, "blobs", "tmp", "writer-old");
  await mkdir(draft);
  await utimes(draft, long, long);
  const report = await fsck(deps);
  await close();
  expect(report.ok).toBe(false);
  expect(report.problems).toContainEqual(
    expect.objectContaining({ code: "blob-damaged", where: `blob store ${first}`, message: "it is damaged" }),
  );
  const notes = report.notes.map(({ code, where }) => [code, path.basename(where)]);
  expect(notes).toEqual(
    expect.arrayContaining([
      ["blob-orphan", `blob store ${orphan.sha256}`],
      ["file-stray", "notes.txt"],
      ["draft-left", "writer-old"],
    ]),
  );
  expect(JSON.stringify(report)).not.toContain(young.sha256);
  for (const { code } of [...report.problems, ...report.notes]) expect(fsckCodes[code].todo.length).toBeGreaterThan(10);
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
  const found: string[][] = [];
  let looks = 0;
  let count = 0;
  const findings: Findings = {
    count: (_, by = 1) => {
      count += by;
    },
    found: (...problem) => void found.push(problem),
  };
  await confirmed(findings, "somewhere", async (own) => {
    looks += 1;
    own.count("things");
    if (looks === 1) own.found("job-missing", "here", "it was in the middle of something");
    own.found("leaf-hash", "there", "it is wrong");
  });
  expect({ looks, count, found }).toEqual({ looks: 2, count: 1, found: [["leaf-hash", "there", "it is wrong"]] });
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
