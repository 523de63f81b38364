import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeAll, expect, test } from "vitest";
import { findCertificateEntry, findSealEntryOf } from "../../server/features/envelopes/audit-store.ts";
import { sealEnvelope } from "../../server/features/envelopes/jobs.ts";
import { countCompleted, type ListFilter, readEnvelopes } from "../../server/features/envelopes/store.ts";
import * as evidence from "../../server/features/evidence/store.ts";
import { listAdminActs } from "../../server/features/identity/admin-audit.ts";
import { sendMail } from "../../server/features/mail/jobs.ts";
import { listEarlierQueued, listMails, wipeContents } from "../../server/features/mail/store.ts";
import * as retention from "../../server/features/retention/store.ts";
import * as templates from "../../server/features/templates/store.ts";
import * as webhooks from "../../server/features/webhooks/store.ts";
import { openDatabase, type Tables, type Tx } from "../../server/kernel/db.ts";
import { claimDue, findLive, nextDue, nextInLanes } from "../../server/kernel/job-store.ts";
import { runScoped } from "../../server/kernel/transaction.ts";

/** What is asked over everything that is stored must find its rows by an index: no walk over a table, no sorting of it. */

let db: DatabaseSync;
beforeAll(async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-plans-"));
  const file = path.join(folder, "signet.db");
  await (await openDatabase({ file })).close();
  db = new DatabaseSync(file);
  return async () => {
    db.close();
    await rm(folder, { recursive: true, force: true });
  };
});

/** SQLite's plans for the statements that `ask` sends. */
async function plansOf(ask: (tx: Tx) => Promise<unknown>): Promise<string[]> {
  const plans: string[] = [];
  const surroundings = {
    execute: async <R>({ sql, parameters }: { sql: string; parameters: readonly unknown[] }) => {
      const bound = parameters.map((value) => (typeof value === "number" ? value : String(value)));
      for (const { detail } of db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...bound)) plans.push(String(detail));
      const rows: R[] = [];
      return { rows, numAffectedRows: 0n };
    },
    endsTransaction: () => false,
    now: () => 0,
    newJobId: () => "",
    seal: (plain: string) => plain,
  };
  await runScoped<Tables, unknown>(surroundings, ask);
  return plans;
}

const at = "2026-01-01T00:00:00.000Z";
type Question = [string, string, (tx: Tx) => Promise<unknown>];
const filters: [string, Partial<ListFilter>][] = [
  ["envelopes_newest (organization=? AND test_mode=?)", {}],
  ["envelopes_newest_by_status (organization=? AND test_mode=? AND status=?)", { status: "sent" }],
  ["envelopes_newest_by_seal (organization=? AND test_mode=? AND seal=?)", { seal: "failed" }],
  ["envelopes_of_template (template=? AND test_mode=?)", { template: "tpl" }],
];
const claimMail = (tx: Tx) => claimDue(tx, { queue: "mail", now: 0, limit: 4, leaseBy: "holder", leaseUntil: 0 });
const questions: Question[] = [
  [
    "envelopes that are due",
    "envelopes_ended",
    (tx) => retention.listDue(tx, "org", { before: at, after: { endedAt: at, id: "env" }, limit: 100 }),
  ],
  // Counting no rows is answered by no row, which the caller calls an error.
  ["their number", "envelopes_ended", (tx) => retention.countDue(tx, "org", at).catch(() => 0)],
  ["held envelopes", "envelopes_held", (tx) => retention.countHeld(tx, "org").catch(() => 0)],
  ["a job for an envelope", "jobs_by_subject", (tx) => findLive(tx, sealEnvelope, "env")],
  ["queued mails", "mails_queued", (tx) => evidence.listMailsWithoutJob(tx, sendMail)],
  [
    "earlier mails to an address",
    "mails_of_envelope",
    (tx) => listEarlierQueued(tx, { id: "msg", envelope: "env", to_email: "a@example.com" }),
  ],
  ["jobs that are due", "jobs_due (status=? AND queue=? AND run_at<?)", claimMail],
  ["when the next job is due", "jobs_due (status=? AND queue=?)", (tx) => nextDue(tx, ["mail"]).catch(() => [])],
  ["mails to be forgotten", "mails_kept", (tx) => wipeContents(tx, ["completed"], at)],
  [
    "a later page of mails",
    "mails_newest (organization=? AND (created_at,id)<(?,?))",
    (tx) => listMails(tx, { organization: "org", after: { t: at, id: "msg" } }),
  ],
  [
    "a later page of acts",
    "admin_audit_newest (organization=? AND (at,id)<(?,?))",
    (tx) => listAdminActs(tx, "org", { limit: 200, before: { t: at, id: "adm" } }),
  ],
  ...filters.map(([index, filter]): Question => {
    const ask = (tx: Tx) => readEnvelopes(tx, { organization: "org", testMode: false, limit: 50, ...filter });
    return [`envelopes of one ${Object.keys(filter)[0] ?? "organization"}`, index, ask];
  }),
  ["what the plan counts", "envelopes_completed", (tx) => countCompleted(tx, "org", at).catch(() => 0)],
  ["a certificate by its hash", "audit_entries_by_certificate", (tx) => findCertificateEntry(tx, "0".repeat(64))],
  ["one that no entry names", "envelopes_by_certificate", (tx) => findSealEntryOf(tx, "0".repeat(64))],
  [
    "listed templates",
    "templates_listed (organization=? AND listed=?)",
    (tx) => templates.listTemplates(tx, "org", { limit: 50, after: null, q: undefined }),
  ],
  ["templates to be deleted", "templates_unlisted", (tx) => templates.deleteUnlistedBefore(tx, at)],
  ["lanes with work", "jobs_by_lane (status=? AND queue=?", (tx) => nextInLanes(tx, "webhooks")],
  [
    "due work of a lane",
    "jobs_by_lane (status=? AND queue=? AND lane=? AND run_at<?)",
    (tx) => claimDue(tx, { queue: "q", lane: "l", now: 1, limit: 1, leaseBy: "me", leaseUntil: 2 }),
  ],
  [
    "endpoints",
    "webhook_endpoints_by_mode",
    (tx) => webhooks.listEndpoints(tx, { organization: "org", testMode: true }),
  ],
  [
    "events since a moment",
    "webhook_events_by_time (organization=? AND test_mode=? AND (created_at,id)>(?,?)",
    (tx) =>
      webhooks.listEvents(
        tx,
        { organization: "org", test_mode: 0 },
        { after: { t: at, id: "evt" }, until: at, types: [] },
        200,
      ),
  ],
  ["events of an envelope", "webhook_events_by_envelope", (tx) => webhooks.deleteEventsOf(tx, "env")],
  [
    "a later page of deliveries",
    "webhook_deliveries_by_endpoint (endpoint=? AND (created_at,id)<(?,?))",
    (tx) => webhooks.listDeliveries(tx, "whe", { status: undefined, before: { t: at, id: "dlv" }, limit: 20 }),
  ],
  [
    "deliveries of a day",
    "webhook_deliveries_sent (endpoint=? AND sent_at>?)",
    (tx) => webhooks.countSent(tx, "whe", at).catch(() => 0),
  ],
  [
    "deliveries that wait",
    "webhook_deliveries_pending (status=? AND endpoint=? AND id>?)",
    (tx) => webhooks.listPending(tx, "whe", { after: "", limit: 500 }),
  ],
  ["links that ended", "download_tokens_expiry", (tx) => evidence.deleteDownloadTokens(tx, at)],
];

test.each(questions)("%s are found by an index", async (_, index, ask) => {
  const plans = await plansOf(ask);
  expect(plans.join("\n")).toContain(index);
  // `agg` holds the people of one envelope, for the list that rides along, `lanes` one row a lane.
  for (const plan of plans) expect(plan).not.toMatch(/^SCAN (?!agg$|lanes$|CONSTANT ROW$|\S+ USING)|TEMP B-TREE/);
});

test.each(filters)("a search for envelopes goes by the index of texts and then by ids (%s)", async (_, filter) => {
  const plans = await plansOf((tx) =>
    readEnvelopes(tx, { organization: "org", testMode: false, limit: 50, q: "found", ...filter }),
  );
  const text = plans.join("\n");
  expect(text.match(/SCAN envelope_search VIRTUAL TABLE INDEX 0:M1/g)).toHaveLength(2);
  expect(text).toContain("SEARCH envelope_numbers USING INTEGER PRIMARY KEY");
  expect(text).toContain("SEARCH envelopes USING INDEX sqlite_autoindex_envelopes_1 (id=?)");
});

test("the attempts of a webhook endpoint's last day are counted from an index alone", async () => {
  const plans = await plansOf((tx) => webhooks.countSentByHour(tx, "whe", at));
  expect(plans[0]).toBe(
    "SEARCH webhook_deliveries USING COVERING INDEX webhook_deliveries_sent (endpoint=? AND sent_at>?)",
  );
});
