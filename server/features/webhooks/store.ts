import { sql } from "kysely";
import type { Ts } from "../../kernel/clock.ts";
import type { Place } from "../../kernel/cursor.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { DeliveryStatus } from "./contract.ts";
import type { DeliveryRow, EndpointRow, EventRow } from "./tables.ts";

/** Of which organization and mode; a dashboard session sees both. */
export type Owner = { organization: string; testMode: boolean | null };

function endpoints(reader: Reader, { organization, testMode }: Owner) {
  return reader
    .selectFrom("webhook_endpoints")
    .selectAll()
    .where("organization", "=", organization)
    .$if(testMode !== null, (of) => of.where("test_mode", "=", testMode === true ? 1 : 0));
}

export function listEndpoints(reader: Reader, owner: Owner): Promise<EndpointRow[]> {
  return endpoints(reader, owner).execute();
}

export function findOwnEndpoint(reader: Reader, id: string, owner: Owner): Promise<EndpointRow | undefined> {
  return endpoints(reader, owner).where("id", "=", id).executeTakeFirst();
}

export function findEndpoint(reader: Reader, id: string): Promise<EndpointRow | undefined> {
  return reader.selectFrom("webhook_endpoints").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function insertEndpoint(tx: Tx, row: EndpointRow): Promise<void> {
  await tx.insertInto("webhook_endpoints").values(row).execute();
}

/** @returns the row as it is now; undefined when there is none any more */
export function updateEndpoint(
  tx: Tx,
  id: string,
  change: Partial<Omit<EndpointRow, "id">>,
): Promise<EndpointRow | undefined> {
  return tx.updateTable("webhook_endpoints").set(change).where("id", "=", id).returningAll().executeTakeFirst();
}

/** Its deliveries, of which there may be a million, go with the next `purgeDeliveries`. */
export async function deleteEndpoint(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom("webhook_endpoints").where("id", "=", id).execute();
}

export async function insertEvents(tx: Tx, rows: readonly EventRow[]): Promise<void> {
  await tx.insertInto("webhook_events").values(rows).execute();
}

export function findEvent(reader: Reader, id: string, owner: Owner): Promise<EventRow | undefined> {
  const { organization, testMode } = owner;
  return reader
    .selectFrom("webhook_events")
    .selectAll()
    .where("id", "=", id)
    .where("organization", "=", organization)
    .$if(testMode !== null, (of) => of.where("test_mode", "=", testMode === true ? 1 : 0))
    .executeTakeFirst();
}

/** What was said of an envelope, with every attempt to say it: its documents and values are to be gone. */
export async function deleteEventsOf(tx: Tx, envelope: string): Promise<void> {
  await tx
    .deleteFrom("webhook_deliveries")
    .where("event", "in", (from) => from.selectFrom("webhook_events").select("id").where("envelope", "=", envelope))
    .execute();
  await tx.deleteFrom("webhook_events").where("envelope", "=", envelope).execute();
}

/** Of one organization and mode, oldest first: behind `after`, and not later than `until`. */
export type Span = { after: Place; until: Ts; types: readonly string[] };

function between(reader: Reader, of: Pick<EndpointRow, "organization" | "test_mode">, { after, until, types }: Span) {
  return reader
    .selectFrom("webhook_events")
    .where("organization", "=", of.organization)
    .where("test_mode", "=", of.test_mode)
    .where(({ eb, refTuple, tuple }) => eb(refTuple("created_at", "id"), ">", tuple(after.t, after.id)))
    .where("created_at", "<=", until)
    .where("type", "!=", "webhook.test")
    .$if(types.length > 0, (query) => query.where("type", "in", [...types] as EventRow["type"][]));
}

export async function countEvents(
  reader: Reader,
  of: Pick<EndpointRow, "organization" | "test_mode">,
  span: Span,
): Promise<number> {
  const { count } = await between(reader, of, span)
    .select((select) => select.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

export function listEvents(
  reader: Reader,
  of: Pick<EndpointRow, "organization" | "test_mode">,
  span: Span,
  limit: number,
): Promise<Pick<EventRow, "id" | "type" | "created_at">[]> {
  return between(reader, of, span)
    .select(["id", "type", "created_at"])
    .orderBy("created_at")
    .orderBy("id")
    .limit(limit)
    .execute();
}

export async function insertDeliveries(tx: Tx, rows: readonly DeliveryRow[]): Promise<void> {
  await tx.insertInto("webhook_deliveries").values(rows).execute();
}

/** An attempt still to be made; undefined once it was made, or its endpoint is gone. */
export async function findPending(
  reader: Reader,
  id: string,
): Promise<{ delivery: DeliveryRow; endpoint: EndpointRow; event: EventRow | undefined } | undefined> {
  const delivery = await reader
    .selectFrom("webhook_deliveries")
    .selectAll()
    .where("id", "=", id)
    .where("status", "=", "pending")
    .executeTakeFirst();
  if (delivery === undefined) return undefined;
  const endpoint = await findEndpoint(reader, delivery.endpoint);
  const event = await reader
    .selectFrom("webhook_events")
    .selectAll()
    .where("id", "=", delivery.event)
    .executeTakeFirst();
  return endpoint === undefined ? undefined : { delivery, endpoint, event };
}

/** @returns whether it was still to be made */
export async function settleDelivery(
  tx: Tx,
  id: string,
  change: Partial<DeliveryRow> & { status: "succeeded" | "failed" },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("webhook_deliveries")
    .set(change)
    .where("id", "=", id)
    .where("status", "=", "pending")
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Attempts that wait, by id; behind `after`. */
export function listPending(
  reader: Reader,
  endpoint: string,
  { after, limit }: { after: string; limit: number },
): Promise<DeliveryRow[]> {
  return reader
    .selectFrom("webhook_deliveries")
    .selectAll()
    .where("status", "=", "pending")
    .where("endpoint", "=", endpoint)
    .where("id", ">", after)
    .orderBy("id")
    .limit(limit)
    .execute();
}

/** Ends what waited too long for endpoints that are paused. @returns how many, at most `limit` */
export async function giveUpHeld(tx: Tx, now: Ts, limit: number): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable("webhook_deliveries")
    .set({ status: "failed", final: 1, next_attempt_at: null })
    .where("id", "in", (from) =>
      from
        .selectFrom("webhook_deliveries")
        .select("id")
        .where("status", "=", "pending")
        .where("endpoint", "in", (of) => of.selectFrom("webhook_endpoints").select("id").where("enabled", "=", 0))
        .where("until", "<", now)
        .limit(limit),
    )
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** How many attempts wait, up to `most`. */
export async function countPending(reader: Reader, endpoint: string, most: number): Promise<number> {
  const rows = await reader
    .selectFrom("webhook_deliveries")
    .select("id")
    .where("status", "=", "pending")
    .where("endpoint", "=", endpoint)
    .limit(most)
    .execute();
  return rows.length;
}

/** Newest first. */
export function listDeliveries(
  reader: Reader,
  endpoint: string,
  { status, before, limit }: { status: DeliveryStatus | undefined; before: Place | undefined; limit: number },
): Promise<DeliveryRow[]> {
  let query = reader.selectFrom("webhook_deliveries").selectAll().where("endpoint", "=", endpoint);
  if (status !== undefined) query = query.where("status", "=", status);
  if (before !== undefined)
    query = query.where(({ eb, refTuple, tuple }) => eb(refTuple("created_at", "id"), "<", tuple(before.t, before.id)));
  return query.orderBy("created_at", "desc").orderBy("id", "desc").limit(limit).execute();
}

/** Attempts that were made since then, by how they went. */
export async function countSent(
  reader: Reader,
  endpoint: string,
  since: Ts,
): Promise<{ succeeded: number; failed: number }> {
  const { all, succeeded } = await reader
    .selectFrom("webhook_deliveries")
    .select((select) => [
      select.fn.countAll<number>().as("all"),
      select.fn.countAll<number>().filterWhere("status", "=", "succeeded").as("succeeded"),
    ])
    .where("endpoint", "=", endpoint)
    .where("sent_at", ">=", since)
    .executeTakeFirstOrThrow();
  return { succeeded, failed: all - succeeded };
}

/**
 * The same by the hour in which they were made; hours without any are left out.
 * @returns `hour` is the start of a time stamp, up to the hour: `2026-01-31T23`
 */
export function countSentByHour(
  reader: Reader,
  endpoint: string,
  since: Ts,
): Promise<{ hour: string; status: DeliveryStatus; count: number }[]> {
  const hour = sql<string>`substr(sent_at, 1, 13)`;
  return reader
    .selectFrom("webhook_deliveries")
    .select((select) => [hour.as("hour"), "status", select.fn.countAll<number>().as("count")])
    .where("endpoint", "=", endpoint)
    .where("sent_at", ">=", since)
    .groupBy([hour, "status"])
    .execute();
}

/** Takes away expired secrets. */
export async function forgetSecrets(tx: Tx, now: Ts): Promise<void> {
  await tx
    .updateTable("webhook_endpoints")
    .set({ previous_secret: null, previous_expires_at: null })
    .where("previous_expires_at", "<=", now)
    .execute();
}

/** Of endpoints that there are no longer, and what is old. @returns how many rows went, at most `limit` */
export async function purgeDeliveries(tx: Tx, before: Ts, limit: number): Promise<number> {
  const { rows } = await sql<{ endpoint: string }>`
    with recursive found(endpoint) as (
      select min(endpoint) from webhook_deliveries
      union all
      select (select min(endpoint) from webhook_deliveries where endpoint > found.endpoint)
      from found where found.endpoint is not null
    )
    select endpoint from found where endpoint is not null
  `.execute(tx);
  const there = new Set((await tx.selectFrom("webhook_endpoints").select("id").execute()).map(({ id }) => id));
  let left = limit;
  for (const { endpoint } of rows) {
    if (left <= 0) break;
    const { numDeletedRows } = await tx
      .deleteFrom("webhook_deliveries")
      .where("id", "in", (from) =>
        from
          .selectFrom("webhook_deliveries")
          .select("id")
          .where("endpoint", "=", endpoint)
          .$if(there.has(endpoint), (of) =>
            of
              .where("created_at", "<", before)
              .where((is) => is.or([is("status", "!=", "pending"), is("until", "<", before)])),
          )
          .limit(left),
      )
      .executeTakeFirst();
    left -= Number(numDeletedRows);
  }
  return limit - left;
}

/** @returns how many rows went, at most `limit` */
export async function purgeEvents(tx: Tx, before: Ts, limit: number): Promise<number> {
  let left = limit;
  for (const { id } of await tx.selectFrom("organizations").select("id").execute()) {
    for (const testMode of [0, 1] as const) {
      if (left <= 0) break;
      const { numDeletedRows } = await tx
        .deleteFrom("webhook_events")
        .where("id", "in", (from) =>
          from
            .selectFrom("webhook_events")
            .select("id")
            .where("organization", "=", id)
            .where("test_mode", "=", testMode)
            .where("created_at", "<", before)
            .limit(left),
        )
        .executeTakeFirst();
      left -= Number(numDeletedRows);
    }
  }
  return limit - left;
}
