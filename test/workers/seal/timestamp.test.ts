/** Timestamps against openssl in both roles: it answers our requests, and it verifies what our authority issues. */
import { execFileSync } from "node:child_process";
import { sign } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decodeWhole, integer, sequence } from "../../../workers/seal/der.ts";
import { issueTimestamp, openTimestampResponse, timestampRequest } from "../../../workers/seal/timestamp.ts";
import { verifyTimestamp } from "../../../workers/seal/timestamp-verify.ts";
import {
  type Authority,
  type KeyKind,
  makeAuthority,
  opensslTimestamp,
  sha256,
  TEST_POLICY,
} from "../../harness/authority.ts";

const data = Buffer.from("what is timestamped");
const imprint = sha256(data);
const digest = (): Uint8Array => imprint;
let folder: string;
let authority: Authority;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "signet-ts-"));
  authority = makeAuthority({ seal: "ec-p256", timestamp: "rsa-2048" });
});
afterAll(() => {
  authority.close();
  rmSync(folder, { recursive: true, force: true });
});
const path = (name: string): string => join(folder, name);

function tokenOf(response: Uint8Array): Buffer {
  const opened = openTimestampResponse(response);
  if (!opened.granted) throw new Error(opened.text);
  return opened.token;
}

function issue(from: Authority, changes: { nonce?: bigint | null; at?: string } = {}): Promise<Uint8Array> {
  return issueTimestamp({
    imprint,
    nonce: changes.nonce ?? null,
    serial: 0xfedcba9876543210n,
    at: changes.at ?? new Date().toISOString(),
    policy: TEST_POLICY,
    certificates: from.timestamp.certificates,
    sign: async (attributes) => sign("sha256", attributes, from.timestamp.key),
  });
}

describe("as a client", () => {
  test("openssl understands the request", () => {
    writeFileSync(path("q.tsq"), timestampRequest(imprint, 0xdeadbeefn));
    const text = execFileSync("openssl", ["ts", "-query", "-in", path("q.tsq"), "-text"], { encoding: "utf8" });
    expect(text).toMatch(/Hash Algorithm: sha256/);
    expect(text).toMatch(/Nonce: 0xDEADBEEF/);
    expect(text).toMatch(/Certificate required: yes/);
  });

  test.each([
    ["ESS v2", "ess_cert_id_alg = sha256"],
    ["ESS v1 with SHA-1", "ess_cert_id_alg = sha1"],
    ["the whole chain", "ess_cert_id_chain = yes"],
    [
      "microseconds, ordering and the authority's name",
      "clock_precision_digits = 6\nordering = yes\ntsa_name = yes\naccuracy = secs:1",
    ],
  ])("a token by openssl is verified: %s", (_, options) => {
    const token = tokenOf(opensslTimestamp(timestampRequest(imprint, 77n), authority, options));
    const report = verifyTimestamp(token, { digest, nonce: 77n, trusted: [authority.ca] });
    expect(report).toMatchObject({ problems: [], policy: TEST_POLICY, authority: "O=Test, CN=Test Time" });
    expect(Math.abs(Date.parse(report.at ?? "") - Date.now())).toBeLessThan(60_000);
  });

  test("what is wrong with a token is named", () => {
    const token = tokenOf(opensslTimestamp(timestampRequest(imprint, 77n), authority));
    const problems = (changes: object): string[] =>
      verifyTimestamp(token, { digest, nonce: 77n, trusted: [authority.ca], ...changes }).problems;
    expect(problems({ nonce: 78n })).toEqual(["nonce-mismatch"]);
    expect(problems({ digest: () => sha256(Buffer.from("other")) })).toEqual(["imprint-mismatch"]);
    expect(problems({ trusted: [] })).toEqual(["untrusted"]);
    expect(verifyTimestamp(token.subarray(0, 100), { digest, trusted: [] }).problems).toEqual(["malformed"]);
    expect(verifyTimestamp(Buffer.from("garbage"), { digest, trusted: [] }).problems).toEqual(["malformed"]);
    expect(verifyTimestamp(Buffer.concat([token, Buffer.from([0])]), { digest, trusted: [] }).problems).toEqual([
      "malformed",
    ]);
  });

  test("a refusal comes with its reason", () => {
    writeFileSync(path("data"), data);
    const query = ["ts", "-query", "-data", path("data"), "-sha512", "-out", path("sha512.tsq")];
    execFileSync("openssl", query, { stdio: "pipe" });
    const refusal = opensslTimestamp(readFileSync(path("sha512.tsq")), authority);
    expect(openTimestampResponse(refusal)).toMatchObject({
      granted: false,
      status: 2,
      text: expect.stringContaining("not supported"),
    });
    const bare = sequence(sequence(integer(2)));
    expect(openTimestampResponse(bare)).toEqual({ granted: false, status: 2, text: "" });
  });

  test("a timestamp from before its authority's certificate is not trusted", async () => {
    const token = await issue(authority, { at: "2001-01-01T00:00:00.000Z" });
    expect(verifyTimestamp(token, { digest, trusted: [authority.ca] }).problems).toEqual(["untrusted"]);
  });

  test("a certificate whose purpose is not critical is refused, for issuing and for verifying", async () => {
    const wrong = makeAuthority({ seal: "ec-p256", timestamp: "ec-p256", timestampExtensions: "wrong-timestamp" });
    try {
      await expect(issue(wrong)).rejects.toThrow("not a timestamping certificate");
      const seal = { ...authority, timestamp: { ...authority.seal } };
      await expect(issue(seal)).rejects.toThrow("not a timestamping certificate");
    } finally {
      wrong.close();
    }
  });
});

describe.each<KeyKind>(["rsa-3072", "ec-p256"])("as the built-in authority with %s", (kind) => {
  test("openssl verifies its tokens", async () => {
    const own = makeAuthority({ seal: "ec-p256", timestamp: kind });
    try {
      const token = await issue(own, { nonce: 0x80n, at: new Date(Date.now() + 2000).toISOString() });
      writeFileSync(path("t.der"), token);
      writeFileSync(path("data"), data);
      const verify = ["ts", "-verify", "-token_in", "-in", path("t.der"), "-data", path("data"), "-CAfile", own.caPem];
      expect(execFileSync("openssl", verify, { encoding: "utf8", stdio: "pipe" })).toContain("Verification: OK");
      const text = execFileSync("openssl", ["ts", "-reply", "-token_in", "-in", path("t.der"), "-token_out", "-text"], {
        encoding: "utf8",
        stdio: "pipe",
      });
      expect(text).toContain("Serial number: 0xFEDCBA9876543210");
      expect(text).toContain(`Policy OID: ${TEST_POLICY}`);
      expect(text).toContain("Nonce: 0x80");
      expect(verifyTimestamp(token, { digest, nonce: 0x80n, trusted: [own.ca] }).problems).toEqual([]);
    } finally {
      own.close();
    }
  });
});

test("every altered byte of a token is noticed", { timeout: 120_000 }, async () => {
  const token = Buffer.from(await issue(authority, { at: new Date(Date.now() + 2000).toISOString() }));
  const unnoticed: number[] = [];
  for (let index = 0; index < decodeWhole(token).end; index++) {
    token[index] = (token[index] ?? 0) ^ (1 << (index % 8));
    const report = verifyTimestamp(token, { digest, nonce: undefined, trusted: [authority.ca] });
    if (report.problems.length === 0 && !report.stray) unnoticed.push(index);
    token[index] = (token[index] ?? 0) ^ (1 << (index % 8));
  }
  expect(unnoticed).toEqual([]);
});
