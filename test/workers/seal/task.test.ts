/** The seal as the worker runs it, with certificates as the appliance issues them. */
import { execFileSync } from "node:child_process";
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { judgeSealedPdf } from "../../../server/commands/demo/judges.ts";
import { type CertificateProfile, issueCertificate } from "../../../server/features/keys/certificates.ts";
import type { TaskPorts, Tasks, TimestampSource } from "../../../workers/protocol.ts";
import { sealTask } from "../../../workers/seal/task.ts";
import { verifySealedPdf } from "../../../workers/seal/verify.ts";
import { type Authority, makeAuthority, opensslTimestamp, TEST_POLICY } from "../../harness/authority.ts";
import { samplePdf, whole } from "../../harness/pdfs.ts";

const now = Date.now();
const at = new Date(now).toISOString();
const rsa = () => generateKeyPairSync("rsa", { modulusLength: 2048 });

let folder: string;
let outside: Authority;
let ca: { der: Uint8Array; pem: string };
let seal: { certificates: Uint8Array[]; privateKey: KeyObject };
let time: { certificates: Uint8Array[]; privateKey: KeyObject };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "signet-task-"));
  outside = makeAuthority({ seal: "ec-p256", timestamp: "ec-p256" });
  const root = rsa();
  const issuer = { commonName: "Signet CA", ...root };
  const certify = (profile: CertificateProfile, commonName: string, publicKey: KeyObject): Promise<Uint8Array> => {
    const validity = { notBefore: now - 60_000, notAfter: now + 86_400_000 };
    return issueCertificate({ profile, commonName, publicKey, issuer, serial: randomBytes(16), ...validity });
  };
  const der = await certify("ca", "Signet CA", root.publicKey);
  const pem = join(folder, "ca.pem");
  writeFileSync(
    pem,
    `-----BEGIN CERTIFICATE-----\n${Buffer.from(der).toString("base64")}\n-----END CERTIFICATE-----\n`,
  );
  ca = { der, pem };
  const sealKey = rsa();
  const timeKey = rsa();
  const sealDer = await certify("seal", "Signet Seal", sealKey.publicKey);
  const timeDer = await certify("timestamp", "Signet Time", timeKey.publicKey);
  seal = { certificates: [sealDer, der], privateKey: sealKey.privateKey };
  time = { certificates: [timeDer, der], privateKey: timeKey.privateKey };
});
afterAll(() => {
  outside.close();
  rmSync(folder, { recursive: true, force: true });
});

const unexpected = async (): Promise<never> => {
  throw new Error("not to be asked");
};
const ports = (changes: Partial<TaskPorts> = {}): TaskPorts => ({
  sign: async (attributes) => sign("sha256", attributes, seal.privateKey),
  signTimestamp: unexpected,
  timestampTime: unexpected,
  requestTimestamp: unexpected,
  revocationList: unexpected,
  ...changes,
});
const builtIn = (): TimestampSource => ({
  kind: "built-in",
  certificates: time.certificates,
  policy: TEST_POLICY,
  serial: "0badcafe",
});
/** The built-in authority, with its clock at this time. */
const stamping = (time0 = at): Partial<TaskPorts> => ({
  signTimestamp: async (bytes) => sign("sha256", bytes, time.privateKey),
  timestampTime: async () => Buffer.from(time0),
});
const request = (changes: object = {}): TimestampSource => ({
  kind: "request",
  nonce: "c0ffee",
  trusted: [outside.ca],
  tolerance: 60,
  ...changes,
});
async function input(timestamp: TimestampSource | null): Promise<Tasks["seal"]["input"]> {
  return {
    pdf: await samplePdf(),
    pages: null,
    certificates: seal.certificates,
    key: "rsa",
    at,
    name: "Signet",
    reason: "Completed",
    location: null,
    level: timestamp ? "B-T" : "B-B",
    fieldName: "Seal",
    timestamp,
    archive: null,
  };
}

async function sealed(timestamp: TimestampSource | null, changes: Partial<TaskPorts> = {}) {
  const given = await input(timestamp);
  const result = await sealTask(given, ports(changes));
  if (!result.ok) throw new Error(result.error.message);
  return { pdf: whole(given.pdf, result.value.tail), timestamp: result.value.timestamp };
}

test("the appliance's own certificates satisfy every judge", async () => {
  const { pdf, timestamp } = await sealed(builtIn(), stamping());
  expect(timestamp).toMatchObject({ at, authority: "O=Signet, CN=Signet Time" });
  const path = join(folder, "sealed.pdf");
  writeFileSync(path, pdf);
  const verdicts = await judgeSealedPdf(path, ca.pem);
  expect(verdicts.filter(({ ok }) => !ok)).toEqual([]);
  const report = verifySealedPdf(pdf, { trusted: [ca.der], at });
  expect(report.valid).toBe(true);
  expect(report.signatures[0]).toMatchObject({ level: "B-T", timestamp: { at, serial: "badcafe", problems: [] } });
  expect(report.signatures[0]?.timestamp?.anchorSha256).toBe(timestamp?.anchorSha256);
});

test("without a timestamp the level is B-B", async () => {
  const { pdf, timestamp } = await sealed(null);
  expect(timestamp).toBeNull();
  expect(verifySealedPdf(pdf, { trusted: [ca.der], at }).signatures[0]?.level).toBe("B-B");
});

test("a certificate for timestamps or servers may not seal", async () => {
  const given = { ...(await input(null)), certificates: time.certificates };
  expect(await sealTask(given, ports())).toMatchObject({ ok: false, error: { code: "bad-certificate" } });
});

describe("nothing is sealed that would not hold", () => {
  const later = new Date(now + 2 * 86_400_000).toISOString();
  const refused = async (changes: object, own: Partial<TaskPorts>) => {
    const result = await sealTask({ ...(await input(builtIn())), ...changes }, ports(own));
    return result.ok ? null : result.error;
  };

  test("a certificate that has run out, or is not valid yet", async () => {
    for (const given of [later, new Date(now - 2 * 86_400_000).toISOString()]) {
      const error = await refused({ at: given }, { ...stamping(), sign: unexpected });
      expect(error).toMatchObject({ code: "bad-certificate", message: expect.stringContaining("Signet Seal") });
    }
  });

  test("a built-in authority whose certificate has run out", async () => {
    const error = await refused({}, stamping(later));
    expect(error).toMatchObject({ code: "bad-certificate", message: expect.stringContaining("Signet Time") });
  });

  test("a time stamp that was signed with another key", async () => {
    const wrongKey: TaskPorts["signTimestamp"] = async (bytes) => sign("sha256", bytes, seal.privateKey);
    const error = await refused({}, { ...stamping(), signTimestamp: wrongKey });
    expect(error).toMatchObject({ code: "seal-invalid", message: expect.stringContaining("timestamp-invalid") });
  });
});

test("the built-in authority states the time at which it is asked", async () => {
  const asked = new Date(now + 5_000).toISOString();
  const order: string[] = [];
  const { timestamp } = await sealed(builtIn(), {
    ...stamping(asked),
    async sign(attributes) {
      order.push("signed");
      return sign("sha256", attributes, seal.privateKey);
    },
    async timestampTime() {
      order.push("asked");
      return Buffer.from(asked);
    },
  });
  expect(timestamp?.at).toBe(asked);
  expect(order).toEqual(["signed", "asked"]);
});

describe("an outside authority", () => {
  const answering: TaskPorts["requestTimestamp"] = async (query) => opensslTimestamp(query, outside);

  test("stamps, verified against its own root", async () => {
    const { pdf } = await sealed(request(), { requestTimestamp: answering });
    const trust = { trusted: [ca.der], trustedTimestamp: [outside.ca], at };
    expect(verifySealedPdf(pdf, trust)).toMatchObject({ valid: true });
    expect(verifySealedPdf(pdf, { trusted: [ca.der], at }).signatures[0]?.problems).toEqual(["timestamp-invalid"]);
    const path = join(folder, "outside.pdf");
    const both = join(folder, "both.pem");
    writeFileSync(path, pdf);
    writeFileSync(both, readFileSync(ca.pem, "utf8") + readFileSync(outside.caPem, "utf8"));
    const verdicts = await judgeSealedPdf(path, both);
    expect(verdicts.filter(({ ok }) => !ok)).toEqual([]);
  });

  const other = async (): Promise<Uint8Array> => {
    const query = ["ts", "-query", "-digest", "00".repeat(32), "-sha256", "-cert", "-out", join(folder, "other.tsq")];
    execFileSync("openssl", query, { stdio: "pipe" });
    return opensslTimestamp(readFileSync(join(folder, "other.tsq")), outside);
  };
  const refusals: [string, () => TimestampSource, TaskPorts["requestTimestamp"], RegExp][] = [
    ["that nobody trusts", () => request({ trusted: [ca.der] }), answering, /untrusted/],
    ["that answers another question", () => request(), other, /imprint-mismatch, nonce-mismatch/],
    ["that answers with a web page", () => request(), async () => Buffer.from("<html>"), /no timestamp response/],
    ["that refuses", () => request(), async () => Buffer.from("30053003020102", "hex"), /status 2/],
    ["whose clock is wrong", () => request({ tolerance: -1 }), answering, /says that it is/],
    [
      "that is unreachable",
      () => request(),
      async () => {
        throw new Error("connect ECONNREFUSED");
      },
      /ECONNREFUSED/,
    ],
  ];
  test.each(refusals)("%s gives a coded failure", async (_, source, requestTimestamp, message) => {
    const result = await sealTask(await input(source()), ports({ requestTimestamp }));
    expect(result).toMatchObject({ ok: false, error: { code: "timestamp-refused" } });
    expect(result.ok ? "" : result.error.message).toMatch(message);
  });
});
