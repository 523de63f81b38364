import { z } from "zod";
import { recordOf } from "./record.ts";
import { emailPattern, momentPattern, textPatterns } from "./text-patterns.ts";

/** Schemas that every feature's contract shares (contract §0). Isomorphic. */

export const Ts = z
  .string()
  .regex(
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/,
    "Use ISO 8601 with a time zone, for example 2026-11-21T09:10:00.000Z.",
  )
  .refine(existsInCalendar, "This is not a date that exists.")
  .meta({
    pattern: momentPattern,
    format: "date-time",
    description: "ISO 8601, UTC, milliseconds",
    example: "2026-11-21T09:10:00.000Z",
  });
export const Day = z.iso.date("Use a date that exists, of the form YYYY-MM-DD.");

/** `Date.parse` takes 30 February for 2 March, and 24:00 for the next day. */
function existsInCalendar(text: string): boolean {
  const found = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d/.exec(text);
  if (found?.[1] === undefined || Number.isNaN(Date.parse(text))) return false;
  const midnight = new Date(`${found[1]}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(found[1]);
}

export const Hex64 = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ description: "SHA-256, lower-case hex" });
/**
 * Language, script, region and variants, none of these twice (UTS 35, unicode_language_id). The length comes first: looking for
 * what stands twice takes quadratic time, and a schema's `max` does not keep its other checks from running.
 */
const languageTag =
  /^(?=.{2,35}$)(?!.*-([A-Za-z0-9]+)(-.*)?-\1(-|$))[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*$/;
export const Locale = z
  .string()
  .max(35)
  .regex(languageTag, "Use a BCP 47 language tag, for example `en` or `de-AT`.")
  // What Intl refuses would fail later, when a date or a number is written for this person.
  .refine((tag) => {
    if (!languageTag.test(tag)) return true;
    try {
      return Intl.getCanonicalLocales(tag).length === 1;
    } catch {
      return false;
    }
  }, "This is not a well-formed language tag.")
  .meta({ description: "BCP 47 language tag" });
const languageNames = new Intl.DisplayNames("en", { type: "language", fallback: "none" });
/** A language that somebody asks for: there must be one of this name. Its texts are English until there is a catalogue. */
export const GivenLocale = Locale.refine((tag) => isLanguage(tag), {
  error: ({ input }) => `There is no language \`${String(input).split("-", 1)[0]}\`.`,
  params: { code: "enum" },
});
function isLanguage(tag: string): boolean {
  const [language = ""] = tag.toLowerCase().split("-", 1);
  // What is not well-formed was refused for that.
  return !/^[a-z]{2,3}$/.test(language) || languageNames.of(language) !== undefined;
}
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

/** What no text holds: control characters (Unicode Cc) but tab and line breaks. */
const unprintable = /(?![\t\n\r])\p{Cc}/u;
/**
 * What one line does not hold either: breaks, and the characters that turn the order of the letters around them (UAX #9), since
 * what is read would not be what is stored. Marks (U+200E, U+200F, U+061C) turn nothing, and names in Arabic or Hebrew need them.
 */
const unfitInLine = /[\t\n\r\u2028\u2029\u202a-\u202e\u2066-\u2069]/;
const invisible = /^[\s\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800]*$/u;
const controls = { error: "Control characters are not allowed here.", params: { code: "pattern" } };
function hasNoControls(text: string): boolean {
  return !unprintable.test(text);
}
const isOneLine = (text: string): boolean => !unfitInLine.test(text);
const line = {
  error: "This must be a single line, without characters that turn the direction of writing.",
  params: { code: "pattern" },
};
/** Whether something of it can be seen; of an empty text nothing has to be. */
export const isSeen = (text: string): boolean => text === "" || !invisible.test(text);

/**
 * Whether a text may be kept and shown.
 * @param lines how many it may have
 */
export function isPlainText(text: string, lines: "one" | "many"): boolean {
  return hasNoControls(text) && (lines === "many" || isOneLine(text));
}

/** A name, a title, a label: one line of 1 to `max` characters without the blanks around it, of which at least one can be seen. */
export const Line = (max: number) =>
  z
    .string()
    .trim()
    .min(1, "This must not be blank.")
    .max(max)
    .refine(isSeen, { error: "This must not be blank.", params: { code: "min" } })
    .refine(hasNoControls, controls)
    .refine(isOneLine, line)
    .meta({ pattern: textPatterns.line });
/** The same where each character counts, since it is compared as it stands: the name of a role, an id of another system. */
export const Key = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine(isSeen, { error: "This must not be blank.", params: { code: "min" } })
    .refine(hasNoControls, controls)
    .refine(isOneLine, line)
    .meta({ pattern: textPatterns.key });
/** Somebody's words, of any number of lines: 0 to `max` characters without the blanks around them. */
export const Lines = (max: number) =>
  z.string().trim().max(max).refine(hasNoControls, controls).meta({ pattern: textPatterns.trimmedLines });
/** Words that are asked for, such as a reason. */
export const SomeLines = (max: number, asked = "This must not be blank.") =>
  z
    .string()
    .trim()
    .min(1, asked)
    .max(max)
    .refine(isSeen, { error: asked, params: { code: "min" } })
    .refine(hasNoControls, controls)
    .meta({ pattern: textPatterns.someLines });

/** What a list is searched or filtered by. */
export const QueryText = (max: number) =>
  z.string().max(max).refine(hasNoControls, controls).meta({ pattern: textPatterns.lines });

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
    (address) => address.normalize("NFKC") === address && !/[\p{Cc}\p{Cf}\u2065\u3002]/u.test(address),
    "This address has characters that are invisible or stand for others: type it in plain letters.",
  )
  .meta({ format: "email", pattern: emailPattern });
export const Metadata = recordOf(
  z.string().regex(/^[A-Za-z0-9_.-]{1,40}$/, "Keys are 1 to 40 characters of A-Z a-z 0-9 _ . -"),
  z.string().max(500).refine(hasNoControls, controls),
)
  .refine((value) => Object.keys(value).length <= 50, "At most 50 keys.")
  .meta({ maxProperties: 50 });

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
    .meta({
      description: "Entries a page, 1 to 100",
      // In a query it is text; in the interface description it is the number that it stands for.
      override: ({ jsonSchema }) => {
        delete jsonSchema.pattern;
        Object.assign(jsonSchema, { type: "integer", minimum: 1, maximum: 100, default: fallback });
      },
    });
export const Cursor = z
  .string()
  .max(200)
  .meta({ description: "`nextCursor` of the page before", pattern: "^[A-Za-z0-9_-]+$" });
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
