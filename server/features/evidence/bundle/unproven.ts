import type { AnchorKey } from "../../keys/contract.ts";
import { thumbprintBytes, toBase64Url, toHex } from "../anchors/anchor.ts";
import { type Finding, sha256 } from "../verify.ts";
import type { FindingCode } from "../words.ts";
import { bundleFiles, type Files } from "./contents.ts";
import type { BundleEvidence } from "./read.ts";

/**
 * What a bundle holds, or lacks, without anything depending on it: a change there is nobody's evidence, and whoever checks is
 * told each of it by name. Everything else is verified to the last byte. Isomorphic.
 */

export type Unproven = {
  file: string;
  /** A member of a JSON file, the thumbprint of a key, the SHA-256 of a certificate, or `order`; null for the whole file. */
  part: string | null;
  reason: Extract<FindingCode, `unproven-${string}`>;
};

export type Known = {
  /** Anchor keys with their validity, as known from outside. */
  keys: readonly AnchorKey[];
  /** SHA-256 of the authorities that are trusted for seals, and of those for time stamps alone. */
  seals: readonly string[];
  timestamps: readonly string[];
};

/**
 * Each file, or part of one, that proves nothing.
 * @param token what was found of the time stamp of the anchor
 */
export function unprovenIn(files: Files, bundle: BundleEvidence, known: Known, token: FindingCode): Unproven[] {
  return [
    ...explaining(files),
    ...unprovenAnchor(bundle, token),
    ...unprovenKeys(bundle, known),
    ...unprovenAuthorities(bundle, known),
    ...missing(files),
  ];
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

function unprovenAnchor({ anchor }: BundleEvidence, token: FindingCode): Unproven[] {
  const file = bundleFiles.anchor;
  const reason = tokenReasons[token];
  return [
    // Leads from the anchor before, which is not in the bundle (RFC 6962 §2.1.2).
    ...(anchor.previousAnchorHash !== null
      ? [{ file, part: "consistency", reason: "unproven-consistency" as const }]
      : []),
    ...(reason ? [{ file, part: "timestampToken", reason }] : []),
  ];
}

/** The anchor's signature does not cover its time stamp, nor that of the time stamp its certificates. One that is broken is wrong. */
const tokenReasons: Partial<Record<FindingCode, Unproven["reason"]>> = {
  "token-absent": "unproven-token-missing",
  "token-unknown-authority": "unproven-token",
  "token-holds": "unproven-token-certificates",
};

function unprovenKeys({ anchor, keys }: BundleEvidence, known: Known): Unproven[] {
  const file = bundleFiles.keys;
  const confirmed = ({ kid, validFrom, validUntil }: AnchorKey) =>
    known.keys.some((key) => key.kid === kid && key.validFrom === validFrom && key.validUntil === validUntil);
  return [
    ...keys
      .filter((key) => !confirmed(key))
      .map(({ kid }) => ({
        file,
        part: kid,
        reason: kid === anchor.kid ? ("unproven-validity" as const) : ("unproven-key" as const),
      })),
    ...known.keys
      .filter(({ kid }) => keys.every((key) => key.kid !== kid))
      // Those that came later than the evidence are not expected there.
      .filter(({ validFrom }) => Date.parse(validFrom) <= Date.parse(anchor.createdAt))
      .map(({ kid }) => ({ file, part: kid, reason: "unproven-key-missing" as const })),
    ...unprovenOrder(
      file,
      keys.map(({ validFrom, kid }) => `${validFrom} ${kid}`),
    ),
  ];
}

/** Of each list for itself: who is trusted for time stamps alone has no place among those behind seals. */
function unprovenAuthorities({ authorities }: BundleEvidence, known: Known): Unproven[] {
  const printsOf = (list: readonly Uint8Array[]) => list.map((der) => toHex(sha256(der)));
  const [seals, timestamps] = [printsOf(authorities.seals), printsOf(authorities.timestamps)];
  // Nothing tells since when an authority is known, so that one which came later is named as well.
  const lists = [
    {
      file: bundleFiles.authorities,
      prints: seals,
      foreign: without(seals, known.seals),
      lacking: without(known.seals, seals),
    },
    {
      file: bundleFiles.timestampAuthorities,
      prints: timestamps,
      foreign: without(timestamps, [...known.seals, ...known.timestamps]),
      lacking: without(known.timestamps, [...known.seals, ...seals, ...timestamps]),
    },
  ];
  return lists.flatMap(({ file, prints, foreign, lacking }) => [
    ...foreign.map((part) => ({ file, part, reason: "unproven-authority" as const })),
    ...lacking.map((part) => ({ file, part, reason: "unproven-authority-missing" as const })),
    ...unprovenOrder(file, prints),
  ]);
}

const without = (list: readonly string[], others: readonly string[]): string[] =>
  list.filter((one) => !others.includes(one));

/** Keys stand in a bundle oldest first, certificates by their SHA-256; in older bundles certificates stood in another order. */
function unprovenOrder(file: string, listed: readonly string[]): Unproven[] {
  const inOrder = listed.every((one, index) => index === 0 || (listed[index - 1] ?? "") < one);
  return inOrder ? [] : [{ file, part: "order", reason: "unproven-order" }];
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
