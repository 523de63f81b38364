import { z } from "zod";
import { endpoint } from "../../kernel/endpoint.ts";
import { Cursor, Hex64, limitOf, listOf, pdf, Ts } from "../../kernel/wire.ts";
import { AuditEntry } from "../envelopes/audit-contract.ts";

/** Verification without trust in the service (contract §12). Isomorphic. */

const Base64 = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/);

export const Leaf = z
  .object({
    v: z.literal(1),
    type: z.literal("svc.leaf"),
    envelope: z.string(),
    documentSha256: Hex64.meta({ description: "The sealed PDF" }),
    auditHash: Hex64.meta({ description: "Hash of the audit entry `envelope.sealed`" }),
    sealedAt: Ts,
    testMode: z.boolean(),
  })
  .meta({ id: "Leaf", description: "What the tree holds of a sealed document: SHA-256(0x00 ‖ RFC 8785 text of this)" });
export type Leaf = z.infer<typeof Leaf>;

export const InclusionProof = z
  .object({
    leafIndex: z.int().min(0),
    treeSize: z.int().min(1),
    leafHash: Hex64,
    path: z.array(Hex64).meta({ description: "From the leaf to the root (RFC 6962 §2.1.1)" }),
  })
  .meta({ id: "InclusionProof" });
export type InclusionProof = z.infer<typeof InclusionProof>;

export const AnchorBody = z.object({
  v: z.literal(1),
  type: z.literal("svc.anchor"),
  sequence: z.int().min(1),
  treeSize: z.int().min(1),
  rootHash: Hex64,
  previousAnchorHash: Hex64.nullable(),
  createdAt: Ts,
  kid: z.string(),
});
export type AnchorBody = z.infer<typeof AnchorBody>;

export const Anchor = AnchorBody.extend({
  anchorHash: Hex64.meta({ description: "SHA-256 of the RFC 8785 text of the members above" }),
  signature: Base64.meta({ description: "Ed25519 over the same text" }),
  consistency: z.array(Hex64).meta({ description: "Proof from the previous treeSize (RFC 6962 §2.1.2)" }),
  timestampToken: Base64.nullable().meta({ description: "RFC 3161, over anchorHash" }),
}).meta({ id: "Anchor" });
export type Anchor = z.infer<typeof Anchor>;
export const AnchorList = listOf("AnchorList", Anchor);

export const EnvelopeSummary = z
  .object({
    id: z.string(),
    title: z.string(),
    status: z.enum(["rendering", "sent", "completed", "declined", "voided", "expired"]),
    testMode: z.boolean(),
    organization: z.string(),
    createdAt: Ts,
    completedAt: Ts,
    sealedAt: Ts,
    pageCount: z.int(),
    signers: z.array(z.object({ role: z.string(), completedAt: Ts })),
  })
  .meta({ id: "EnvelopeSummary", description: "Without names and addresses of people" });
export type EnvelopeSummary = z.infer<typeof EnvelopeSummary>;

export const VerifyRequest = z
  .strictObject({
    sha256: z
      .string()
      .regex(/^[0-9A-Fa-f]{64}$/, "Give the SHA-256 of the document as 64 hexadecimal characters.")
      .transform((text) => text.toLowerCase()),
  })
  .meta({
    id: "VerifyRequest",
    example: { sha256: "c63ebdcbe00c06b7d93143056be2bb37d7edc77c5076c1dd3b1c9931f36ddb8a" },
  });

const certified = {
  envelope: EnvelopeSummary,
  /** Names the certificate; the leaf names the entry. */
  entry: AuditEntry,
  leaf: Leaf,
};
export const CertificateMatch = z
  .discriminatedUnion("status", [
    z.object({ ...certified, status: z.literal("pending"), proof: z.null(), anchor: z.null() }),
    z.object({ ...certified, status: z.literal("anchored"), proof: InclusionProof, anchor: Anchor }),
  ])
  .meta({
    id: "CertificateMatch",
    description:
      "The SHA-256 is that of an envelope's standalone certificate of completion: `entry.data.certificateSha256` is it (absent in entries of the first versions, which prove nothing of the certificate), the SHA-256 of the RFC 8785 text of `entry` without `hash` is `leaf.auditHash`, and `leaf.documentSha256` is the sealed document that it certifies",
  });
export type CertificateMatch = z.infer<typeof CertificateMatch>;

export const VerifyResult = z
  .discriminatedUnion("status", [
    z.object({
      status: z.literal("unknown").meta({ description: "No sealed document has this SHA-256" }),
      sha256: Hex64,
      envelope: z.null(),
      leaf: z.null(),
      proof: z.null(),
      anchor: z.null(),
      certificate: CertificateMatch.optional(),
    }),
    z.object({
      status: z.literal("pending"),
      sha256: Hex64,
      envelope: EnvelopeSummary,
      leaf: Leaf,
      proof: z.null(),
      anchor: z.null(),
    }),
    z.object({
      status: z.literal("anchored"),
      sha256: Hex64,
      envelope: EnvelopeSummary,
      leaf: Leaf,
      proof: InclusionProof,
      anchor: Anchor,
    }),
  ])
  .meta({ id: "VerifyResult" });
export type VerifyResult = z.infer<typeof VerifyResult>;

const anchorsLimit = { name: "anchors", points: 240, seconds: 60 };
const sequence = z.object({ sequence: z.string().meta({ pattern: "^[1-9][0-9]{0,15}$" }) });
const anchorCache = "public, max-age=300";

export const listAnchors = endpoint({
  method: "GET",
  path: "/v1/public/anchors",
  id: "listAnchors",
  tag: "Verification",
  summary: "Signed anchors, newest first",
  credential: "public",
  rateLimit: anchorsLimit,
  query: z.object({ limit: limitOf(20), cursor: Cursor.optional() }),
  responses: { 200: { kind: "json", schema: AnchorList } },
  errors: ["validation-failed", "rate-limited"],
  // The newest page changes with each anchor, and nobody should wait for one that exists.
  cache: "public, max-age=10",
});

export const latestAnchor = endpoint({
  method: "GET",
  path: "/v1/public/anchors/latest",
  id: "getLatestAnchor",
  tag: "Verification",
  summary: "The latest signed anchor",
  credential: "public",
  rateLimit: anchorsLimit,
  responses: { 200: { kind: "json", schema: Anchor } },
  errors: ["not-found", "rate-limited"],
  cache: "public, max-age=10",
});

export const getAnchor = endpoint({
  method: "GET",
  path: "/v1/public/anchors/{sequence}",
  id: "getAnchor",
  tag: "Verification",
  summary: "An anchor by its sequence number",
  credential: "public",
  rateLimit: anchorsLimit,
  params: sequence,
  responses: { 200: { kind: "json", schema: Anchor } },
  errors: ["not-found", "rate-limited"],
  cache: anchorCache,
});

export const noteType = "text/plain";

export const getCheckpoint = endpoint({
  method: "GET",
  path: "/v1/public/anchors/{sequence}/checkpoint",
  id: "getAnchorCheckpoint",
  tag: "Verification",
  summary: "The same anchor as a signed note (C2SP tlog-checkpoint), for the tools of public logs",
  credential: "public",
  rateLimit: anchorsLimit,
  params: sequence,
  responses: { 200: { kind: "bytes", types: [noteType], description: "Origin, tree size, root; signed with Ed25519" } },
  errors: ["not-found", "rate-limited"],
  cache: anchorCache,
});

export const AnchorWitnesses = z
  .object({ data: z.array(z.object({ witness: z.enum(["folder", "url", "mail"]), at: Ts })) })
  .meta({
    id: "AnchorWitnesses",
    description: "Who was told an anchor and confirmed it; they hold it independently of this service",
    example: { data: [{ witness: "folder", at: "2026-11-21T12:00:00.000Z" }] },
  });
export type AnchorWitnesses = z.infer<typeof AnchorWitnesses>;

export const getWitnesses = endpoint({
  method: "GET",
  path: "/v1/public/anchors/{sequence}/witnesses",
  id: "getAnchorWitnesses",
  tag: "Verification",
  summary: "Which witnesses took an anchor, and when",
  credential: "public",
  rateLimit: anchorsLimit,
  params: sequence,
  responses: { 200: { kind: "json", schema: AnchorWitnesses } },
  errors: ["not-found", "rate-limited"],
  // Receipts come after the anchor.
  cache: "public, max-age=10",
});

export const verifyDocument = endpoint({
  method: "POST",
  path: "/v1/public/verify",
  id: "verifyDocument",
  tag: "Verification",
  summary: "Looks up a sealed document by its SHA-256",
  credential: "public",
  rateLimit: { name: "verify", points: 60, seconds: 60 },
  body: { kind: "json", schema: VerifyRequest, maxBytes: 1024 },
  responses: { 200: { kind: "json", schema: VerifyResult } },
  errors: ["malformed-request", "validation-failed", "payload-too-large", "unsupported-media-type", "rate-limited"],
});

export const downloadDocument = endpoint({
  method: "GET",
  path: "/v1/public/documents/{token}",
  id: "downloadDocument",
  tag: "Verification",
  summary: "Downloads a sealed PDF with the link from a completion e-mail",
  credential: "public",
  rateLimit: { name: "public-documents", points: 60, seconds: 60 },
  params: z.object({ token: z.string() }),
  responses: { 200: { kind: "bytes", types: [pdf] } },
  errors: ["not-found", "link-expired", "rate-limited"],
});

export const zipType = "application/zip";

export const getEvidence = endpoint({
  method: "GET",
  path: "/v1/envelopes/{id}/evidence",
  id: "getEnvelopeEvidence",
  tag: "Envelopes",
  summary: "Downloads the evidence bundle of a sealed envelope: everything to check it without any server",
  credential: "key",
  permission: "envelope:read",
  params: z.object({ id: z.string() }),
  responses: { 200: { kind: "stream", types: [zipType], description: "The bundle, once an anchor covers the seal" } },
  errors: ["document-not-ready"],
});

export const endpoints = [
  listAnchors,
  latestAnchor,
  getAnchor,
  getCheckpoint,
  getWitnesses,
  verifyDocument,
  downloadDocument,
  getEvidence,
] as const;
