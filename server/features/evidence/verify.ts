import { hashes, verify as verifyEd25519 } from "@noble/ed25519";
import { sha256 as nobleSha256, sha512 } from "@noble/hashes/sha2.js";
import type { AnchorKey } from "../keys/contract.ts";
import { anchorBytes, fromBase64, fromHex, leafBytes, thumbprintBytes, toBase64Url, toHex } from "./anchor.ts";
import type { Anchor, InclusionProof, Leaf } from "./contract.ts";
import { leafHash, nodeHash, type Sha256, verifyInclusion } from "./merkle.ts";

/**
 * Checks that a document stands in a signed anchor, with nothing but the bytes at hand: in a browser, in the command
 * line, in the server. Isomorphic; no trust in whoever delivered the evidence, except for the keys.
 */

// Its synchronous half needs to be told once where SHA-512 is.
hashes.sha512 = sha512;

export const sha256: Sha256 = (bytes) => nobleSha256(bytes);

export type StepName = "document" | "leaf" | "path" | "anchor" | "signature" | "key";

/** One step, with the bytes that it was about, so that anybody can repeat it. */
export type Step = {
  name: StepName;
  ok: boolean;
  /** A sentence for people. */
  detail: string;
  bytes: { label: string; value: string }[];
};

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

/** Never throws on bad evidence: a step that cannot be computed has failed. */
export function verifyEvidence(evidence: Evidence): EvidenceReport {
  const steps = [
    guarded("document", () => checkDocument(evidence)),
    guarded("leaf", () => checkLeaf(evidence)),
    guarded("path", () => checkPath(evidence)),
    guarded("anchor", () => checkAnchor(evidence)),
    guarded("signature", () => checkSignature(evidence)),
    guarded("key", () => checkKey(evidence)),
  ];
  return {
    valid: steps.every(({ ok }) => ok),
    pinned: evidence.pinnedKids?.includes(evidence.anchor.kid) ?? false,
    steps,
  };
}

type Finding = Omit<Step, "name">;

function guarded(name: StepName, check: () => Finding): Step {
  try {
    return { name, ...check() };
  } catch (error) {
    const detail = `The evidence cannot be read: ${error instanceof Error ? error.message : String(error)}.`;
    return { name, ok: false, detail, bytes: [] };
  }
}

const utf8 = new TextDecoder();

function checkDocument({ sha256: own, leaf }: Evidence): Finding {
  const ok = own === leaf.documentSha256;
  return {
    ok,
    detail: ok ? "The file is the one that the leaf names." : "The leaf names another file.",
    bytes: [
      { label: "SHA-256 of the file", value: own },
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
    detail: ok ? "The leaf has the hash that the proof starts with." : "The proof starts with another leaf.",
    bytes: [
      { label: "Leaf (RFC 8785)", value: utf8.decode(bytes) },
      { label: "SHA-256(0x00 ‖ leaf)", value: hash },
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
    detail: ok
      ? `The path leads from leaf ${proof.leafIndex} to the root over ${proof.treeSize} leaves.`
      : "The path does not lead to the root that the anchor signs.",
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
    detail: ok ? `This is anchor ${anchor.sequence}.` : "The anchor does not have the hash that it states.",
    bytes: [
      { label: "Anchor (RFC 8785)", value: utf8.decode(bytes) },
      { label: "SHA-256(anchor)", value: hash },
    ],
  };
}

function checkSignature({ anchor, keys }: Evidence): Finding {
  const key = keys.find(({ kid }) => kid === anchor.kid);
  if (!key) return { ok: false, detail: "The key of the anchor is not among the published keys.", bytes: [] };
  const ok = signatureHolds(anchor, key);
  return {
    ok,
    detail: ok ? "The anchor is signed with the published key." : "The signature of the anchor does not hold.",
    bytes: [
      { label: "Ed25519 public key", value: toHex(fromBase64(key.x)) },
      { label: "Signature", value: toHex(fromBase64(anchor.signature)) },
    ],
  };
}

/** Strictly by RFC 8032 §5.1.7, so that everybody comes to the same verdict. */
function signatureHolds(anchor: Anchor, key: AnchorKey): boolean {
  return verifyEd25519(fromBase64(anchor.signature), anchorBytes(anchor), fromBase64(key.x), { zip215: false });
}

function checkKey({ anchor, keys }: Evidence): Finding {
  const key = keys.find(({ kid }) => kid === anchor.kid);
  if (!key) return { ok: false, detail: "The key of the anchor is not among the published keys.", bytes: [] };
  const thumbprint = toBase64Url(sha256(thumbprintBytes(key.x)));
  const inTime =
    Date.parse(key.validFrom) <= Date.parse(anchor.createdAt) &&
    (key.validUntil === null || Date.parse(anchor.createdAt) <= Date.parse(key.validUntil));
  const ok = thumbprint === key.kid && inTime;
  const wrong = inTime ? "The key does not have the thumbprint that it states." : "The key was not valid at that time.";
  return {
    ok,
    detail: ok ? `The key was valid when the anchor was signed, ${anchor.createdAt}.` : wrong,
    bytes: [
      { label: "Thumbprint (RFC 7638)", value: thumbprint },
      { label: "Valid", value: `${key.validFrom} – ${key.validUntil ?? "now"}` },
    ],
  };
}
