/** A throw-away certificate authority with a seal key and a timestamp key, made by openssl. */
import { execFileSync } from "node:child_process";
import { createHash, createPrivateKey, type KeyObject, sign, X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SealPorts } from "../../workers/protocol.ts";
import { issueTimestamp } from "../../workers/seal/timestamp.ts";

export type KeyKind = "rsa-4096" | "rsa-3072" | "rsa-2048" | "ec-p256";
export type Identity = {
  key: KeyObject /** DER, own first, then the CA's */;
  certificates: Uint8Array[];
  pem: string;
  keyPem: string;
};
export type Authority = {
  folder: string;
  /** Path of the CA certificate. */
  caPem: string;
  /** DER */
  ca: Uint8Array;
  seal: Identity;
  timestamp: Identity;
  /** Signs and timestamps as the appliance would; `at` is the token's time. */
  /** `extra` certificates go into each token. */
  ports: (at?: string, extra?: Uint8Array[]) => SealPorts;
  /** A current revocation list (DER); it names the certificates that were revoked. */
  revocationList: () => Uint8Array;
  revoke: (identity: Identity) => void;
  /** A further certificate for sealing, over a new key. */
  sealIdentity: (name: string, kind: KeyKind) => Identity;
  /** The same over a key that is held elsewhere. @returns DER, own first, then the CA's */
  certifySealKey: (name: string, key: KeyObject) => Uint8Array[];
  close: () => void;
};

const EXTENSIONS = `
[req]
distinguished_name = dn
[dn]
[ca]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[seal]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature, nonRepudiation
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[timestamp]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = critical, timeStamping
[wrong-timestamp]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = timeStamping
`;
const NEW_KEY: Record<KeyKind, string[]> = {
  "rsa-4096": ["-newkey", "rsa:4096"],
  "rsa-3072": ["-newkey", "rsa:3072"],
  "rsa-2048": ["-newkey", "rsa:2048"],
  "ec-p256": ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"],
};
export const TEST_POLICY = "1.3.6.1.4.1.99999.1";

export type AuthorityOptions = {
  ca?: KeyKind;
  seal?: KeyKind;
  timestamp?: KeyKind;
  timestampExtensions?: "timestamp" | "wrong-timestamp";
  name?: string;
  /** Stands in the certificates as the place of the revocation list. */
  listUrl?: string;
  /** For how long the timestamping certificate is valid; ten years unless it says otherwise. */
  timestampDays?: number;
};

/** Valid for ten years from now. Call `close` to remove its folder. */
export function makeAuthority(options: AuthorityOptions = {}): Authority {
  const folder = mkdtempSync(join(tmpdir(), "signet-ca-"));
  const path = (name: string): string => join(folder, name);
  const run = (...args: string[]): void => {
    execFileSync("openssl", args, { stdio: "pipe" });
  };
  const place = options.listUrl ? `crlDistributionPoints = URI:${options.listUrl}\n` : "";
  const withPlace = EXTENSIONS.replace(/^\[(seal|timestamp)\]\n/gm, (head) => head + place);
  writeFileSync(path("openssl.cnf"), withPlace);
  const lists = ["[ca_list]", `database = ${path("index.txt")}`, `crlnumber = ${path("crlnumber")}`];
  writeFileSync(path("list.cnf"), ["[ca]", "default_ca = ca_list", ...lists, "default_md = sha256", ""].join("\n"));
  writeFileSync(path("index.txt"), "");
  writeFileSync(path("crlnumber"), "01");
  const common = ["-nodes", "-config", path("openssl.cnf")];
  const label = options.name ?? "Test";
  const subject = (cn: string): string[] => ["-subj", `/O=${label}/CN=${label} ${cn}`];
  const ca = ["-keyout", path("ca.key"), "-out", path("ca.crt")];
  run(
    "req",
    "-x509",
    ...NEW_KEY[options.ca ?? "ec-p256"],
    ...common,
    ...ca,
    ...subject("CA"),
    "-days",
    "3650",
    "-extensions",
    "ca",
  );
  const certify = (name: string, kind: KeyKind, extensions: string, cn: string, days = 3650): Identity => {
    const request = ["-keyout", path(`${name}.key`), "-out", path(`${name}.csr`)];
    run("req", "-new", ...NEW_KEY[kind], ...common, ...request, ...subject(cn));
    const issuer = ["-CA", path("ca.crt"), "-CAkey", path("ca.key"), "-CAcreateserial"];
    const profile = ["-extfile", path("openssl.cnf"), "-extensions", extensions, "-days", String(days), "-sha256"];
    run("x509", "-req", "-in", path(`${name}.csr`), ...issuer, ...profile, "-out", path(`${name}.crt`));
    return {
      key: createPrivateKey(readFileSync(path(`${name}.key`))),
      certificates: [derOf(path(`${name}.crt`)), derOf(path("ca.crt"))],
      pem: path(`${name}.crt`),
      keyPem: path(`${name}.key`),
    };
  };
  const seal = certify("seal", options.seal ?? "rsa-3072", "seal", "Seal");
  const stamp = certify(
    "tsa",
    options.timestamp ?? "ec-p256",
    options.timestampExtensions ?? "timestamp",
    "Time",
    options.timestampDays,
  );
  const certifySealKey = (name: string, key: KeyObject): Uint8Array[] => {
    writeFileSync(path(`${name}.pub`), key.export({ format: "pem", type: "spki" }));
    const about = ["-new", "-force_pubkey", path(`${name}.pub`), ...subject(name)];
    const issuer = ["-CA", path("ca.crt"), "-CAkey", path("ca.key"), "-CAcreateserial"];
    const profile = ["-extfile", path("openssl.cnf"), "-extensions", "seal", "-days", "3650", "-sha256"];
    run("x509", ...about, ...issuer, ...profile, "-out", path(`${name}.crt`));
    return [derOf(path(`${name}.crt`)), derOf(path("ca.crt"))];
  };
  const signing = ["-config", path("list.cnf"), "-cert", path("ca.crt"), "-keyfile", path("ca.key")];
  const revocationList = (): Uint8Array => {
    run("ca", "-gencrl", ...signing, "-crldays", "30", "-out", path("ca.crl"));
    run("crl", "-in", path("ca.crl"), "-outform", "DER", "-out", path("ca.crl.der"));
    return readFileSync(path("ca.crl.der"));
  };
  const revoke = ({ pem }: Identity): void => run("ca", ...signing, "-revoke", pem);
  let serial = 0n;
  const ports = (at = new Date().toISOString(), extra: Uint8Array[] = []): SealPorts => {
    const timestamp = (imprint: Uint8Array): Promise<Uint8Array> =>
      issueTimestamp({
        imprint,
        nonce: null,
        serial: ++serial,
        at,
        policy: TEST_POLICY,
        certificates: [...stamp.certificates, ...extra],
        sign: async (attributes) => sign("sha256", attributes, stamp.key),
      });
    return {
      sign: async (attributes) => sign("sha256", attributes, seal.key),
      timestamp,
      timestampRoots: () => [derOf(path("ca.crt"))],
      revocationList: async () => revocationList(),
      archiveTimestamp: timestamp,
    };
  };
  const close = (): void => rmSync(folder, { recursive: true, force: true });
  return {
    folder,
    caPem: path("ca.crt"),
    ca: derOf(path("ca.crt")),
    seal,
    timestamp: stamp,
    ports,
    revocationList,
    revoke,
    sealIdentity: (name, kind) => certify(name, kind, "seal", name),
    certifySealKey,
    close,
  };
}

const derOf = (path: string): Uint8Array => new X509Certificate(readFileSync(path)).raw;
export const sha256 = (bytes: Uint8Array): Buffer => createHash("sha256").update(bytes).digest();

/** The TimeStampResp of an authority run by openssl (`ts -reply`) to a TimeStampReq; `options` go into its configuration. */
export function opensslTimestamp(request: Uint8Array, from: Authority, options = "ess_cert_id_alg = sha256"): Buffer {
  const folder = mkdtempSync(join(from.folder, "reply-"));
  const path = (name: string): string => join(folder, name);
  writeFileSync(path("request.tsq"), request);
  writeFileSync(path("serial"), "01");
  const settings = {
    serial: path("serial"),
    signer_cert: from.timestamp.pem,
    signer_key: from.timestamp.keyPem,
    signer_digest: "sha256",
    certs: from.caPem,
    default_policy: TEST_POLICY,
    digests: "sha256",
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key} = ${value}`);
  writeFileSync(path("tsa.cnf"), ["[tsa]", "default_tsa = t", "[t]", ...lines, options, ""].join("\n"));
  const files = ["-config", path("tsa.cnf"), "-queryfile", path("request.tsq"), "-out", path("reply.tsr")];
  execFileSync("openssl", ["ts", "-reply", ...files], { stdio: "pipe" });
  return readFileSync(path("reply.tsr"));
}
