/** Which certificates may stand behind a seal, and which of two ECDSA signatures. Made by openssl under a trusted root. */
import { execFileSync } from "node:child_process";
import { createPrivateKey, sign, X509Certificate } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeSignedData, parseSignedData } from "../../../workers/seal/cms.ts";
import { decodeWhole, integer, sequence } from "../../../workers/seal/der.ts";
import { seal } from "../../../workers/seal/seal.ts";
import { type SealReport, verifySealedPdf } from "../../../workers/seal/verify.ts";
import { type Authority, makeAuthority } from "../../harness/authority.ts";
import { contract } from "../../harness/hostile-pdfs.ts";

const at = new Date(Date.now() + 3_600_000).toISOString();
const LEAF = "basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\n";
const CA = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n";
const SECTIONS = `[leaf]\n${LEAF}[addresses]\n${LEAF}authorityInfoAccess=caIssuers;URI:http://127.0.0.1:8480/ca.cer\ncrlDistributionPoints=URI:http://127.0.0.1:8480/ca.crl
[mail]\n${LEAF}extendedKeyUsage=emailProtection\n[critical]\n${LEAF}1.2.3.4.5=critical,ASN1:UTF8String:unknown
[ca]\n${CA}[web]\n${CA}extendedKeyUsage=serverAuth\n[mails]\n${CA}extendedKeyUsage=emailProtection
[names]\n${CA}nameConstraints=permitted;DNS:mallory.example\n`;

let authority: Authority;
beforeAll(() => {
  authority = makeAuthority({ ca: "rsa-2048", seal: "rsa-2048", timestamp: "ec-p256" });
  writeFileSync(join(authority.folder, "rules.cnf"), SECTIONS);
});
afterAll(() => authority.close());

type Made = { certificate: Uint8Array; name: string };
type Wish = { section: string; issuer?: string; bits?: number; digest?: string };

function certified(name: string, { section, issuer = "ca", bits = 2048, digest = "sha256" }: Wish): Made {
  const file = (ending: string): string => join(authority.folder, `${name}.${ending}`);
  const run = (...args: string[]) => execFileSync("openssl", args, { stdio: "pipe", cwd: authority.folder });
  const key = ["-newkey", `rsa:${bits}`, "-nodes", "-keyout", file("key")];
  run("req", "-new", ...key, "-subj", `/CN=${name}`, "-out", file("csr"));
  const by = ["-CA", `${issuer}.crt`, "-CAkey", `${issuer}.key`, "-CAcreateserial", "-days", "300", `-${digest}`];
  run("x509", "-req", "-in", file("csr"), ...by, "-extfile", "rules.cnf", "-extensions", section, "-out", file("crt"));
  return { name, certificate: new X509Certificate(readFileSync(file("crt"))).raw };
}

const verify = (pdf: Uint8Array): SealReport => verifySealedPdf(pdf, { trusted: [authority.ca], at });

async function sealedBy(leaf: Made, chain: readonly Made[]): Promise<SealReport> {
  const pdf = contract();
  const key = createPrivateKey(readFileSync(join(authority.folder, `${leaf.name}.key`)));
  const certificates = [leaf, ...chain].map(({ certificate }) => certificate).concat(authority.ca);
  const about = { at, name: "Acme", reason: "x", location: null, fieldName: "Seal", key: "rsa", level: "B-T" } as const;
  const ports = { ...authority.ports(at), sign: async (bytes: Uint8Array) => sign("sha256", bytes, key) };
  const result = await seal({ ...about, pdf, pages: null, certificates }, ports);
  if (!result.ok) throw new Error(result.error.message);
  return verify(Buffer.concat([pdf, result.value.tail]));
}

describe("a chain with", () => {
  const rows: [string, Wish, Wish | null, boolean][] = [
    ["nothing unusual", { section: "leaf" }, { section: "ca" }, true],
    ["addresses of its issuer and of the list", { section: "addresses" }, null, true],
    ["purposes that fit each other", { section: "mail" }, { section: "mails" }, true],
    ["a condition that nobody here knows", { section: "critical" }, null, false],
    ["a signature with SHA-1", { section: "leaf", digest: "sha1" }, null, false],
    ["a signature with MD5", { section: "leaf", digest: "md5" }, null, false],
    ["a short key", { section: "leaf", bits: 1024 }, null, false],
    ["an authority for web servers", { section: "leaf" }, { section: "web" }, false],
    ["an authority for some names", { section: "leaf" }, { section: "names" }, false],
  ];
  test.each(rows)("%s", async (title, leaf, middle, holds) => {
    const id = title.replaceAll(/\W/g, "");
    const above = middle ? [certified(`${id}CA`, middle)] : [];
    const own = certified(id, middle ? { ...leaf, issuer: `${id}CA` } : leaf);
    const report = await sealedBy(own, above);
    expect(report.valid).toBe(holds);
    if (!holds) expect(report.signatures[0]?.problems).toContain("untrusted");
  });
});

test("the other ECDSA signature of our own authority's timestamp is refused", async () => {
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  const pdf = contract();
  const tokens: Uint8Array[] = [];
  const ports = authority.ports(at);
  const timestamp = async (imprint: Uint8Array): Promise<Uint8Array> => {
    const token = await ports.timestamp(imprint);
    tokens.push(token);
    return token;
  };
  const about = { at, name: "Acme", reason: "x", location: null, fieldName: "Seal", key: "rsa", level: "B-T" } as const;
  const given = { ...about, pdf, pages: null, certificates: authority.seal.certificates };
  const result = await seal(given, { ...ports, timestamp });
  if (!result.ok) throw new Error(result.error.message);
  const file = Buffer.concat([pdf, result.value.tail]);
  const text = file.toString("latin1");
  const open = text.lastIndexOf("/Contents <") + "/Contents <".length;
  const close = text.indexOf(">", open);
  const parts = (data: ReturnType<typeof parseSignedData>) => ({
    contentType: data.contentType,
    content: data.content,
    certificates: data.certificates,
    attributes: data.signer.attributesDer,
    signature: data.signer.signature,
  });
  const stamp = parseSignedData(tokens[0] ?? new Uint8Array());
  const [r, s] = decodeWhole(stamp.signer.signature).children();
  const [one, two] = [r?.integer() ?? 0n, s?.integer() ?? 0n];
  expect(two <= order / 2n).toBe(true);
  const signature = sequence(integer(one), integer(order - two));
  const turned = encodeSignedData({ ...parts(stamp), key: "ec-p256", signature, timestamp: null });
  const outer = parts(parseSignedData(Buffer.from(text.slice(open, close), "hex")));
  const cms = encodeSignedData({ ...outer, key: "rsa", timestamp: turned }).toString("hex");
  const changed = Buffer.from(text.slice(0, open) + cms.padEnd(close - open, "0") + text.slice(close), "latin1");
  expect(verify(file).valid).toBe(true);
  expect(verify(changed).signatures[0]?.problems).toEqual(["timestamp-invalid"]);
});
