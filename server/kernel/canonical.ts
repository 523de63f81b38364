/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/**
 * The one canonical text of a JSON value (RFC 8785, JSON Canonicalization Scheme).
 * @throws TypeError for what I-JSON (RFC 7493) cannot hold: NaN, infinities, lone surrogates, undefined.
 */
export function canonicalize(value: Json): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError("JSON has no NaN and no infinity");
    // RFC 8785 §3.2.2.3 takes ECMAScript's number text, -0 as 0: exactly what JSON.stringify gives.
    return JSON.stringify(value);
  }
  if (typeof value === "string") return text(value);
  if (isList(value)) return `[${value.map(canonicalize).join(",")}]`;
  if (typeof value !== "object") throw new TypeError(`JSON has no ${typeof value}`);
  if (!isPlain(value)) throw new TypeError("only plain objects are JSON");
  // RFC 8785 §3.2.3 sorts names by UTF-16 code units, which is what the default sort compares.
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${text(name)}:${canonicalize(value[name] as Json)}`).join(",")}}`;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** RFC 8785 §3.2.2.2: the escapes are those of JSON.stringify; a lone surrogate must end in an error. */
function text(value: string): string {
  if (!value.isWellFormed()) throw new TypeError("a lone surrogate is not Unicode text");
  return JSON.stringify(value);
}
