import { createHash, createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { rootCertificates } from "node:tls";
import type Catalogue from "../../../locales/en/findings.json";
import { english } from "../../kernel/english.ts";
import { AppError } from "../../kernel/errors.ts";
import type { TlsCertificate, TlsWarning } from "./contract.ts";
import { covers } from "./own-authority.ts";

/** Certificates that somebody hands in for TLS: read, put in order and judged before they are served. */

const day = 24 * 3_600_000;
const soonDays = 30;
const leastRsaBits = 2048;
const serverAuth = "1.3.6.1.5.5.7.3.1";

export type About = {
  host: string;
  nowMs: number;
  /** The authority itself put the chain together: it leaves out its root only, which clients of a private one have. */
  wholeChain?: boolean;
};

const refused = (pointer: string, detail: string, cause?: unknown) =>
  new AppError("validation-failed", { detail, cause, errors: [{ pointer, code: "format", detail }] });

/** Every certificate of a PEM text. @throws AppError `validation-failed` */
export function readChain(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  try {
    if (blocks.length > 0) return blocks.map((block) => new X509Certificate(block));
  } catch (cause) {
    throw refused("#/certificatePem", "The certificate cannot be read: it is damaged.", cause);
  }
  throw refused(
    "#/certificatePem",
    "There is no certificate in this text: it begins with -----BEGIN CERTIFICATE-----.",
  );
}

/** @throws AppError `validation-failed` */
export function readKey(pem: string, passphrase: string | undefined): KeyObject {
  try {
    return createPrivateKey({ key: pem, ...(passphrase === undefined ? {} : { passphrase }) });
  } catch (cause) {
    const locked = /ENCRYPTED/.test(pem);
    throw refused(
      locked ? "#/passphrase" : "#/keyPem",
      locked ? "The private key cannot be opened: the passphrase is wrong." : "The private key cannot be read.",
      cause,
    );
  }
}

export type CheckedPair = {
  /** The leaf, then each issuer that was given, in order. */
  certPem: string;
  keyPem: string;
  /** What browsers may complain of. */
  warnings: TlsWarning[];
};

/**
 * Puts the chain in order and judges it for serving `host`.
 * @throws AppError `validation-failed` for what no client would take
 */
export function checkPair(given: readonly X509Certificate[], key: KeyObject, about: About): CheckedPair {
  const leaf = given.find((certificate) => certificate.checkPrivateKey(key));
  if (!leaf) throw refused("#/keyPem", "The private key belongs to none of these certificates.");
  if (leaf.ca) throw refused("#/certificatePem", "This is the certificate of an authority, not one of a server.");
  const starts = leaf.validFromDate.getTime();
  const ends = leaf.validToDate.getTime();
  if (starts > about.nowMs)
    throw refused("#/certificatePem", `The certificate is valid from ${leaf.validFromDate.toISOString()} on: not yet.`);
  if (ends <= about.nowMs)
    throw refused("#/certificatePem", `The certificate ended on ${leaf.validToDate.toISOString()}.`);
  const purposes = leaf.keyUsage;
  if (purposes && purposes.length > 0 && !purposes.includes(serverAuth))
    throw refused("#/certificatePem", "The certificate is not one for servers (extended key usage serverAuth).");
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type !== "rsa" && type !== "ec")
    throw refused("#/keyPem", `Keys of the kind ${type} are not taken by all browsers: use RSA or ECDSA P-256.`);
  if (type === "rsa" && (details?.modulusLength ?? 0) < leastRsaBits)
    throw refused("#/keyPem", `The RSA key has ${details?.modulusLength} bits; at least ${leastRsaBits} are needed.`);
  const chain = order(leaf, given);
  return {
    certPem: chain.map((certificate) => certificate.toString()).join(""),
    keyPem: key.export({ type: "pkcs8", format: "pem" }).toString(),
    warnings: warningsOf(leaf, chain, about),
  };
}

export type ChainDescription = Omit<TlsCertificate, "source">;

/** What people want to know of a certificate and its chain. */
export function describeChain(chain: readonly X509Certificate[], about: About): ChainDescription {
  const [leaf] = chain;
  if (!leaf) throw new Error("a chain holds at least its leaf");
  const { asymmetricKeyType, asymmetricKeyDetails } = leaf.publicKey;
  return {
    subject: nameOf(leaf.subject),
    issuer: nameOf(leaf.issuer),
    names: (leaf.subjectAltName ?? "").split(", ").map((name) => name.replace(/^(DNS|IP Address):/, "")),
    validFrom: leaf.validFromDate.toISOString(),
    validUntil: leaf.validToDate.toISOString(),
    sha256: createHash("sha256").update(leaf.raw).digest("hex"),
    key: `${asymmetricKeyType?.toUpperCase()} ${asymmetricKeyDetails?.modulusLength ?? asymmetricKeyDetails?.namedCurve ?? ""}`,
    chainLength: chain.length,
    warnings: warningsOf(leaf, chain, about),
  };
}

/** What browsers may complain of in a certificate, by code, with what its words are filled with. */
type WarningParams = {
  "other-name": { host: string };
  "chain-incomplete": { issuer: string };
  "ends-soon": { days: number };
};
type WarningCode = keyof WarningParams & keyof (typeof Catalogue)["tlsWarning"];

function warningsOf(
  leaf: X509Certificate,
  chain: readonly X509Certificate[],
  { host, nowMs, wholeChain = false }: About,
): TlsWarning[] {
  const warnings: TlsWarning[] = [];
  const t = english<typeof Catalogue>("findings");
  const warn = <C extends WarningCode>(code: C, params: WarningParams[C]) =>
    warnings.push({ code, params, message: t(`tlsWarning.${code}`, params) });
  if (!covers(leaf, host)) warn("other-name", { host });
  const last = chain.at(-1) ?? leaf;
  if (!wholeChain && !isSelfIssued(last) && !isKnownRoot(last))
    warn("chain-incomplete", { issuer: nameOf(last.issuer) });
  const left = Math.floor((leaf.validToDate.getTime() - nowMs) / day);
  if (left < soonDays) warn("ends-soon", { days: left });
  return warnings;
}

function order(leaf: X509Certificate, given: readonly X509Certificate[]): X509Certificate[] {
  const chain = [leaf];
  for (let last = leaf; !isSelfIssued(last); ) {
    const issuer = given.find(
      (other) => !chain.includes(other) && last.checkIssued(other) && last.verify(other.publicKey),
    );
    if (!issuer) break;
    chain.push(issuer);
    last = issuer;
  }
  return chain;
}

const isSelfIssued = (certificate: X509Certificate) => certificate.checkIssued(certificate);

/** Whether its issuer is among the roots that Node brings along, as every browser has them. */
function isKnownRoot(certificate: X509Certificate): boolean {
  return rootCertificates.some((pem) => {
    const root = new X509Certificate(pem);
    return certificate.checkIssued(root) && certificate.verify(root.publicKey);
  });
}

/** The common name, else the whole name on one line. */
export function nameOf(distinguishedName: string): string {
  return /^CN=(.*)$/m.exec(distinguishedName)?.[1] ?? distinguishedName.replaceAll("\n", ", ");
}
