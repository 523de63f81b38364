import { hashes, verify as verifyEd25519 } from "@noble/ed25519";
import { sha256 as nobleSha256, sha512 } from "@noble/hashes/sha2.js";
import type { AnchorKey } from "../keys/contract.ts";
import { anchorBytes, fromBase64, fromHex, leafBytes, thumbprintBytes, toBase64Url, toHex } from "./anchors/anchor.ts";
import { leafHash, nodeHash, type Sha256, verifyInclusion } from "./anchors/merkle.ts";
import type { Anchor, InclusionProof, Leaf } from "./contract.ts";
import { type FindingCode, type FindingValues, findingText, type SayEvidence, type StepName } from "./words.ts";

/**
 * Checks that a document stands in a signed anchor, with nothing but the bytes at hand: in a browser, in the command
 * line, in the server. Isomorphic; no trust in whoever delivered the evidence, except for the keys.
 */

// Its synchronous half needs to be told once where SHA-512 is.
hashes.sha512 = sha512;

export const sha256: Sha256 = (bytes) => nobleSha256(bytes);

/** One step, with the bytes that it was about, so that anybody can repeat it. */
export type Step = {
  name: StepName;
  /** Null for what is not judged: nothing is claimed then. */
  ok: boolean | null;
  /** What was found, one code a cause, and what the sentence of it is filled in with. */
  code: FindingCode;
  values: FindingValues;
  /** `label` is one of `labels` of the catalogue, or a name that stands as it is. */
  bytes: { label: string; value: string }[];
};

/** What a check found, before its step has a name. */
export type Finding = Pick<Step, "ok" | "code"> & { values?: FindingValues; bytes?: Step["bytes"] };

export const stepOf = (name: StepName, { ok, code, values = {}, bytes = [] }: Finding): Step => ({
  name,
  ok,
  code,
  values,
  bytes,
});

/** A step as reports hold it, with its sentence. */
export type SaidStep = Step & { detail: string };

export const saidStep = (t: SayEvidence, { name, ok, code, values, bytes }: Step): SaidStep => ({
  name,
  ok,
  code,
  values,
  detail: findingText(t, code, values),
  bytes,
});

export type EvidenceReport = {
  /** Every step holds. */
  valid: boolean;
  /** The anchor's key is one of the pinned ones: without that a forger could bring his own. */
  pinned: boolean;
  steps: Step[];
};

export type Evidence = {
  /** SHA-256 of the file, lower-case hex, computed by whoever checks. */
  sha256: string;
  leaf: Leaf;
  proof: InclusionProof;
  anchor: Anchor;
  keys: readonly AnchorKey[];
  /** Thumbprints (`kid`) that are trusted from elsewhere. */
  pinnedKids?: readonly string[] | undefined;
};

/** What is known of a key from elsewhere counts, its validity above all; of the others the evidence's own word. */
export function keysUnder(
  given: readonly AnchorKey[],
  pins: { kids: readonly string[]; keys?: readonly AnchorKey[] },
): { keys: AnchorKey[]; pinnedKids: string[] } {
  const known = pins.keys ?? [];
  const others = given.filter(({ kid }) => known.every((key) => key.kid !== kid));
  return { keys: [...known, ...others], pinnedKids: [...pins.kids, ...known.map(({ kid }) => kid)] };
}

/** Never throws on bad evidence: a step that cannot be computed has failed. */
export function verifyEvidence(evidence: Evidence): EvidenceReport {
  const steps = [
    guarded("document", () => checkDocument(evidence)),
    guarded("leaf", () => checkLeaf(evidence)),
    ...(evidence.leaf.testMode ? [stepOf("leaf", { ok: null, code: "leaf-test" })] : []),
    guarded("path", () => checkPath(evidence)),
    guarded("anchor", () => checkAnchor(evidence)),
    guarded("signature", () => checkSignature(evidence)),
    guarded("key", () => checkKey(evidence)),
  ];
  return {
    valid: steps.every(({ ok }) => ok !== false),
    pinned: evidence.pinnedKids?.includes(evidence.anchor.kid) ?? false,
    steps,
  };
}

/** What a check found that cannot go on. */
export class CheckFault extends Error {
  readonly finding: Finding;
  constructor(finding: Finding) {
    super(finding.code);
    this.finding = finding;
  }
}

/** What a check throws is what it found. */
export function guarded(name: StepName, check: () => Finding): Step {
  try {
    return stepOf(name, check());
  } catch (error) {
    return stepOf(name, findingOf(error));
  }
}

export function findingOf(error: unknown): Finding {
  if (error instanceof CheckFault) return error.finding;
  return { ok: false, code: "unreadable", values: { reason: error instanceof Error ? error.message : String(error) } };
}

const utf8 = new TextDecoder();

function checkDocument({ sha256: own, leaf }: Evidence): Finding {
  const ok = own === leaf.documentSha256;
  return {
    ok,
    code: ok ? "document-fits" : "document-differs",
    bytes: [
      { label: "sha256-file", value: own },
      { label: "documentSha256", value: leaf.documentSha256 },
    ],
  };
}

function checkLeaf({ leaf, proof }: Evidence): Finding {
  const bytes = leafBytes(leaf);
  const hash = toHex(leafHash(sha256, bytes));
  const ok = hash === proof.leafHash;
  return {
    ok,
    code: ok ? "leaf-fits" : "leaf-differs",
    bytes: [
      { label: "leaf", value: utf8.decode(bytes) },
      { label: "leafHash", value: hash },
    ],
  };
}

function checkPath({ leaf, proof, anchor }: Evidence): Finding {
  const given = {
    leafHash: leafHash(sha256, leafBytes(leaf)),
    index: proof.leafIndex,
    size: proof.treeSize,
    path: proof.path.map(fromHex),
    root: fromHex(anchor.rootHash),
  };
  const ok = proof.treeSize === anchor.treeSize && verifyInclusion(sha256, given);
  return {
    ok,
    code: ok ? "path-fits" : "path-differs",
    values: { index: proof.leafIndex, size: proof.treeSize },
    bytes: [...climb(proof, given.leafHash), { label: "rootHash", value: anchor.rootHash }],
  };
}

/** The hash after each step of the path (RFC 9162 §2.1.3.2), for the eye. */
function climb(proof: InclusionProof, leaf: Uint8Array): Step["bytes"] {
  let [node, last, hash] = [proof.leafIndex, proof.treeSize - 1, leaf];
  return proof.path.map((sibling) => {
    const onLeft = node % 2 === 1 || node === last;
    hash = onLeft ? nodeHash(sha256, fromHex(sibling), hash) : nodeHash(sha256, hash, fromHex(sibling));
    if (onLeft) while (node % 2 === 0 && node !== 0) [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
    [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
    const side = onLeft ? `SHA-256(0x01 ‖ ${sibling} ‖ …)` : `SHA-256(0x01 ‖ … ‖ ${sibling})`;
    return { label: side, value: toHex(hash) };
  });
}

function checkAnchor({ anchor }: Evidence): Finding {
  const bytes = anchorBytes(anchor);
  const hash = toHex(sha256(bytes));
  const ok = hash === anchor.anchorHash;
  return {
    ok,
    code: ok ? "anchor-fits" : "anchor-differs",
    values: { sequence: anchor.sequence },
    bytes: [
      { label: "anchor", value: utf8.decode(bytes) },
      { label: "anchorHash", value: hash },
    ],
  };
}

function checkSignature({ anchor, keys }: Evidence): Finding {
  const key = keys.find(({ kid }) => kid === anchor.kid);
  if (!key) return { ok: false, code: "key-missing" };
  const ok = signatureHolds(anchor, key);
  return {
    ok,
    code: ok ? "signature-holds" : "signature-broken",
    bytes: [
      { label: "kid", value: anchor.kid },
      { label: "publicKey", value: toHex(fromBase64(key.x)) },
      { label: "signature", value: toHex(fromBase64(anchor.signature)) },
    ],
  };
}

/** Strictly by RFC 8032 §5.1.7, so that everybody comes to the same verdict. */
function signatureHolds(anchor: Anchor, key: AnchorKey): boolean {
  return verifyEd25519(fromBase64(anchor.signature), anchorBytes(anchor), fromBase64(key.x), { zip215: false });
}

function checkKey({ anchor, keys }: Evidence): Finding {
  const key = keys.find(({ kid }) => kid === anchor.kid);
  if (!key) return { ok: false, code: "key-missing" };
  const thumbprint = toBase64Url(sha256(thumbprintBytes(key.x)));
  const inTime =
    Date.parse(key.validFrom) <= Date.parse(anchor.createdAt) &&
    (key.validUntil === null || Date.parse(anchor.createdAt) <= Date.parse(key.validUntil));
  const ok = thumbprint === key.kid && inTime;
  return {
    ok,
    code: ok ? "key-fits" : inTime ? "key-renamed" : "key-not-valid",
    values: { at: anchor.createdAt },
    bytes: [
      { label: "kid", value: thumbprint },
      { label: "validity", value: `${key.validFrom} – ${key.validUntil ?? ""}` },
    ],
  };
}
