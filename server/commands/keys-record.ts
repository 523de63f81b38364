import type { KeyRecord } from "../features/keys/record-schema.ts";
import { table } from "./command.ts";

/** What an option calls a use. */
export const nameOf = (use: string): string => (use === "timestamp" ? "tsa" : use);

/** For paper: everything that the signature covers, and how it is checked. */
export function recordText(record: KeyRecord): string {
  const { by, masterKey } = record;
  const keys = record.keys.flatMap(({ where, ...key }) => [
    ["key", `${nameOf(key.use)}, ${key.kind}, ${key.state}`],
    ["  id", key.id],
    ["  public key SHA-256", key.publicKeySha256],
    ...(key.subject === null ? [] : [["  certificate", key.subject]]),
    ["  valid", `${key.validFrom} to ${key.validUntil ?? "its rotation"}`],
    ["  kept", where.storage === "software" ? "in software" : `in the token ${where.label}, key ${where.keyId}`],
    ...(where.storage === "software"
      ? []
      : [
          [
            "  token",
            `${where.model ?? "away"}, serial ${where.serial ?? "?"}, slot ${where.slot ?? "?"}, ${where.module}`,
          ],
        ]),
  ]);
  return table([
    ["KEY RECORD", String(record.seq)],
    ["act", record.act],
    ["at", record.at],
    ["by", `${by.account} on ${by.host}${by.name === null ? "" : ` (${by.name})`}`],
    ...(masterKey ? [["master key", `${masterKey.before} replaced by ${masterKey.after}`]] : []),
    ...keys,
    ["record before", record.prevHash],
    ["hash", record.hash],
    ["signature", record.signature ?? "none: the anchor key was away; the next signed record covers this one"],
    ["anchor key", record.kid ?? "none"],
  ]);
}
