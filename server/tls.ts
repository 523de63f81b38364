import { generateKeyPair, randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
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
  try {
    return { cert: await readFile(certFile), key: await readFile(keyFile), selfSigned: true };
  } catch {
    const made = await selfSigned(new URL(config.baseUrl).hostname);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(keyFile, made.key, { mode: 0o600 });
    await writeFile(certFile, made.cert);
    return { ...made, selfSigned: true };
  }
}

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
  const names = [...new Set([baseHost, hostname(), "localhost"])];
  certificate.setExtensions([
    { name: "basicConstraints", cA: false },
    { name: "keyUsage", digitalSignature: true, keyEncipherment: true },
    { name: "extKeyUsage", serverAuth: true },
    { name: "subjectAltName", altNames: [...names.map((value) => ({ type: 2, value })), { type: 7, ip: "127.0.0.1" }] },
  ]);
  certificate.sign(forge.pki.privateKeyFromPem(keyPem), forge.md.sha256.create());
  return { cert: Buffer.from(forge.pki.certificateToPem(certificate)), key: Buffer.from(keyPem) };
}
