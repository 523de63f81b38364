import { generateKeyPair, randomBytes, X509Certificate } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import ipaddr from "ipaddr.js";
import forge from "node-forge";
import { type Config, ConfigError, isLoopback } from "./config.ts";

export type TlsFiles = { cert: Buffer; key: Buffer; selfSigned: boolean };

/**
 * The server's certificate: the configured one, or, when the server is reachable from other machines and no proxy stands
 * before it, one that it signs itself at the first start. Null on loopback and behind a trusted proxy.
 * @throws ConfigError when a configured file cannot be read
 */
export async function loadTls(config: Config): Promise<TlsFiles | null> {
  if (config.tlsCert && config.tlsKey) {
    return {
      cert: await read("SIGNET_TLS_CERT", config.tlsCert),
      key: await read("SIGNET_TLS_KEY", config.tlsKey),
      selfSigned: false,
    };
  }
  if (isLoopback(config.host) || config.trustedProxies.length > 0) return null;
  const folder = path.join(config.dataDir, "tls");
  const certFile = path.join(folder, "self-signed.crt");
  const keyFile = path.join(folder, "self-signed.key");
  const host = new URL(config.baseUrl).hostname.replace(/^\[|\]$/g, "");
  const kept = await keptCertificate(certFile, keyFile);
  if (kept && stillGood(kept.cert, host)) return { ...kept, selfSigned: true };
  const made = await selfSigned(host);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(keyFile, made.key, { mode: 0o600 });
  await writeFile(certFile, made.cert);
  return { ...made, selfSigned: true };
}

async function keptCertificate(certFile: string, keyFile: string): Promise<{ cert: Buffer; key: Buffer } | null> {
  try {
    return { cert: await readFile(certFile), key: await readFile(keyFile) };
  } catch {
    return null;
  }
}

const renewBeforeMs = 30 * 24 * 3_600_000;

/** Names this host, matches nothing that changed since, and lasts another month. */
function stillGood(pem: Buffer, host: string): boolean {
  try {
    const certificate = new X509Certificate(pem);
    const named = isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host);
    return named !== undefined && certificate.validToDate.getTime() > Date.now() + renewBeforeMs;
  } catch {
    return false;
  }
}

/** IPv4 and IPv6 literals, as they stand in a URL's host. */
const isIP = (host: string) => ipaddr.isValid(host);

async function read(setting: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw new ConfigError(`${setting} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

/** A certificate for this host's names, valid for 397 days, the longest that browsers take. */
async function selfSigned(baseHost: string): Promise<{ cert: Buffer; key: Buffer }> {
  const pair = await promisify(generateKeyPair)("rsa", { modulusLength: 2048 });
  const keyPem = pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const publicPem = pair.publicKey.export({ type: "spki", format: "pem" }).toString();
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(publicPem);
  certificate.serialNumber = `4${randomBytes(15).toString("hex").slice(1)}`;
  certificate.validity.notBefore = new Date(Date.now() - 3_600_000);
  certificate.validity.notAfter = new Date(Date.now() + 397 * 24 * 3_600_000);
  const name = [{ name: "commonName", value: baseHost }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  const names = [...new Set([baseHost, hostname(), "localhost"])].filter((name) => !isIP(name));
  const addresses = [...new Set([...(isIP(baseHost) ? [baseHost] : []), "127.0.0.1", "::1"])];
  certificate.setExtensions([
    { name: "basicConstraints", cA: false },
    { name: "keyUsage", digitalSignature: true, keyEncipherment: true },
    { name: "extKeyUsage", serverAuth: true },
    {
      name: "subjectAltName",
      altNames: [...names.map((value) => ({ type: 2, value })), ...addresses.map((ip) => ({ type: 7, ip }))],
    },
  ]);
  certificate.sign(forge.pki.privateKeyFromPem(keyPem), forge.md.sha256.create());
  return { cert: Buffer.from(forge.pki.certificateToPem(certificate)), key: Buffer.from(keyPem) };
}
