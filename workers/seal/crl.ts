/** Certificate revocation lists (RFC 5280 §5), complete ones only: what long-term seals carry and are judged by. */
import { digestName, OID, verifySignature } from "./algorithms.ts";
import { type Certificate, maySignLists } from "./certificate.ts";
import { DerError, type DerNode, decodeWhole, TAG } from "./der.ts";

export type RevocationList = {
  der: Buffer;
  /** DER of the issuer's Name. */
  issuer: Buffer;
  /** ISO 8601 */
  thisUpdate: string;
  nextUpdate: string | null;
  /** Hexadecimal serial number (content of the INTEGER) → when it was revoked. */
  revoked: ReadonlyMap<string, string>;
  /** Which certificates it speaks of (§5.2.5). */
  scope: "all" | "users" | "authorities";
  tbs: Buffer;
  algorithm: DerNode;
  signature: Buffer;
};

const ISSUING_POINT = "2.5.29.28";
const UTC_TIME = 0x17;

/** @throws DerError when the bytes are no list, or one of a kind that is not judged here (partial, indirect, delta) */
export function parseRevocationList(der: Uint8Array): RevocationList {
  const [tbs, algorithm, signature, ...more] = decodeWhole(Uint8Array.from(der)).expect(TAG.sequence).children();
  if (!tbs || !algorithm || !signature || more.length > 0) throw new DerError("not a revocation list");
  const fields = tbs.expect(TAG.sequence).children();
  if (fields[0]?.tag === TAG.integer) fields.shift();
  const [inner, issuer, thisUpdate, ...rest] = fields;
  if (!inner?.raw.equals(algorithm.raw) || issuer?.tag !== TAG.sequence || !thisUpdate) {
    throw new DerError("not a revocation list");
  }
  const nextUpdate = isTime(rest[0]) ? rest.shift() : undefined;
  const entries = rest[0]?.tag === TAG.sequence ? (rest.shift()?.children() ?? []) : [];
  const extensions = rest[0]?.tag === 0xa0 ? (rest.shift()?.children()[0]?.children() ?? []) : [];
  if (rest.length > 0) throw new DerError("unknown part of a revocation list");
  const bits = signature.expect(TAG.bitString).content;
  return {
    der: Buffer.from(der),
    issuer: issuer.raw,
    thisUpdate: timeOf(thisUpdate),
    nextUpdate: nextUpdate ? timeOf(nextUpdate) : null,
    revoked: new Map(entries.map(revokedEntry)),
    scope: scopeOf(extensions),
    tbs: tbs.raw,
    algorithm,
    signature: bits.subarray(1),
  };
}

const isTime = (node: DerNode | undefined): boolean => node?.tag === UTC_TIME || node?.tag === TAG.generalizedTime;

function timeOf(node: DerNode): string {
  if (node.tag !== UTC_TIME) return node.time();
  const match = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(node.content.toString("latin1"));
  if (!match) throw new DerError("bad time");
  const [, year = "", month, day, hour, minute, second] = match;
  const at = new Date(`${Number(year) < 50 ? "20" : "19"}${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`);
  if (Number.isNaN(at.getTime())) throw new DerError("bad time");
  return at.toISOString();
}

function revokedEntry(entry: DerNode): [string, string] {
  const [serial, at, extensions] = entry.expect(TAG.sequence).children();
  if (serial?.tag !== TAG.integer || !at) throw new DerError("bad entry of a revocation list");
  for (const extension of extensions?.children() ?? []) {
    // The one critical extension of entries names another issuer: an indirect list.
    if (isCritical(extension)) throw new DerError("an indirect revocation list");
  }
  return [serial.content.toString("hex"), timeOf(at)];
}

const isCritical = (extension: DerNode): boolean => {
  const parts = extension.children();
  return parts.length === 3 && parts[1]?.content[0] === 0xff;
};

/** A critical extension that is not understood makes a list unusable (§5.2): delta lists are among them. */
function scopeOf(extensions: readonly DerNode[]): RevocationList["scope"] {
  let scope: RevocationList["scope"] = "all";
  for (const extension of extensions) {
    const id = extension.children()[0]?.oid();
    if (id !== ISSUING_POINT) {
      if (isCritical(extension)) throw new DerError("a critical extension of a revocation list is not known");
      continue;
    }
    const value = extension.children().at(-1)?.expect(TAG.octetString).content ?? Buffer.alloc(0);
    for (const part of decodeWhole(value).children()) {
      if (part.tag === 0xa0) continue;
      if (part.tag === 0x81) scope = "users";
      else if (part.tag === 0x82) scope = "authorities";
      else throw new DerError("a partial or indirect revocation list");
    }
  }
  return scope;
}

/** Signed by this issuer, which may sign lists. */
export function isListOf(list: RevocationList, issuer: Certificate): boolean {
  if (!list.issuer.equals(subjectDer(issuer)) || !maySignLists(issuer)) return false;
  try {
    const digest = digestOf(list.algorithm);
    return verifySignature(list.algorithm, digest, issuer.publicKey, list.tbs, list.signature);
  } catch (error) {
    if (error instanceof DerError) return false;
    throw error;
  }
}

/** Only PSS does not say its digest in the identifier; its parameters begin with it (RFC 4055 §3.1). */
function digestOf(algorithm: DerNode): string {
  const [id, parameters] = algorithm.children();
  if (id?.oid() !== OID.rsaPss) return "sha256";
  const named = parameters
    ?.children()
    .find(({ tag }) => tag === 0xa0)
    ?.children()[0];
  return (named && digestName(named)) ?? "";
}

/** DER of the certificate's subject Name. */
export function subjectDer(certificate: Certificate): Buffer {
  const fields = decodeWhole(certificate.der).children()[0]?.children() ?? [];
  const offset = fields[0]?.tag === 0xa0 ? 1 : 0;
  return fields[offset + 4]?.raw ?? Buffer.alloc(0);
}

export type Standing = "good" | "revoked" | "unknown";

/**
 * What the lists say of a certificate: `good` when one of its issuer speaks of it and had not run out at `from` (ISO
 * 8601), `revoked` when one says that it was revoked at `until` or before.
 */
export function standing(
  { certificate, issuer }: Link,
  lists: readonly RevocationList[],
  { from, until }: { from: string; until: string },
): Standing {
  let found: Standing = "unknown";
  for (const list of lists) {
    if (!speaksOf(list, certificate) || !isListOf(list, issuer)) continue;
    const revoked = list.revoked.get(decodeWhole(certificate.serial).content.toString("hex"));
    if (revoked !== undefined && Date.parse(revoked) <= Date.parse(until)) return "revoked";
    if (list.nextUpdate === null || Date.parse(list.nextUpdate) >= Date.parse(from)) found = "good";
  }
  return found;
}

const speaksOf = ({ scope }: RevocationList, { x509 }: Certificate): boolean =>
  scope === "all" || (scope === "authorities") === x509.ca;

/** A certificate whose revocation its issuer would publish. */
export type Link = { certificate: Certificate; issuer: Certificate };

/** Every certificate of a chain but the one that is trusted by itself. */
export const linksOf = (chain: readonly Certificate[]): Link[] =>
  chain.slice(0, -1).flatMap((certificate, index) => {
    const issuer = chain[index + 1];
    return issuer ? [{ certificate, issuer }] : [];
  });
