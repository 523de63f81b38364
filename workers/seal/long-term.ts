/**
 * What makes a timestamped seal last (ETSI EN 319 142-1 §6): validation data in the document security store, then a
 * document timestamp over the whole file. Each is a revision of its own, hashed on top of a prefix that was hashed once.
 */
import { createHash, type Hash } from "node:crypto";
import { name } from "../pdf/objects.ts";
import { type Base, beginRevision } from "../pdf/revision.ts";
import type { LongTermPorts, SealLevel } from "../protocol.ts";
import { type Certificate, listUrls, subjectOf } from "./certificate.ts";
import { parseSignedData } from "./cms.ts";
import { type Link, linksOf, parseRevocationList, type RevocationList, standing } from "./crl.ts";
import { DerError } from "./der.ts";
import { addToStore, parseStored, type StoredData, storedData } from "./dss.ts";
import { prepareSignature } from "./placeholder.ts";
import { parseTstInfo } from "./timestamp-verify.ts";
import { type SignatureReport, type VerifyTrust, verifyField } from "./verify.ts";

/** A token with its chain takes 3 to 7 KB from the public authorities. */
export const TOKEN_CAPACITY = 12 * 1024;

/** Revocation data or a document timestamp could not be had now; the level below stands. */
export class Unavailable extends Error {}

export type Prolonging = {
  /** Of the seal and of its timestamps, each up to a trusted certificate. */
  chains: readonly (readonly Certificate[])[];
  goal: Extract<SealLevel, "B-LT" | "B-LTA">;
  /** What the file has reached before. */
  reached: Exclude<SealLevel, "B-B">;
  /** A document timestamp is added even when there is one already. */
  renew: boolean;
  /** Of the document timestamp; unique in the document. */
  fieldName: string;
  /** ISO 8601 */
  at: string;
};

export type Prolonged = {
  /** Empty when nothing could be added. */
  tail: Buffer;
  level: Exclude<SealLevel, "B-B">;
  /** Why the goal was not reached; null when it was. */
  shortfall: string | null;
  /** Reads the new document timestamp out of the bytes, as anybody would; null without one. */
  verify: ((trust: VerifyTrust) => SignatureReport) | null;
};

/**
 * Appends what is missing on the way to the goal. `prefix` has hashed everything that the revisions stand on.
 * A port's `Unavailable` ends the way with its reason; what else the ports throw passes through.
 */
export async function prolong(base: Base, prefix: Hash, given: Prolonging, ports: LongTermPorts): Promise<Prolonged> {
  const tails: Buffer[] = [];
  let { reached: level } = given;
  let verify: Prolonged["verify"] = null;
  let shortfall: string | null = null;
  try {
    const data = await validationData(base, given, ports);
    let top = base;
    const hashed = prefix.copy();
    const revision = beginRevision(base);
    if (addToStore(revision, data)) {
      const added = revision.finish();
      tails.push(added.bytes);
      hashed.update(added.bytes);
      top = added.base;
    }
    if (level === "B-T") level = "B-LT";
    if (given.goal === "B-LTA" && (level !== "B-LTA" || given.renew)) {
      const stamped = await documentTimestamp(top, hashed, given.fieldName, ports);
      tails.push(stamped.tail);
      verify = stamped.verify;
      level = "B-LTA";
    }
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    shortfall = error.message;
  }
  return { tail: Buffer.concat(tails), level, shortfall, verify };
}

/** The chains, and for each certificate in them that may be revoked a list that does not name it. */
async function validationData(base: Base, given: Prolonging, ports: LongTermPorts): Promise<StoredData> {
  const held = parseStored(storedData(base, base.catalog)).lists;
  const fetched: RevocationList[] = [];
  const now = { from: given.at, until: given.at };
  const links = new Map(given.chains.flatMap(linksOf).map((link) => [link.certificate.sha256, link]));
  for (const link of links.values()) {
    const known = standing(link, [...held, ...fetched], now);
    if (known === "good") continue;
    if (known === "unknown") fetched.push(...(await listFor(link, held, given.at, ports)));
    if (standing(link, [...held, ...fetched], now) === "revoked")
      throw new Unavailable(`${subjectOf(link.certificate)} was revoked`);
  }
  return {
    certificates: given.chains.flat().map(({ der }) => der),
    lists: fetched.map(({ der }) => der),
  };
}

async function listFor(
  link: Link,
  held: readonly RevocationList[],
  at: string,
  ports: LongTermPorts,
): Promise<RevocationList[]> {
  const { certificate, issuer } = link;
  try {
    const list = parseRevocationList(
      await ports.revocationList({ issuer: issuer.sha256, urls: listUrls(certificate) }),
    );
    if (standing(link, [list], { from: at, until: at }) !== "unknown") return [list];
    throw new DerError("the list is of another issuer, or has run out");
  } catch (error) {
    // One that was stored while it held goes on proving what it proved then.
    if (standing(link, held, { from: "1970-01-01T00:00:00.000Z", until: at }) === "good") return [];
    const reason = error instanceof Error ? error.message : String(error);
    throw new Unavailable(`no revocation list for ${subjectOf(certificate)}: ${reason}`);
  }
}

async function documentTimestamp(base: Base, prefix: Hash, fieldName: string, ports: LongTermPorts) {
  const prepared = prepareSignature(
    beginRevision(base),
    {
      entries: [
        ["Type", name("DocTimeStamp")],
        ["Filter", name("Adobe.PPKLite")],
        ["SubFilter", name("ETSI.RFC3161")],
      ],
      fieldName,
      capacity: TOKEN_CAPACITY,
    },
    prefix,
  );
  const token = await ports.archiveTimestamp(prepared.digest);
  if (token.length > prepared.capacity) throw new Unavailable(`a timestamp of ${token.length} bytes does not fit`);
  const { content } = parseSignedData(token);
  if (!content || !parseTstInfo(content).imprint.equals(prepared.digest))
    throw new Error("the timestamp is for something else");
  const tail = prepared.close(token);
  const { field, file } = prepared.reopen();
  return { tail, verify: (trust: VerifyTrust): SignatureReport => verifyField(file, field, trust) };
}

/** SHA-256 of the parts, usable for what comes behind them. */
export const hashOf = (...parts: Uint8Array[]): Hash =>
  parts.reduce((sum, part) => sum.update(part), createHash("sha256"));
