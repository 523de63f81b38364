import { type CompiledQuery, sql } from "kysely";
import type { Ts } from "../../kernel/clock.ts";
import type { Place } from "../../kernel/cursor.ts";
import { jsonArrayFrom, type Reader, type Tx } from "../../kernel/db.ts";
import { unindexed } from "../../kernel/trigrams.ts";
import type { EnvelopeStatus, SealStatus } from "./contract.ts";
import { isMeant, lookUp } from "./search.ts";
import type { CarbonCopyRow, EnvelopeRow, RecipientRow, Revision, RevisionRow, ViewerRow } from "./tables.ts";

/** An envelope with everything that belongs to it, read in one statement; lists are in their order. */
export type EnvelopeRecord = {
  envelope: EnvelopeRow;
  recipients: RecipientRow[];
  cc: CarbonCopyRow[];
  /** Without the revoked ones. */
  viewers: ViewerRow[];
  revisions: Revision[];
};

/** Who asks: an API key sees its own mode, a dashboard session (`testMode` null) both. */
export type Owner = { organization: string; testMode: boolean | null };

const recipientColumns = [
  "recipients.id",
  "recipients.envelope",
  "recipients.position",
  "recipients.role",
  "recipients.kind",
  "recipients.name",
  "recipients.email",
  "recipients.phone",
  "recipients.locale",
  "recipients.turn",
  "recipients.delivery",
  "recipients.verification",
  "recipients.redirect_url",
  "recipients.status",
  "recipients.sent_at",
  "recipients.last_sent_at",
  "recipients.viewed_at",
  "recipients.verified_at",
  "recipients.completed_at",
  "recipients.declined_at",
  "recipients.decline_reason",
  "recipients.delivery_error",
  "recipients.submission",
  "recipients.values",
] as const;
const carbonCopyColumns = [
  "carbon_copies.id",
  "carbon_copies.envelope",
  "carbon_copies.position",
  "carbon_copies.email",
  "carbon_copies.name",
  "carbon_copies.locale",
  "carbon_copies.notified_at",
] as const;
const viewerColumns = [
  "viewers.id",
  "viewers.envelope",
  "viewers.position",
  "viewers.email",
  "viewers.name",
  "viewers.locale",
  "viewers.invited_at",
  "viewers.first_viewed_at",
  "viewers.last_viewed_at",
  "viewers.revoked_at",
  "viewers.created_at",
] as const;
const revisionColumns = [
  "revisions.envelope",
  "revisions.number",
  "revisions.sha256",
  "revisions.size",
  "revisions.recipient",
  "revisions.created_at",
] as const;

function listed(reader: Reader) {
  return reader
    .selectFrom("envelopes")
    .selectAll()
    .select((eb) => [
      jsonArrayFrom(
        eb
          .selectFrom("recipients")
          .select(recipientColumns)
          .whereRef("recipients.envelope", "=", "envelopes.id")
          .orderBy("recipients.position"),
      ).as("recipients"),
      jsonArrayFrom(
        eb
          .selectFrom("carbon_copies")
          .select(carbonCopyColumns)
          .whereRef("carbon_copies.envelope", "=", "envelopes.id")
          .orderBy("carbon_copies.position"),
      ).as("cc"),
    ]);
}

function watched(reader: Reader) {
  return listed(reader).select((eb) =>
    jsonArrayFrom(
      eb
        .selectFrom("viewers")
        .select(viewerColumns)
        .whereRef("viewers.envelope", "=", "envelopes.id")
        .where("viewers.revoked_at", "is", null)
        .orderBy("viewers.position"),
    ).as("viewers"),
  );
}

function whole(reader: Reader) {
  return watched(reader).select((eb) =>
    jsonArrayFrom(
      eb
        .selectFrom("revisions")
        .select(revisionColumns)
        .whereRef("revisions.envelope", "=", "envelopes.id")
        .orderBy("revisions.number"),
    ).as("revisions"),
  );
}

type ListedRow = EnvelopeRow & { recipients: RecipientRow[]; cc: CarbonCopyRow[] };
type WatchedRow = ListedRow & { viewers: ViewerRow[] };
type WholeRow = WatchedRow & { revisions: Revision[] };

// Built once: composing a statement of this size for every request costs more than running it.
let byId: CompiledQuery<WholeRow> | undefined;
let byOwner: CompiledQuery<WatchedRow> | undefined;

/** @param id of any organization: for callers that hold a token of this envelope, and for jobs */
export async function readEnvelope(reader: Reader, id: string): Promise<EnvelopeRecord | undefined> {
  byId ??= whole(reader).where("envelopes.id", "=", "").compile();
  const { rows } = await reader.executeQuery<WholeRow>({ ...byId, parameters: [id] });
  return rows[0] && recordOf(rows[0]);
}

/** An envelope as its owner sees it: without the revisions, which only our own jobs need. */
export type OwnedEnvelope = Omit<EnvelopeRecord, "revisions">;

export async function readOwnedEnvelope(reader: Reader, id: string, owner: Owner): Promise<OwnedEnvelope | undefined> {
  byOwner ??= watched(reader)
    .where("envelopes.id", "=", "")
    .where("envelopes.organization", "=", "")
    .where("envelopes.test_mode", "in", [0, 1])
    .compile();
  const parameters = [id, owner.organization, ...modes(owner)];
  const { rows } = await reader.executeQuery<WatchedRow>({ ...byOwner, parameters });
  return rows[0] && ownedOf(rows[0]);
}

/** Always two values, so that the statement has one text. */
function modes({ testMode }: Owner): [number, number] {
  if (testMode === null) return [0, 1];
  return testMode ? [1, 1] : [0, 0];
}

function recordOf(row: WholeRow): EnvelopeRecord {
  return { ...ownedOf(row), revisions: row.revisions };
}

/** The row itself is the envelope: taking its forty columns apart for each request costs more than the lists that ride along. */
function ownedOf(row: WatchedRow): OwnedEnvelope {
  return { envelope: row, recipients: row.recipients, cc: row.cc, viewers: row.viewers };
}

export type ListFilter = {
  organization: string;
  testMode: boolean;
  status?: EnvelopeStatus | undefined;
  seal?: SealStatus | undefined;
  template?: string | undefined;
  q?: string | undefined;
  after?: Place | undefined;
  limit: number;
};

/** Newest first, one more than `limit`, so that the caller sees whether there is more. */
export async function readEnvelopes(
  reader: Reader,
  filter: ListFilter,
): Promise<Omit<EnvelopeRecord, "viewers" | "revisions">[]> {
  const { status, seal, template, q, after } = filter;
  const meant = q === undefined ? undefined : await lookUp(reader, q);
  // Few are found by their ids alone, and no index of a list is better.
  const column = <T>(name: string) => (meant === undefined ? sql.ref<T>(name) : unindexed<T>(name));
  let query = listed(reader)
    .where(column<string>("envelopes.organization"), "=", filter.organization)
    .where(column<number>("envelopes.test_mode"), "=", filter.testMode ? 1 : 0);
  if (status !== undefined) query = query.where(column<EnvelopeStatus>("envelopes.status"), "=", status);
  if (seal !== undefined) query = query.where(column<SealStatus>("envelopes.seal"), "=", seal);
  if (template !== undefined) query = query.where(column<string>("envelopes.template"), "=", template);
  if (meant !== undefined) query = query.where("envelopes.id", "in", meant);
  if (q !== undefined) query = query.where(isMeant(q));
  if (after !== undefined) {
    query = query.where((eb) =>
      eb.or([
        eb("envelopes.created_at", "<", after.t),
        eb.and([eb("envelopes.created_at", "=", after.t), eb("envelopes.id", "<", after.id)]),
      ]),
    );
  }
  const rows = await query
    .orderBy("envelopes.created_at", "desc")
    .orderBy("envelopes.id", "desc")
    .limit(filter.limit + 1)
    .execute();
  return rows.map((row) => ({ envelope: row, recipients: row.recipients, cc: row.cc }));
}

/** The envelope that holds this externalId, in whatever state. */
export async function readDeduplicated(
  reader: Reader,
  key: { organization: string; testMode: boolean; externalId: string },
): Promise<string | undefined> {
  const row = await reader
    .selectFrom("envelope_dedupe")
    .select("envelope")
    .where("organization", "=", key.organization)
    .where("test_mode", "=", key.testMode ? 1 : 0)
    .where("external_id", "=", key.externalId)
    .executeTakeFirst();
  return row?.envelope;
}

/** Live envelopes completed since then: what the plan counts. */
export async function countCompleted(reader: Reader, organization: string, since: Ts): Promise<number> {
  const row = await reader
    .selectFrom("envelopes")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("organization", "=", organization)
    .where("test_mode", "=", 0)
    .where("completed_at", ">=", since)
    .executeTakeFirst();
  return row?.count ?? 0;
}

export async function insertEnvelope(tx: Tx, row: EnvelopeRow): Promise<void> {
  await tx.insertInto("envelopes").values(row).execute();
}

/** Takes the externalId for this envelope. @returns false when another envelope has it: the first one keeps it for ever */
export async function insertDedupe(
  tx: Tx,
  key: { organization: string; testMode: boolean; externalId: string },
  envelope: string,
): Promise<boolean> {
  const { organization, testMode, externalId } = key;
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("envelope_dedupe")
    .values({ organization, test_mode: testMode ? 1 : 0, external_id: externalId, envelope })
    .onConflict((conflict) => conflict.columns(["organization", "test_mode", "external_id"]).doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** Compare-and-set over state and audit chain. @returns false when somebody else moved the envelope first */
export async function updateEnvelope(
  tx: Tx,
  from: Pick<EnvelopeRow, "id" | "status" | "seal" | "audit_length" | "audit_head">,
  set: Partial<EnvelopeRow>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("envelopes")
    .set(set)
    .where("id", "=", from.id)
    .where("status", "=", from.status)
    .where("seal", "=", from.seal)
    .where("audit_length", "=", from.audit_length)
    .where("audit_head", "=", from.audit_head)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

export async function touchEnvelope(tx: Tx, id: string, at: Ts): Promise<void> {
  await tx.updateTable("envelopes").set({ updated_at: at }).where("id", "=", id).execute();
}

/** More at once are a bulk send; whoever follows it reads the list anew at the first of them. */
const mostChanges = 1000;

/** Envelopes of both modes that changed since then, in the order of their changes; the newest where they are very many. */
export async function readChanges(
  reader: Reader,
  organization: string,
  since: Ts,
): Promise<Pick<EnvelopeRow, "id" | "updated_at">[]> {
  const rows = await reader
    .selectFrom("envelopes")
    .select(["id", "updated_at"])
    .where("organization", "=", organization)
    .where("updated_at", ">=", since)
    .orderBy("updated_at", "desc")
    .limit(mostChanges)
    .execute();
  return rows.reverse();
}

/** The first one stays: a renewed seal has a leaf of its own, which a later anchor covers. */
export async function updateAnchor(tx: Tx, id: string, sequence: number): Promise<void> {
  await tx
    .updateTable("envelopes")
    .set({ anchor_sequence: sequence })
    .where("id", "=", id)
    .where("anchor_sequence", "is", null)
    .execute();
}

/** Where the fields of an envelope's document lie, as stored; null when nothing was stored. */
export async function readFieldBoxes(reader: Reader, envelope: string): Promise<string | null> {
  const row = await reader
    .selectFrom("revisions")
    .select("field_boxes")
    .where("envelope", "=", envelope)
    .where("number", "=", 0)
    .executeTakeFirst();
  return row?.field_boxes ?? null;
}

/** @returns false when the revision was there already, with these bytes or others */
export async function insertRevision(tx: Tx, row: RevisionRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("revisions")
    .values(row)
    .onConflict((conflict) => conflict.columns(["envelope", "number"]).doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}
