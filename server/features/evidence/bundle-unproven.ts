import type { AnchorKey } from "../keys/contract.ts";
import { thumbprintBytes, toBase64Url, toHex } from "./anchor.ts";
import { bundleFiles, type Files } from "./bundle-contents.ts";
import type { BundleEvidence } from "./bundle-read.ts";
import { type Finding, sha256 } from "./verify.ts";
import type { FindingCode } from "./words.ts";

/**
 * What a bundle holds, or lacks, without anything depending on it: a change there is nobody's evidence, and whoever checks is
 * told each of it by name. Everything else is verified to the last byte. Isomorphic.
 */

export type Unproven = {
  file: string;
  /** A member of a JSON file, the thumbprint of a key, the SHA-256 of a certificate; null for the whole file. */
  part: string | null;
  reason: Extract<FindingCode, `unproven-${string}`>;
};

export type Known = {
  /** Anchor keys with their validity, as known from outside. */
  keys: readonly AnchorKey[];
  /** SHA-256 of the authorities that are trusted, of both lists. */
  authorities: readonly string[];
};

/** Each file, or part of one, that proves nothing. */
export function unprovenIn(files: Files, bundle: BundleEvidence, known: Known): Unproven[] {
  return [...explaining(files), ...unusedParts(bundle, known), ...missing(files)];
}

function explaining(files: Files): Unproven[] {
  return [bundleFiles.readme, bundleFiles.verifier]
    .filter((file) => files.has(file))
    .map((file) => ({ file, part: null, reason: "unproven-explains" }));
}

/** Files that an archive may lack: some bundles never had them, and nothing that stays says whether this one did. */
function missing(files: Files): Unproven[] {
  return [bundleFiles.readme, bundleFiles.verifier, bundleFiles.checkpoint]
    .filter((file) => !files.has(file))
    .map((file) => ({ file, part: null, reason: "unproven-missing" }));
}

function unusedParts({ anchor, keys, authorities }: BundleEvidence, known: Known): Unproven[] {
  const confirmed = ({ kid, validFrom, validUntil }: AnchorKey) =>
    known.keys.some((key) => key.kid === kid && key.validFrom === validFrom && key.validUntil === validUntil);
  const foreign = (list: readonly Uint8Array[]) =>
    list.map((der) => toHex(sha256(der))).filter((print) => !known.authorities.includes(print));
  return [
    // Leads from the anchor before, which is not in the bundle (RFC 6962 §2.1.2).
    ...(anchor.previousAnchorHash !== null
      ? [{ file: bundleFiles.anchor, part: "consistency", reason: "unproven-consistency" as const }]
      : []),
    ...keys
      .filter((key) => !confirmed(key))
      .map(({ kid }) => ({
        file: bundleFiles.keys,
        part: kid,
        reason: kid === anchor.kid ? ("unproven-validity" as const) : ("unproven-key" as const),
      })),
    ...known.keys
      .filter(({ kid }) => keys.every((key) => key.kid !== kid))
      // Those that came later than the evidence are not expected there.
      .filter(({ validFrom }) => Date.parse(validFrom) <= Date.parse(anchor.createdAt))
      .map(({ kid }) => ({ file: bundleFiles.keys, part: kid, reason: "unproven-key-missing" as const })),
    ...[
      { file: bundleFiles.authorities, prints: foreign(authorities.seals) },
      { file: bundleFiles.timestampAuthorities, prints: foreign(authorities.timestamps) },
    ].flatMap(({ file, prints }) => prints.map((part) => ({ file, part, reason: "unproven-authority" as const }))),
  ];
}

/**
 * Every key has the thumbprint that it states and stands there once, the anchor's is among them, and what is known of a key from outside is not
 * contradicted. A key may have been retired after either list was written.
 */
export function checkKeys({ keys, anchor }: BundleEvidence, known: readonly AnchorKey[]): Finding {
  for (const { x, kid } of keys)
    if (toBase64Url(sha256(thumbprintBytes(x))) !== kid) return { ok: false, code: "key-renamed" };
  if (new Set(keys.map(({ kid }) => kid)).size < keys.length) return { ok: false, code: "keys-twice" };
  if (keys.every(({ kid }) => kid !== anchor.kid)) return { ok: false, code: "key-missing" };
  const contradicted = keys.find((own) => {
    const other = known.find(({ kid }) => kid === own.kid);
    if (!other) return false;
    const ends = own.validUntil !== null && other.validUntil !== null;
    return own.validFrom !== other.validFrom || (ends && own.validUntil !== other.validUntil);
  });
  if (contradicted) return { ok: false, code: "keys-contradicted", values: { kid: contradicted.kid } };
  return { ok: true, code: "keys-fit", values: { count: keys.length } };
}
