import { z } from "zod";
import { canonicalize, type Json } from "../../../kernel/canonical.ts";
import { AuditEntry } from "../../envelopes/audit-contract.ts";
import { type AnchorKey, AnchorKeys } from "../../keys/contract.ts";
import { fromBase64, toBase64 } from "../anchors/anchor.ts";
import { Anchor, InclusionProof, Leaf } from "../contract.ts";
import { CheckFault } from "../verify.ts";
import { bundleFiles, type Files } from "./contents.ts";

/** Reads the evidence in the files of a bundle, each as it must be written. Isomorphic. */

/** The JSON files of a bundle. */
export type BundleEvidence = {
  audit: z.infer<typeof AuditEntry>[];
  leaf: Leaf;
  proof: InclusionProof;
  anchor: Anchor;
  keys: AnchorKey[];
  authorities: { seals: Uint8Array[]; timestamps: Uint8Array[] };
  /** The anchor as a signed note; anchors of the first versions have none. */
  note: string | null;
};

const utf8 = new TextDecoder("utf-8", { fatal: true });

const fault = (code: "file-missing" | "file-not-canonical" | "file-wrong", file: string): CheckFault =>
  new CheckFault({ ok: false, code, values: { file } });

/** A file as it must be: the one canonical text of its value, so that no byte can differ. @throws CheckFault */
function jsonOf<T>(files: Files, name: string, schema: z.ZodType<T>): T {
  const bytes = fileOf(files, name);
  let value: Json;
  let text: string;
  try {
    text = utf8.decode(bytes);
    value = z.json().parse(JSON.parse(text));
  } catch {
    throw fault("file-wrong", name);
  }
  if (canonicalize(value) !== text) throw fault("file-not-canonical", name);
  const parsed = schema.safeParse(value);
  // A member that nobody knows is one that nobody checks.
  if (!parsed.success || canonicalize(z.json().parse(parsed.data)) !== text) throw fault("file-wrong", name);
  return parsed.data;
}

function fileOf(files: Files, name: string): Uint8Array {
  const bytes = files.get(name);
  if (!bytes) throw fault("file-missing", name);
  return bytes;
}

/** @throws CheckFault */
export function readBundle(files: Files): BundleEvidence {
  const seals = authoritiesIn(files, bundleFiles.authorities);
  const evidence: BundleEvidence = {
    audit: jsonOf(files, bundleFiles.audit, z.array(AuditEntry)),
    leaf: jsonOf(files, bundleFiles.leaf, Leaf),
    proof: jsonOf(files, bundleFiles.proof, InclusionProof),
    anchor: anchorOf(files),
    keys: jsonOf(files, bundleFiles.keys, AnchorKeys).keys,
    authorities: {
      seals,
      timestamps: files.has(bundleFiles.timestampAuthorities)
        ? authoritiesIn(files, bundleFiles.timestampAuthorities, seals)
        : [],
    },
    note: files.has(bundleFiles.checkpoint) ? textOf(files, bundleFiles.checkpoint) : null,
  };
  if (!isStripped(files)) for (const name of [bundleFiles.document, bundleFiles.certificate]) fileOf(files, name);
  return evidence;
}

/** Base64 may be spelt in several ways (RFC 4648 §3.5): only one of them is taken. */
function anchorOf(files: Files): Anchor {
  const anchor = jsonOf(files, bundleFiles.anchor, Anchor);
  const { signature, timestampToken, sequence, previousAnchorHash, consistency } = anchor;
  const spelt = [signature, timestampToken ?? ""].every((text) => isCanonicalBase64(text));
  // The first anchor has none before it.
  const first = sequence === 1 ? previousAnchorHash === null && consistency.length === 0 : previousAnchorHash !== null;
  if (!spelt || !first) throw fault("file-wrong", bundleFiles.anchor);
  return anchor;
}

function isCanonicalBase64(text: string): boolean {
  try {
    return toBase64(fromBase64(text)) === text;
  } catch {
    return false;
  }
}

/** Without documents, as after deletion: such a bundle proves a copy that somebody kept. */
export const isStripped = (files: Files): boolean =>
  !files.has(bundleFiles.document) && !files.has(bundleFiles.certificate);

function textOf(files: Files, name: string): string {
  const bytes = fileOf(files, name);
  try {
    return utf8.decode(bytes);
  } catch {
    throw fault("file-wrong", name);
  }
}

/** @param before those that another list holds already: none stands in a bundle twice */
function authoritiesIn(files: Files, name: string, before: readonly Uint8Array[] = []): Uint8Array[] {
  const text = textOf(files, name);
  const certificates = readablePems(text);
  const pems = certificates?.map(pemText) ?? [];
  // Nothing stands between them, and each is written in one way (RFC 7468 §3).
  if (!certificates || pems.length === 0 || pems.join("") !== text) throw fault("file-wrong", name);
  if (new Set([...before.map(pemText), ...pems]).size < before.length + pems.length) throw fault("file-wrong", name);
  return certificates;
}

function readablePems(text: string): Uint8Array[] | undefined {
  try {
    return pemsIn(text);
  } catch {
    return undefined;
  }
}

function pemText(der: Uint8Array): string {
  const lines = toBase64(der).match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

/** DER of every certificate in a PEM text. @throws TypeError when one is not base64 */
export function pemsIn(text: string): Uint8Array[] {
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return found.map((pem) => fromBase64(pem.replaceAll(/-----[A-Z ]+-----|\s/g, "")));
}
