import { X509Certificate } from "node:crypto";
import { type Ts, toTs } from "../../kernel/clock.ts";
import type { Reader } from "../../kernel/db.ts";
import { keyExpiries } from "../keys/service.ts";
import type { ApplianceStatus } from "./status-contract.ts";

const dayMs = 86_400_000;

/** What ends when, soonest first. @param tlsPem what clients are shown; null without TLS */
export async function readExpiries(
  reader: Reader,
  nowMs: number,
  tlsPem: string | null,
): Promise<ApplianceStatus["expiries"]> {
  const keys = (await keyExpiries(reader)).map(({ purpose, validUntil }) => ({ what: purpose, validUntil }));
  const tls = tlsPem === null ? [] : [{ what: "tls" as const, validUntil: endOf(tlsPem) }];
  return [...keys, ...tls]
    .map((expiry) => ({ ...expiry, days: Math.floor((Date.parse(expiry.validUntil) - nowMs) / dayMs) }))
    .sort((a, b) => a.days - b.days);
}

/** Of the first certificate in a PEM file. */
const endOf = (pem: string): Ts => toTs(new X509Certificate(pem).validToDate.getTime());
