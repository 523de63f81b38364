import { AppError } from "./errors.ts";

/** Deeper bodies are refused: no schema of ours needs more, and recursive code must not meet them. */
const mostDepth = 64;

/**
 * Parses the bytes of a JSON body (RFC 8259): UTF-8 only, bounded depth.
 * @throws AppError `malformed-request`
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (depthOf(bytes) > mostDepth) {
    throw new AppError("malformed-request", { detail: `The body is nested deeper than ${mostDepth} levels.` });
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new AppError("malformed-request", { detail: "The body is not valid UTF-8.", cause });
  }
  try {
    return suspicious.test(text) ? JSON.parse(text, onlyStorable) : JSON.parse(text);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError("malformed-request", { detail: `The body is not valid JSON${placeOf(cause)}.`, cause });
  }
}

const suspicious = /\\u(?:[dD][89a-fA-F]|0000)/;

/** Escapes can spell what no text may hold: lone surrogates (RFC 7493 §2.1) and U+0000, which databases cut or refuse. */
function onlyStorable(key: string, value: unknown): unknown {
  for (const text of [key, value]) {
    if (typeof text === "string" && (!text.isWellFormed() || text.includes("\u0000"))) {
      throw new AppError("malformed-request", { detail: "The body holds a lone surrogate or the character U+0000." });
    }
  }
  return value;
}

/** V8 names the place only in its message; the sentence is ours, the position is all we take. */
function placeOf(cause: unknown): string {
  const found = cause instanceof Error ? /at position (\d+)/.exec(cause.message) : null;
  return found ? ` (at byte ${found[1]})` : "";
}

const quote = 0x22;
const backslash = 0x5c;

/** Deepest nesting of brackets outside strings, without parsing. */
function depthOf(bytes: Uint8Array): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (inString) {
      if (byte === backslash) i++;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if (byte === 0x7b || byte === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return deepest;
}
