import { z } from "zod";

/** Schemas that every feature's contract shares (contract §0). Isomorphic. */

export const Ts = z
  .string()
  .regex(
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/,
    "Use ISO 8601 with a time zone, for example 2026-11-21T09:10:00.000Z.",
  )
  .refine((text) => !Number.isNaN(Date.parse(text)), "This is not a date that exists.")
  .meta({ format: "date-time", description: "ISO 8601, UTC, milliseconds", example: "2026-11-21T09:10:00.000Z" });
export const Day = z.iso.date();
export const Hex64 = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ description: "SHA-256, lower-case hex" });
export const Locale = z
  .string()
  .max(35)
  .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, "Use a BCP 47 language tag, for example `en` or `de-AT`.")
  // What Intl refuses would fail later, when a date or a number is written for this person.
  .refine((tag) => {
    try {
      return Intl.getCanonicalLocales(tag).length === 1;
    } catch {
      return false;
    }
  }, "This is not a well-formed language tag.")
  .meta({ description: "BCP 47 language tag" });
/** Name of a time zone (IANA). */
export const TimeZone = z
  .string()
  .max(64)
  .refine((name) => {
    try {
      return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
    } catch {
      return false;
    }
  }, "Use the name of a time zone, for example Europe/Zurich.");

/** Why the last start came to nothing, as it is kept for whoever asks while nothing runs. */
export const StartFault = z.object({ at: Ts, message: z.string() });
export type StartFault = z.infer<typeof StartFault>;
/** Where it lies for administrators, who may open the folder of the admin socket and not the data folder. */
export const startFaultBeside = (socket: string): string => `${socket}.start-fault.json`;

export const Email = z
  .string()
  .max(254)
  .regex(/^[^\s@<>"(),:;\\[\]]+@[^\s@.<>"(),:;\\[\]]+(\.[^\s@.<>"(),:;\\[\]]+)+$/, "Use an e-mail address.")
  // What reads like another address must not be one of its own: a mail server, or a look-up, may take it for the other.
  .refine(
    (address) => address.normalize("NFKC") === address && !/[\p{Cc}\p{Cf}\u3002]/u.test(address),
    "This address has characters that are invisible or stand for others: type it in plain letters.",
  )
  .meta({ format: "email" });
export const Metadata = z
  .record(
    z.string().regex(/^[A-Za-z0-9_.-]{1,40}$/, "Keys are 1 to 40 characters of A-Z a-z 0-9 _ . -"),
    z.string().max(500),
  )
  .refine((value) => Object.keys(value).length <= 50, "At most 50 keys.");

export type { Json } from "./canonical.ts";

export const actorTypes = ["user", "api_key", "recipient", "viewer", "visitor", "operator", "system"] as const;
export const Actor = z
  .object({
    type: z.enum(actorTypes),
    id: z.string().nullable(),
    name: z.string().nullable(),
    email: z.string().nullable(),
  })
  .meta({ id: "Actor" });
export type Actor = z.infer<typeof Actor>;
export const systemActor: Actor = { type: "system", id: null, name: null, email: null };

export const permissions = [
  "template:read",
  "template:write",
  "template:publish",
  "envelope:read",
  "envelope:send",
  "envelope:void",
  "org:manage",
  "billing:manage",
  "member:manage",
  "sso:manage",
  "apikey:manage",
] as const;
export const Permission = z.enum(permissions).meta({ id: "Permission" });
export type Permission = z.infer<typeof Permission>;
/** What a new key does not get unless asked for (specification, API keys 7). */
export const administrativePermissions: readonly Permission[] = [
  "org:manage",
  "member:manage",
  "sso:manage",
  "apikey:manage",
  "billing:manage",
];

/** `{ data, hasMore, nextCursor }` around one page. */
export function listOf<T extends z.ZodType>(id: string, item: T) {
  return z.object({ data: z.array(item), hasMore: z.boolean(), nextCursor: z.string().nullable() }).meta({ id });
}

const queryBoolean = z.enum(["0", "1", "true", "false"]);
/** `0|1|true|false` in a query; anything else is a validation error. */
export const QueryBoolean = queryBoolean.transform((text) => text === "1" || text === "true");
export const limitOf = (fallback: number) =>
  z
    .string()
    .regex(/^[0-9]+$/, "limit must be a whole number from 1 to 100.")
    .transform(Number)
    .pipe(z.int().min(1).max(100))
    .default(fallback)
    .meta({ description: "Entries a page, 1 to 100" });
export const Cursor = z.string().max(200).meta({ description: "`nextCursor` of the page before" });
/** Query members that every list takes. */
export const pageQuery = { limit: limitOf(20), cursor: Cursor.optional() };

export const pdf = "application/pdf";
export const docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

/** Names the operating-system user who acts on the admin socket, for the operators' audit. */
export const operatorHeader = "x-signet-operator";

/** Header in which a page of the dashboard says which organization it shows. */
export const shownOrganizationHeader = "x-signet-organization";

/** @example maskEmail("anna@example.com") === "a***@example.com" */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf("@");
  const first = [...email.slice(0, at)][0] ?? "";
  return `${first}***${email.slice(at)}`;
}
