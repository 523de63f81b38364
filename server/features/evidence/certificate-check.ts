import { z } from "zod";
import { canonicalize } from "../../kernel/canonical.ts";
import type { AuditEntry } from "../envelopes/audit-contract.ts";
import type { AnchorKey } from "../keys/contract.ts";
import { toHex } from "./anchors/anchor.ts";
import type { Anchor, InclusionProof, Leaf } from "./contract.ts";
import { type EvidenceReport, type Finding, guarded, sha256, verifyEvidence } from "./verify.ts";

/**
 * Checks that a file is the standalone certificate of completion of an envelope. Its seal alone proves that the installation
 * made it, not for what: what binds it is the audit entry of the seal, which names its SHA-256, and which the leaf of the
 * sealed document names. Isomorphic.
 */

export type CertificateEvidence = {
  /** SHA-256 of the file, lower-case hex, computed by whoever checks. */
  sha256: string;
  /** The audit entry that is said to name it. */
  entry: z.infer<typeof AuditEntry>;
  leaf: Leaf;
  /** Null while no anchor covers the leaf. */
  proof: InclusionProof | null;
  anchor: Anchor | null;
  keys: readonly AnchorKey[];
  pinnedKids?: readonly string[] | undefined;
};

/** Never throws on bad evidence: a step that cannot be computed has failed. */
export function verifyCertificate(evidence: CertificateEvidence): EvidenceReport {
  const { entry, leaf, proof, anchor, keys, pinnedKids } = evidence;
  const own = [
    guarded("certificate", () => checkNamed(entry, evidence.sha256)),
    guarded("entry", () => checkEntry(entry, leaf)),
  ];
  // The document itself is not at hand.
  const record =
    proof && anchor
      ? verifyEvidence({ sha256: leaf.documentSha256, leaf, proof, anchor, keys, pinnedKids })
      : { steps: [], pinned: true };
  const steps = [...own, ...record.steps.filter(({ name }) => name !== "document")];
  return { valid: steps.every(({ ok }) => ok !== false), pinned: record.pinned, steps };
}

type Naming = { data: Readonly<Record<string, unknown>> };

/** The certificate of completion is the one that this entry names. @param own SHA-256 of the certificate */
export function checkNamed(entry: Naming | undefined, own: string): Finding {
  const named = entry?.data.certificateSha256;
  const bytes = [
    { label: "sha256-file", value: own },
    ...(typeof named === "string" ? [{ label: "certificateNamed", value: named }] : []),
  ];
  // Entries of the first versions named none.
  if (named === undefined) return { ok: null, code: "certificate-unnamed", bytes };
  return { ok: named === own, code: named === own ? "certificate-fits" : "certificate-other", bytes };
}

function checkEntry(entry: CertificateEvidence["entry"], leaf: Leaf): Finding {
  const text = entryText(entry);
  const own = hashOf(text);
  const ok = own === entry.hash && own === leaf.auditHash && entry.envelope === leaf.envelope && isSealOf(entry, leaf);
  return {
    ok,
    code: ok ? "entry-fits" : "entry-differs",
    values: { envelope: leaf.envelope },
    bytes: [
      { label: "entry", value: text },
      { label: "entryHash", value: own },
      { label: "auditHash", value: leaf.auditHash },
      { label: "documentSha256", value: leaf.documentSha256 },
    ],
  };
}

/** The entry says that the document of the leaf was sealed, or its seal extended. */
export const isSealOf = ({ type, data }: Naming & { type: string }, leaf: Leaf): boolean =>
  (type === "envelope.sealed" || type === "envelope.seal_extended") && data.sealedSha256 === leaf.documentSha256;

/** What `hash` of an audit entry is over (contract §4). */
const entryText = ({ hash: _, ...entry }: CertificateEvidence["entry"]): string => canonicalize(z.json().parse(entry));

const hashOf = (text: string): string => toHex(sha256(new TextEncoder().encode(text)));

/** SHA-256 of an audit entry, as its `hash` must say. */
export const entryHash = (entry: CertificateEvidence["entry"]): string => hashOf(entryText(entry));
