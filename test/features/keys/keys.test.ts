import { execFileSync } from "node:child_process";
import { createHash, createPublicKey, verify, X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  anchorSigner,
  authorities,
  ensureKeys,
  publicAnchorKeys,
  sealSigner,
  timestampAuthority,
} from "../../../server/features/keys/service.ts";
import { systemClock } from "../../../server/kernel/clock.ts";
import { type Database, openDatabase } from "../../../server/kernel/db.ts";
import { openSecrets, type Secrets } from "../../../server/kernel/secrets.ts";

let folder: string;
let db: Database;
let secrets: Secrets;
const deps = () => ({ db, secrets, clock: systemClock, config: { baseUrl: "http://127.0.0.1:8480" } });
const file = (name: string): string => path.join(folder, name);
const open = () => openDatabase({ file: file("signet.db"), secrets });
const openssl = (...args: string[]): string => execFileSync("openssl", args, { stdio: "pipe" }).toString();

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-keys-"));
  secrets = openSecrets(Buffer.alloc(32, 7));
  db = await open();
  await ensureKeys(deps());
  const {
    seals: [ca = ""],
  } = await authorities(db.read);
  await writeFile(file("ca.pem"), ca);
  const signers = { seal: await sealSigner(deps()), timestamp: await timestampAuthority(deps()) };
  for (const [name, { certificates }] of Object.entries(signers)) {
    await writeFile(file(`${name}.pem`), new X509Certificate(certificates[0] ?? new Uint8Array(0)).toString());
  }
});
afterAll(async () => {
  await db.close();
  await rm(folder, { recursive: true, force: true });
});

test("openssl accepts the certificates for what they are for, and for nothing else", () => {
  const ca = ["-x509_strict", "-CAfile", file("ca.pem")];
  expect(openssl("verify", ...ca, file("ca.pem"))).toContain("OK");
  expect(openssl("verify", ...ca, "-purpose", "smimesign", file("seal.pem"))).toContain("OK");
  expect(openssl("verify", ...ca, "-purpose", "timestampsign", file("timestamp.pem"))).toContain("OK");
  expect(() => openssl("verify", ...ca, "-purpose", "timestampsign", file("seal.pem"))).toThrow();
  expect(() => openssl("verify", ...ca, "-purpose", "smimesign", file("timestamp.pem"))).toThrow();
  expect(() => openssl("verify", "-CAfile", file("seal.pem"), file("timestamp.pem"))).toThrow();
});

test("the certificates say what RFC 5280 and RFC 3161 ask for", () => {
  const text = (name: string) => openssl("x509", "-in", file(`${name}.pem`), "-noout", "-text").replaceAll(/\s+/g, " ");
  expect(text("ca")).toContain("Basic Constraints: critical CA:TRUE, pathlen:0");
  expect(text("ca")).toContain("Key Usage: critical Certificate Sign, CRL Sign");
  expect(text("ca")).toContain("Public-Key: (3072 bit)");
  expect(text("seal")).toContain("Key Usage: critical Digital Signature, Non Repudiation");
  expect(text("seal")).toContain("Public-Key: (3072 bit)");
  expect(text("timestamp")).toContain("Extended Key Usage: critical Time Stamping");
  for (const name of ["ca", "seal", "timestamp"]) {
    expect(text(name)).toContain("Signature Algorithm: sha256WithRSAEncryption");
    expect(text(name)).toContain("Version: 3");
    const serial = openssl("x509", "-in", file(`${name}.pem`), "-noout", "-serial");
    expect(serial).toMatch(/^serial=[4-7][0-9A-F]{31}\n$/);
  }
  const identifier = /Subject Key Identifier: ([0-9A-F:]+)/.exec(text("ca"))?.[1];
  expect(text("seal")).toContain(`Authority Key Identifier: ${identifier}`);
});

test("signatures verify under the certificates", async () => {
  const message = Buffer.from("signed attributes");
  for (const signer of [await sealSigner(deps()), await timestampAuthority(deps())]) {
    const own = new X509Certificate(signer.certificates[0] ?? new Uint8Array(0));
    expect(verify("sha256", message, own.publicKey, await signer.sign(message))).toBe(true);
    expect(signer.certificateSha256).toBe(createHash("sha256").update(own.raw).digest("hex"));
    expect(own.subject.replaceAll("\n", ", ")).toBe(signer.subject);
  }
});

test("the anchor key is published as it signs", async () => {
  const [key, ...others] = await publicAnchorKeys(db.read);
  const signer = await anchorSigner(deps());
  expect(others).toEqual([]);
  expect(key).toMatchObject({
    kty: "OKP",
    crv: "Ed25519",
    kid: signer.kid,
    use: "sig",
    alg: "EdDSA",
    validUntil: null,
  });
  const jwk = { kty: "OKP", crv: "Ed25519", x: key?.x ?? "" };
  const thumbprint = createHash("sha256").update(`{"crv":"Ed25519","kty":"OKP","x":"${jwk.x}"}`).digest("base64url");
  expect(key?.kid).toBe(thumbprint);
  const message = Buffer.from("anchor");
  const publicKey = createPublicKey({ key: jwk, format: "jwk" });
  expect(verify(null, message, publicKey, await signer.sign(message))).toBe(true);
});

test("keys outlive the process, and lie in the file only encrypted", async () => {
  const before = (await sealSigner(deps())).certificateSha256;
  await db.close();
  db = await open();
  expect((await sealSigner(deps())).certificateSha256).toBe(before);
  const bytes = await readFile(file("signet.db"));
  // Beginning of a PKCS#8 structure, as DER, base64 and PEM.
  for (const trace of [Buffer.from("300d06092a864886f70d0101010500048206", "hex"), "PRIVATE KEY", "MIIG/"])
    expect(bytes.includes(trace)).toBe(false);
});

test("of two processes that make keys at the same time one wins, and both use its keys", async () => {
  const path = file("race.db");
  const first = await openDatabase({ file: path, secrets });
  const second = await openDatabase({ file: path, secrets });
  try {
    const signers = await Promise.all([first, second].map((one) => sealSigner({ ...deps(), db: one })));
    expect(new Set(signers.map(({ certificateSha256 }) => certificateSha256)).size).toBe(1);
  } finally {
    await first.close();
    await second.close();
  }
});

test("another master key does not open them", async () => {
  const path = file("foreign.db");
  const own = await openDatabase({ file: path, secrets });
  await ensureKeys({ ...deps(), db: own });
  await own.close();
  const stranger = await openDatabase({ file: path, secrets });
  await expect(sealSigner({ ...deps(), db: stranger, secrets: openSecrets(Buffer.alloc(32, 8)) })).rejects.toThrow(
    "another master key",
  );
  await stranger.close();
});
