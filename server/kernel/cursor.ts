import { timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { invalid } from "./errors.ts";
import type { Secrets } from "./secrets.ts";

/** Place in a list ordered by `(created_at desc, id desc)`. */
export type Place = { t: string; id: string };

/** What somebody asks of a list. */
export type PageQuery = { limit: number; cursor?: string | undefined };
export type Page<T> = { data: T[]; hasMore: boolean; nextCursor: string | null };

const Payload = z.object({ v: z.literal(1), t: z.string(), id: z.string() });
const macLength = 8;

/**
 * Opaque cursor: base64url of the place and the first 8 bytes of its HMAC (contract §0.4).
 * @param list names the list, with the resource that it belongs to: a cursor of another one is refused
 */
export function encodeCursor(secrets: Secrets, list: string, place: Place): string {
  const payload = Buffer.from(JSON.stringify({ v: 1, t: place.t, id: place.id }));
  return Buffer.concat([payload, mac(secrets, list, payload)]).toString("base64url");
}

/** @throws AppError `validation-failed` that names the parameter `cursor` */
export function decodeCursor(secrets: Secrets, list: string, cursor: string): Place {
  const bytes = Buffer.from(cursor, "base64url");
  const payload = bytes.subarray(0, -macLength);
  const given = bytes.subarray(-macLength);
  // Decoding skips characters that are not base64url: only the text that we wrote counts.
  const ours = bytes.length > macLength && bytes.toString("base64url") === cursor;
  if (ours && timingSafeEqual(given, mac(secrets, list, payload))) {
    const parsed = Payload.safeParse(JSON.parse(payload.toString("utf8")));
    if (parsed.success) return { t: parsed.data.t, id: parsed.data.id };
  }
  throw invalid([{ parameter: "cursor", code: "format", detail: "This cursor was not made by this list." }]);
}

/** Cuts `limit + 1` rows to a page. */
export function pageOf<R, T>(
  secrets: Secrets,
  list: string,
  rows: readonly R[],
  limit: number,
  placeOf: (row: R) => Place,
  present: (row: R) => T,
): Page<T> {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit;
  return {
    data: page.map(present),
    hasMore,
    nextCursor: hasMore && last ? encodeCursor(secrets, list, placeOf(last)) : null,
  };
}

/**
 * One page of a list that is read whole, since it is never long.
 * @param first which of the rows stand first
 * @throws AppError `validation-failed` for a cursor that is not ours
 */
export function pageOfAll<R, T>(
  secrets: Secrets,
  list: string,
  rows: readonly R[],
  { limit, cursor }: PageQuery,
  { first, placeOf }: { first: "newest" | "oldest"; placeOf: (row: R) => Place },
  present: (row: R) => T,
): Page<T> {
  const compare = (a: Place, b: Place) => {
    const [x, y] = a.t === b.t ? [a.id, b.id] : [a.t, b.t];
    const order = x === y ? 0 : x < y ? -1 : 1;
    return first === "oldest" ? order : -order;
  };
  const after = cursor === undefined ? null : decodeCursor(secrets, list, cursor);
  const left = rows
    .filter((row) => after === null || compare(placeOf(row), after) > 0)
    .sort((a, b) => compare(placeOf(a), placeOf(b)));
  return pageOf(secrets, list, left, limit, placeOf, present);
}

function mac(secrets: Secrets, list: string, payload: Uint8Array): Uint8Array {
  return secrets.hmac("cursor", Buffer.concat([Buffer.from(`${list}\n`), payload])).subarray(0, macLength);
}
