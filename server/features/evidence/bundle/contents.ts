import type { AuditEntry } from "../../envelopes/audit-contract.ts";
import { toHex } from "../anchors/anchor.ts";
import { checkNamed } from "../certificate-check.ts";
import type { Leaf } from "../contract.ts";
import { type Finding, sha256 } from "../verify.ts";

/** Which files an evidence bundle holds, and what its audit trail says of them. Isomorphic. */

export type Files = ReadonlyMap<string, Uint8Array>;

/** The files of a bundle; the attachments lie in a folder of their own. */
export const bundleFiles = {
  readme: "README.txt",
  verifier: "verify.html",
  document: "document.pdf",
  certificate: "certificate.pdf",
  audit: "audit.json",
  leaf: "leaf.json",
  proof: "proof.json",
  anchor: "anchor.json",
  keys: "keys.json",
  authorities: "certificates.pem",
  /** Only when time stamps lead to other authorities than the seals. */
  timestampAuthorities: "timestamp-certificates.pem",
  checkpoint: "checkpoint.txt",
} as const;
export const attachmentsFolder = "attachments/";

type Entry = Pick<AuditEntry, "seq" | "type" | "hash"> & { data: Readonly<Record<string, unknown>> };
type Trail = { audit: readonly Entry[]; leaf: Leaf };

/** The names under which attachments lie in a bundle, in the order of their submission. */
export function attachmentNames(files: readonly { id: string; filename: string }[]): string[] {
  const taken = new Set<string>();
  return files.map(({ id, filename }) => {
    const plain = plainName(filename);
    // Names of people's files may meet, and some systems do not tell letter cases apart.
    const name = taken.has(plain.toLowerCase()) ? `${id}-${plain}` : plain;
    taken.add(name.toLowerCase());
    return attachmentsFolder + name;
  });
}

const plainName = (filename: string): string =>
  filename.replaceAll(/[\p{Cc}\p{Cf}/\\:*?"<>|]+/gu, "_").replace(/^\.+/, "_");

/** Nothing lies in the bundle that nobody checks; what only explains is said to be that. */
export function checkNames(files: Files): Finding {
  const known: readonly string[] = Object.values(bundleFiles);
  const strange = [...files.keys()].find((name) => !known.includes(name) && !name.startsWith(attachmentsFolder));
  if (strange !== undefined) return { ok: false, code: "file-strange", values: { file: strange } };
  return { ok: true, code: "files-known", values: { count: files.size } };
}

/** The entry of the trail that the leaf fixes, and with it all before. */
export const fixedEntry = ({ audit, leaf }: Trail): Entry | undefined =>
  audit.find(({ hash }) => hash === leaf.auditHash);

/** The entry up to the fixed one that names this file as the certificate of completion, which extensions name anew. */
export const namingEntry = (trail: Trail, sha256: string): Entry | undefined =>
  trail.audit.find(
    ({ seq, type, data }) =>
      (type === "envelope.sealed" || type === "envelope.seal_extended") &&
      data.certificateSha256 === sha256 &&
      seq <= (fixedEntry(trail)?.seq ?? 0),
  );

/** What stands behind the fixed entry is nobody's word. */
export function checkLater(trail: Trail): Finding[] {
  const count = trail.audit.length - (fixedEntry(trail)?.seq ?? 0);
  return count > 0 ? [{ ok: null, code: "audit-later", values: { count } }] : [];
}

/** The certificate of completion is the one that the fixed entry names. */
export function checkCertificateName(trail: Trail, certificate: Uint8Array): Finding {
  return checkNamed(fixedEntry(trail), toHex(sha256(certificate)));
}

/**
 * Each file that people submitted is there, under its name, and no other.
 * @param stripped the bundle holds no documents, so that it need not hold attachments either
 */
export function checkAttachments(files: Files, trail: Trail, stripped: boolean): Finding {
  const before = trail.audit.filter(({ seq }) => seq <= (fixedEntry(trail)?.seq ?? 0));
  const added = before.filter(({ type }) => type === "recipient.attachment_added").map(({ data }) => addedFile(data));
  const listed = before.findLast(({ type }) => type === "envelope.sealed")?.data.attachments;
  const own = [...files]
    .filter(([name]) => name.startsWith(attachmentsFolder))
    .map(([name, content]) => ({ label: name, value: toHex(sha256(content)) }));
  if (stripped && own.length === 0)
    return added.length > 0
      ? { ok: null, code: "attachments-deleted", values: { count: added.length } }
      : { ok: true, code: "attachments-none" };
  const expected = Array.isArray(listed)
    ? listed.map(String).map((id) => added.find((one) => one.id === id) ?? { id, filename: id, sha256: "" })
    : added;
  const names = Array.isArray(listed) ? attachmentNames(expected) : null;
  const fits = ({ label, value }: { label: string; value: string }) =>
    expected.some(
      ({ id, filename, sha256: known }, index) =>
        known === value &&
        (names
          ? names[index] === label
          : [plainName(filename), `${id}-${plainName(filename)}`].includes(label.slice(attachmentsFolder.length))),
    );
  const strange = own.find((one) => !fits(one));
  if (strange) return { ok: false, code: "attachment-strange", values: { file: strange.label }, bytes: own };
  const missing = names?.find((name) => !files.has(name));
  if (missing !== undefined) return { ok: false, code: "attachment-missing", values: { file: missing }, bytes: own };
  // The first versions did not say which of the files that were added were submitted.
  if (names === null && expected.some(({ sha256: known }) => own.every(({ value }) => value !== known)))
    return { ok: null, code: "attachments-unnamed", values: { count: own.length }, bytes: own };
  return own.length > 0
    ? { ok: true, code: "attachments-fit", values: { count: own.length }, bytes: own }
    : { ok: true, code: "attachments-none" };
}

function addedFile(data: Entry["data"]): { id: string; filename: string; sha256: string } {
  const { attachment: id, filename, sha256: content } = data;
  return { id: String(id), filename: String(filename), sha256: String(content) };
}
