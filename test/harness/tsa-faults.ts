/** What a time-stamping authority may do wrong, made byte by byte; openssl signs, so that each token is wrong in one thing alone. */
import { execFileSync } from "node:child_process";
import { createHash, createPrivateKey, randomBytes, X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  decodeWhole,
  encode,
  generalizedTime,
  integer,
  nullValue,
  octetString,
  oid,
  sequence,
} from "../../workers/seal/der.ts";
import { type Authority, type Identity, TEST_POLICY } from "./authority.ts";

export type Forgery = {
  /** Signs instead of the authority's own identity. */
  by?: Identity;
  /** Instead of the one in the request; null leaves it out. */
  nonce?: bigint | null;
  imprint?: Uint8Array;
  /** Of the imprint, dotted; SHA-256 unless it says otherwise. */
  algorithm?: string;
  /** ISO 8601; now unless it says otherwise. */
  at?: string;
  /** Without the ESS signing-certificate attribute (RFC 3161 §2.4.1). */
  unbound?: boolean;
};

export const SHA512 = "2.16.840.1.101.3.4.2.3";
const SHA256 = "2.16.840.1.101.3.4.2.1";

/** Imprint and nonce of a TimeStampReq. */
export function readQuery(query: Uint8Array): { imprint: Buffer; nonce: bigint } {
  const [, imprint, nonce] = decodeWhole(query).children();
  const hash = imprint?.children()[1]?.content;
  if (!hash || !nonce) throw new Error("not a timestamp request");
  return { imprint: hash, nonce: nonce.integer() };
}

/** A granted TimeStampResp; without a forgery it is a good one. */
export function forgedTimestamp(query: Uint8Array, from: Authority, forgery: Forgery = {}): Buffer {
  const asked = readQuery(query);
  const nonce = forgery.nonce === undefined ? asked.nonce : forgery.nonce;
  const info = sequence(
    integer(1),
    oid(TEST_POLICY),
    sequence(sequence(oid(forgery.algorithm ?? SHA256), nullValue()), octetString(forgery.imprint ?? asked.imprint)),
    integer(BigInt(`0x7f${randomBytes(8).toString("hex")}`)),
    generalizedTime(forgery.at ?? new Date().toISOString()),
    ...(nonce === null ? [] : [integer(nonce)]),
  );
  return granted(signedBy(info, from, forgery.by ?? from.timestamp, forgery.unbound === true));
}

/** Status `rejection` with a reason (RFC 3161 §2.4.2). */
export function rejection(reason: string): Buffer {
  return sequence(sequence(integer(2), sequence(encode(0x0c, Buffer.from(reason)))));
}

const granted = (token: Uint8Array): Buffer => sequence(sequence(integer(0)), token);

function signedBy(info: Uint8Array, from: Authority, by: Identity, unbound: boolean): Buffer {
  const folder = mkdtempSync(join(from.folder, "forged-"));
  const file = (name: string): string => join(folder, name);
  writeFileSync(file("tst.der"), info);
  const key = ["-signer", by.pem, "-inkey", by.keyPem, "-certfile", from.caPem, "-md", "sha256"];
  const type = ["-econtent_type", "1.2.840.113549.1.9.16.1.4", "-nodetach", "-binary", ...(unbound ? [] : ["-cades"])];
  const files = ["-in", file("tst.der"), "-outform", "DER", "-out", file("token.der")];
  execFileSync("openssl", ["cms", "-sign", ...files, ...type, ...key], { stdio: "pipe" });
  return readFileSync(file("token.der"));
}

/** A further time-stamping certificate of the authority, valid in the year 2020 alone. */
export function expiredIdentity(from: Authority): Identity {
  const folder = mkdtempSync(join(from.folder, "expired-"));
  const file = (name: string): string => join(folder, name);
  writeFileSync(file("index.txt"), "");
  const rule = ["[ca]", "default_ca = own", "[own]", `database = ${file("index.txt")}`, `new_certs_dir = ${folder}`];
  const names = ["rand_serial = yes", "policy = any", "default_md = sha256", "[any]", "commonName = supplied"];
  const use = ["[stamp]", "keyUsage = critical, digitalSignature", "extendedKeyUsage = critical, timeStamping", ""];
  writeFileSync(file("ca.cnf"), [...rule, ...names, ...use].join("\n"));
  const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: "pipe" });
  const fresh = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", file("own.key")];
  openssl(
    "req",
    "-new",
    ...fresh,
    "-config",
    join(from.folder, "openssl.cnf"),
    "-subj",
    "/CN=Old Time",
    "-out",
    file("own.csr"),
  );
  const issuer = ["-cert", from.caPem, "-keyfile", join(from.folder, "ca.key"), "-extensions", "stamp"];
  const term = ["-startdate", "20200101000000Z", "-enddate", "20210101000000Z"];
  openssl(
    "ca",
    "-batch",
    "-notext",
    "-config",
    file("ca.cnf"),
    ...issuer,
    ...term,
    "-in",
    file("own.csr"),
    "-out",
    file("own.crt"),
  );
  return {
    key: createPrivateKey(readFileSync(file("own.key"))),
    certificates: [new X509Certificate(readFileSync(file("own.crt"))).raw, from.ca],
    pem: file("own.crt"),
    keyPem: file("own.key"),
  };
}

export const sha512 = (bytes: Uint8Array): Buffer => createHash("sha512").update(bytes).digest();
