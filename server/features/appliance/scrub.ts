import { type Config, describeSettings } from "../../config.ts";
import { maskEmail } from "../../kernel/wire.ts";

/** Takes out of a text what a helper must not read: secrets of the settings, tokens and keys of every kind, addresses of people. */

/** Shorter ones would be found in ordinary words; the settings ask for longer ones. */
const shortestSecret = 4;

export function scrubber(config: Config): (text: string) => string {
  const secrets = secretsOf(config);
  return (text) => {
    let shown = text;
    for (const secret of secrets) shown = shown.replaceAll(secret, "[redacted]");
    for (const [pattern, put] of patterns) shown = shown.replace(pattern, put);
    return shown.replace(address, maskEmail);
  };
}

const patterns: readonly [RegExp, string][] = [
  [/-----BEGIN [A-Z0-9 ]+-----[\s\S]*?(-----END [A-Z0-9 ]+-----|$)/g, "[redacted PEM]"],
  // Our own tokens, in links too.
  [/\bsvc[a-z]*_[A-Za-z0-9_-]{10,}/g, "[redacted]"],
  [/\b(Bearer|Basic) +[A-Za-z0-9+/=._~-]+/gi, "$1 [redacted]"],
  [/\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?/g, "[redacted]"],
  // User and password of a URL.
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+@/gi, "$1[redacted]@"],
];
/** In any script (RFC 6531). */
const address = /[\p{L}\p{M}\p{N}.!#$%&'*+/=?^_`{|}~-]+@[\p{L}\p{M}\p{N}-]+(\.[\p{L}\p{M}\p{N}-]+)+/gu;

/** Values of secret settings, as they are and as parts and encodings of them appear elsewhere. Longest first. */
function secretsOf({ given }: Config): string[] {
  const found = new Set<string>();
  for (const { key, secret } of describeSettings()) {
    const value = given.environment[key] ?? given.file[key];
    if (!secret || typeof value !== "string") continue;
    // Of a URL only the password is secret: the host is what a helper has to see. Another may look like one.
    const url = /^smtps?:/.test(value) ? URL.parse(value) : null;
    const parts = url === null ? [value] : [url.password, decoded(url.password)];
    for (const part of parts) for (const form of [part, ...quotedForms(part)]) found.add(form);
  }
  return [...found].filter(({ length }) => length >= shortestSecret).sort((a, b) => b.length - a.length);
}

/** As it stands in base64, in JSON, and in JSON that is a text of another JSON. */
function quotedForms(secret: string): string[] {
  const once = JSON.stringify(secret).slice(1, -1);
  return [Buffer.from(secret).toString("base64"), once, JSON.stringify(once).slice(1, -1)];
}

/** A percent sign that encodes nothing is one. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
