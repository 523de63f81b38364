import { timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { invalid } from "./errors.ts";
import type { Secrets } from "./secrets.ts";

/** Place in a list ordered by `(created_at desc, id desc)`. */
export type Place = { t: string; id: string };

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
): { data: T[]; hasMore: boolean; nextCursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit;
  return {
    data: page.map(present),
    hasMore,
    nextCursor: hasMore && last ? encodeCursor(secrets, list, placeOf(last)) : null,
  };
}

function mac(secrets: Secrets, list: string, payload: Uint8Array): Uint8Array {
  return secrets.hmac("cursor", Buffer.concat([Buffer.from(`${list}\n`), payload])).subarray(0, macLength);
}
