import { createHash, randomFillSync } from "node:crypto";
import { crc32 } from "node:zlib";

/** What an id names. Public prefixes are listed in the contract; `job`, `msg`, `usr` … never change meaning. */
export type IdPrefix =
  | "org"
  | "usr"
  | "mem"
  | "inv"
  | "tpl"
  | "tfl"
  | "tpv"
  | "env"
  | "rcp"
  | "ccr"
  | "vwr"
  | "lnk"
  | "lkv"
  | "ses"
  | "att"
  | "evt"
  | "req"
  | "key"
  | "job"
  | "msg"
  | "otp"
  | "whe"
  | "dlv"
  | "sso"
  | "sst"
  | "sau"
  | "fld"
  | "rev"
  | "sea"
  | "dss"
  | "psk"
  | "adm"
  | "sgn"
  | "chl"
  | "drl"
  | "hld"
  | "try";

/**
 * What a secret opens. `svcu` is a dashboard session, `svcf` the one-time link of the first owner, `svci` an invitation, `svcr` a
 * password reset, `svcm` a magic link.
 */
export type SecretPrefix =
  | "svc_live"
  | "svc_test"
  | "svc_scim"
  | "svcs"
  | "svca"
  | "svcv"
  | "svcva"
  | "svcd"
  | "svcu"
  | "svcf"
  | "svci"
  | "svcr"
  | "svcm";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const idLength = 24;
const secretLength = 43;
const checksumLength = 6;

/** Random bytes are drawn in blocks: one system call serves some 160 ids. */
const block = Buffer.alloc(4096);
let used = block.length;

/** Base62 characters from the CSPRNG; six bits at a time, 62 and 63 are drawn again, so every character is equally likely. */
function base62(length: number): string {
  let text = "";
  while (text.length < length) {
    if (used === block.length) {
      randomFillSync(block);
      used = 0;
    }
    const value = (block[used] ?? 63) & 63;
    block[used] = 0;
    used += 1;
    if (value < 62) text += alphabet.charAt(value);
  }
  return text;
}

/** A new id: `prefix_` and 24 base62 characters (142 bits). */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${base62(idLength)}`;
}

function checksum(body: string): string {
  let rest = crc32(body);
  let text = "";
  for (let index = 0; index < checksumLength; index += 1) {
    text = alphabet.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** A new secret: `prefix_`, 43 base62 characters (256 bits) and their CRC-32 in 6 base62 characters. */
export function newSecret(prefix: SecretPrefix): string {
  const body = base62(secretLength);
  return `${prefix}_${body}${checksum(body)}`;
}

/** Whether the last six characters fit the secret: an offline check that refuses mistyped and invented secrets early. */
export function checksumOk(secret: string): boolean {
  const match = /_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/.exec(secret);
  return match?.[1] !== undefined && checksum(match[1]) === match[2];
}

/** Lower-case hex SHA-256: the only form in which a secret is stored (256 random bits need no salt). */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
