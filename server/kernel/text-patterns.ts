import { z } from "zod";

/**
 * The rules for texts as patterns for the interface description: what ECMAScript (with `u`) and Python read alike, so without
 * `\p`, `\s` and `\d`. Isomorphic.
 */

/** What `String.prototype.trim` takes away (ECMA-262 §22.1.3.32). */
export const blank = "\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff";
/** Of these, what no text holds: it stands around one only, where it is taken away. */
const trimmedControl = "\\u000b\\u000c";
const keptBlank = blank.replace("\\t-\\r", "\\t\\n\\r");
const before = `([${blank}]*[${trimmedControl}])?`;
const after = `([${trimmedControl}][${blank}]*)?`;
/** The commonest of the further characters that nobody sees; what is made of others alone is refused all the same. */
const unseen = "\\u00ad\\u200b-\\u200f\\u2028-\\u202f\\u2060-\\u206f";
const control = "\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f";
/** Control characters, line breaks, and what turns the order of letters. */
const unfit = "\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069";
/** Of what is not seen, that which a line may begin with. */
const fitUnseen = unseen
  .replace("\\u2028-\\u202f", "\\u202f")
  .replace("\\u2060-\\u206f", "\\u2060-\\u2065\\u206a-\\u206f");

/** Blanks within a line. */
const space = " \\u00a0\\u1680\\u2000-\\u200a\\u205f\\u3000\\ufeff";
/** The first thing to see of a line, with what may stand before it, and the rest. */
const seenLine = `[${space}${fitUnseen}]*[^${blank}${unseen}${unfit}][^${unfit}]*`;

export const textPatterns = {
  /** Any number of lines. */
  lines: `^[^${control}]*$`,
  /** The same, with blanks around it that are taken away. */
  trimmedLines: `^${before}[^${control}]*${after}$`,
  /** The same with something to see. */
  someLines: `^${before}[${keptBlank}${unseen}]*[^${blank}${unseen}${control}][^${control}]*${after}$`,
  /** One line, which may be empty. */
  inLine: `^[^${unfit}]*$`,
  /** One line with something to see; blanks around it are taken away. */
  line: `^[${blank}]*${seenLine}[${blank}]*$`,
  /** One line with something to see, kept as it is. */
  key: `^${seenLine}$`,
} as const;

const mark = `${control}${blank}${unseen}\\u3002@<>"(),:;\\\\[\\]`;
/** An e-mail address; those that stand for another one by compatibility (NFKC) are refused, too. */
export const emailPattern = `^[^${mark}]+@[^.${mark}]+(\\.[^.${mark}]+)+$`;

/** A moment that the calendar has, with hours before 24 (RFC 3339 with a zone). */
export const momentPattern =
  `^${z.regexes.date.source.slice(1, -1)}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?` +
  "(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$";
