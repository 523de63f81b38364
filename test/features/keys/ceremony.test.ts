import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../../../server/cli.ts";
import { authorities, sealSigner } from "../../../server/features/keys/service.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { type Authority, makeAuthority } from "../../harness/authority.ts";
import { movableClock } from "../../harness/clock.ts";
import { makeToken, type SoftToken } from "../../harness/softhsm.ts";

/** The ceremony as an operator calls it, beside a running appliance, with certificates made by openssl. */

let folder: string;
let token: SoftToken;
let app: TestAppliance;
let authority: Authority;
// Behind the beginning of every certificate that openssl makes meanwhile.
const clock = movableClock(new Date(Date.now() + 3_600_000).toISOString());
const file = (name: string) => path.join(folder, name);
const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: "pipe" }).toString();

type Key = { id: string; use: string; state: string; kind: string; storage: string; subject: string | null };

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-ceremony-"));
  token = makeToken();
  authority = makeAuthority();
  app = await startAppliance({ env: token.env, clock });
});
afterAll(async () => {
  await app?.stop();
  authority?.close();
  token?.close();
  await rm(folder, { recursive: true, force: true });
});

async function signet(...args: string[]): Promise<{ code: number; value: Record<string, unknown> }> {
  let out = "";
  const streams = {
    stdout: (text: string) => {
      out += text;
    },
    stderr: () => undefined,
    stdin: (async function* () {})(),
    interactive: false,
    onSignal: () => undefined,
  };
  const env = { SIGNET_DATA_DIR: app.folder, SIGNET_LOG_LEVEL: "silent", ...token.env };
  const code = await runCli(["keys", ...args, "--json"], env, streams);
  return { code, value: JSON.parse(out) };
}

async function keys(state: string): Promise<Key[]> {
  const { value } = await signet("list");
  return (value.keys as Key[]).filter((key) => key.state === state);
}

/** What the running server seals with. */
const current = async () => await sealSigner(app.deps);

test("the organization's own certificate comes by PKCS#12, and the running server seals with it", async () => {
  await writeFile(file("password"), "password\n");
  await writeFile(file("wrong"), "wrong\n");
  const { pem, keyPem } = authority.seal;
  const chain = ["-certfile", authority.caPem, "-passout", "pass:password"];
  openssl("pkcs12", "-export", "-inkey", keyPem, "-in", pem, ...chain, "-out", file("own.p12"));
  expect(await signet("import-p12", file("own.p12"), "--password-file", file("wrong"))).toMatchObject({
    code: 1,
    value: { code: "validation-failed" },
  });
  const made = await signet("import-p12", file("own.p12"), "--password-file", file("password"));
  expect(made).toMatchObject({ code: 0, value: { use: "seal", state: "waiting", kind: "rsa-3072" } });
  const before = await current();
  expect(before.certificateSha256).not.toBe(made.value.id);
  expect((await signet("rotate", "--use", "seal")).code).toBe(0);
  const after = await current();
  expect(after.certificateSha256).toBe(made.value.id);
  expect(after.certificates.map((der) => Buffer.from(der))).toEqual(
    authority.seal.certificates.map((der) => Buffer.from(der)),
  );
  // Both authorities are published: what was sealed before still verifies.
  expect((await authorities(app.deps.db.read)).seals).toHaveLength(2);
  expect((await keys("retired")).map(({ id }) => id)).toEqual([before.certificateSha256]);
});

test("a PKCS#12 file with a P-256 key is understood too, one without the issuer is refused", async () => {
  const other = makeAuthority({ seal: "ec-p256", name: "Other" });
  const { pem, keyPem } = other.seal;
  const pack = ["pkcs12", "-export", "-inkey", keyPem, "-in", pem, "-passout", "pass:x"];
  await writeFile(file("x"), "x");
  openssl(...pack, "-out", file("alone.p12"));
  openssl(...pack, "-certfile", other.caPem, "-out", file("ec.p12"));
  expect(await signet("import-p12", file("alone.p12"), "--password-file", file("x"))).toMatchObject({ code: 1 });
  const made = await signet("import-p12", file("ec.p12"), "--password-file", file("x"));
  expect(made).toMatchObject({ code: 0, value: { kind: "ec-p256" } });
  expect((await signet("test-sign", "--key", String(made.value.id))).code).toBe(0);
  expect((await signet("rotate", "--use", "seal", "--key", String(made.value.id))).code).toBe(0);
  expect(await current()).toMatchObject({ kind: "ec-p256" });
  other.close();
});

test("a key of the token gets its certificate by a request that openssl accepts", async () => {
  const made = await signet("generate", "--use", "seal", "--kind", "ec-p256", "--pkcs11");
  expect(made).toMatchObject({ code: 0, value: { storage: "pkcs11", state: "waiting" } });
  const names = ["--organization", "Müller GmbH", "--name", "Müller Siegel"];
  const { value } = await signet("csr", "--key", String(made.value.id), ...names);
  await writeFile(file("key.csr"), String(value.request));
  expect(openssl("req", "-in", file("key.csr"), "-noout", "-verify", "-subject", "-nameopt", "utf8")).toContain(
    "Müller Siegel",
  );
  const issuer = ["-CA", authority.caPem, "-CAkey", path.join(authority.folder, "ca.key"), "-CAcreateserial"];
  const profile = ["-extfile", path.join(authority.folder, "openssl.cnf"), "-extensions", "seal", "-days", "365"];
  openssl("x509", "-req", "-in", file("key.csr"), ...issuer, ...profile, "-out", file("key.crt"));
  expect(await signet("install-cert", file("key.crt"))).toMatchObject({ code: 1 });
  const chain = Buffer.concat([await readFile(file("key.crt")), await readFile(authority.caPem)]);
  await writeFile(file("chain.pem"), chain);
  const installed = await signet("install-cert", file("chain.pem"));
  expect(installed).toMatchObject({ code: 0, value: { state: "waiting", storage: "pkcs11" } });
  expect((await keys("waiting")).map(({ id }) => id)).toEqual([installed.value.id]);
  expect((await signet("rotate", "--use", "seal")).code).toBe(0);
  expect((await current()).certificateSha256).toBe(installed.value.id);
  await writeFile(
    file("tsa.pem"),
    Buffer.concat([await readFile(authority.timestamp.pem), await readFile(authority.caPem)]),
  );
  expect(await signet("install-cert", file("tsa.pem"))).toMatchObject({ code: 1 });
});

test("wrong calls and a token that is away have their exit codes", async () => {
  expect((await signet("rotate")).code).toBe(2);
  expect((await signet("generate", "--use", "anchor", "--kind", "ec-p256")).code).toBe(2);
  expect(await signet("csr", "--key", "nothing", "--organization", "O", "--name", "N")).toMatchObject({
    code: 1,
    value: { code: "not-found" },
  });
  token.pullOut();
  expect(await signet("test-sign", "--use", "seal")).toMatchObject({ code: 1, value: { code: "token-missing" } });
  token.putBack();
  // The server does not ask a token again at once that was just away.
  await expect.poll(async () => (await signet("test-sign")).code, { timeout: 15_000 }).toBe(0);
});

test("a certificate of our own authority is renewed before it ends, the key stays", async () => {
  expect((await signet("rotate", "--use", "seal", "--kind", "ec-p256")).code).toBe(0);
  const before = await current();
  clock.advance(2.8 * 365.25 * 86_400_000);
  const after = await current();
  expect(after.certificateSha256).not.toBe(before.certificateSha256);
  const of = (signer: typeof before) =>
    execFileSync("openssl", ["x509", "-inform", "DER", "-noout", "-pubkey"], {
      input: signer.certificates[0],
    }).toString();
  expect(of(after)).toBe(of(before));
  expect((await current()).certificateSha256).toBe(after.certificateSha256);
});
