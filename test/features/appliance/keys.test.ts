import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  generateManagedKey,
  giveTokenPin,
  importManagedKey,
  installKeyCertificate,
  listKeyRecords,
  listManagedKeys,
  listTokenSlots,
  requestKeyCertificate,
  rotateManagedAuthority,
  rotateManagedKey,
  testSignKeys,
} from "../../../server/features/keys/managed-contract.ts";
import { listOperatorAudit } from "../../../server/features/operators/contract.ts";
import { LocalProblem } from "../../../server/local-client.ts";
import { administrator } from "../../harness/admin.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { type Authority, makeAuthority } from "../../harness/authority.ts";
import { commandOn } from "../../harness/cli.ts";
import { makeToken, type SoftToken, softhsmModule } from "../../harness/softhsm.ts";

/** The keys by the admin socket, with a real token; what each act does is the ceremony's own test. */

let token: SoftToken;
let app: TestAppliance;
let authority: Authority;
beforeAll(async () => {
  token = makeToken();
  secondToken();
  authority = makeAuthority();
  // By the file and not by the environment, so that another token can be chosen.
  app = await startAppliance();
});
afterAll(async () => {
  await app?.stop();
  authority?.close();
  token?.close();
});

const admin = () => administrator(app, "ada");
const problem = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (!(error instanceof LocalProblem)) throw error ?? new Error("it did not fail");
  return error.problem;
};
const acts = async () => (await admin().call(listOperatorAudit, { query: { limit: 100 } })).data;
const secondToken = () =>
  execFileSync(
    "softhsm2-util",
    ["--init-token", "--free", "--label", "second", "--pin", "2468", "--so-pin", "87654321"],
    { stdio: "pipe" },
  );

test("a token is picked and its PIN tried once: a refused one is kept nowhere, an accepted one in a file, the token in the settings", async () => {
  const { data } = await admin().call(listTokenSlots, { body: { module: softhsmModule } });
  expect(data.map(({ label, initialized }) => [label, initialized])).toContainEqual(["signet", true]);
  const module = softhsmModule;
  expect(await problem(admin().call(giveTokenPin, { body: { pin: "1" } }))).toMatchObject({ code: "conflict" });
  expect(await problem(admin().call(giveTokenPin, { body: { module, token: "none", pin: "1" } }))).toMatchObject({
    code: "service-unavailable",
    detail: expect.stringMatching(/^token-missing: /),
  });
  const refused = await admin().call(giveTokenPin, { body: { module, token: "signet", pin: "000000" } });
  // SoftHSM counts by the flag of PKCS#11 and never locks.
  expect(refused).toEqual({ accepted: false, tries: "fewer", pinFile: null, restartNeeded: false });
  expect(readdirSync(app.folder).filter((name) => name.includes("pin"))).toEqual([]);
  const given = await admin().call(giveTokenPin, { body: { module, token: "signet", pin: "123456" } });
  const pinFile = path.join(app.folder, "token.pin");
  expect(given).toEqual({ accepted: true, tries: "all", pinFile, restartNeeded: true });
  expect(readFileSync(pinFile, "utf8")).toBe("123456\n");
  expect(JSON.parse(readFileSync(path.join(app.folder, "signet.json"), "utf8"))).toMatchObject({
    pkcs11Module: module,
    pkcs11Token: "signet",
    pkcs11PinFile: pinFile,
  });
  const audit = await acts();
  expect(audit.map(({ action }) => action).toReversed()).toEqual([
    "keys.library_loaded",
    "keys.pin_tried",
    "keys.pin_tried",
    "keys.pin_tried",
    "settings.changed",
  ]);
  expect(JSON.stringify(audit.map(({ data }) => data))).not.toMatch(/123456|000000/);
});

test("after the start keys are made in the token, certified, put into use and recorded, each act with its operator", async () => {
  const { SIGNET_PKCS11_MODULE, SIGNET_PKCS11_TOKEN } = token.env;
  await app.stop();
  app = await startAppliance({
    env: {
      SIGNET_PKCS11_MODULE: String(SIGNET_PKCS11_MODULE),
      SIGNET_PKCS11_TOKEN: String(SIGNET_PKCS11_TOKEN),
      SIGNET_PKCS11_PIN_FILE: token.pinFile,
    },
  });
  const made = await admin().call(generateManagedKey, {
    body: { use: "seal", kind: "ec-p256", storage: "pkcs11", by: "Olive Owner" },
  });
  expect(made.key).toMatchObject({ use: "seal", state: "waiting", storage: "pkcs11" });
  const { request } = await admin().call(requestKeyCertificate, {
    params: { key: made.key.id.slice(0, 12) },
    body: { organization: "Example Ltd", commonName: "Example Seal" },
  });
  const file = (name: string) => path.join(authority.folder, name);
  writeFileSync(file("key.csr"), request);
  const issuer = ["-CA", authority.caPem, "-CAkey", file("ca.key"), "-CAcreateserial"];
  const profile = ["-extfile", file("openssl.cnf"), "-extensions", "seal", "-days", "365", "-out", file("key.crt")];
  execFileSync("openssl", ["x509", "-req", "-in", file("key.csr"), ...issuer, ...profile], { stdio: "pipe" });
  const chain = Buffer.concat([readFileSync(file("key.crt")), readFileSync(authority.caPem)]).toString("base64");
  const installed = await admin().call(installKeyCertificate, { body: { file: chain } });
  const rotated = await admin().call(rotateManagedKey, { body: { use: "seal", key: installed.key.id } });
  expect(rotated).toMatchObject({ inUse: { id: installed.key.id, state: "in-use" }, retired: { state: "retired" } });
  const renewed = await admin().call(rotateManagedAuthority, { body: {} });
  expect(renewed.inUse.map(({ use }) => use).toSorted()).toEqual(["ca", "timestamp"]);
  const { data: signed } = await admin().call(testSignKeys, { body: { use: "seal" } });
  expect(signed).toMatchObject([{ id: installed.key.id, storage: "pkcs11", milliseconds: expect.any(Number) }]);

  const { data, problems } = await admin().call(listKeyRecords, {});
  expect(problems).toEqual([]);
  expect(data.map(({ seq, act, by }) => [seq, act, by.name])).toEqual([
    [1, "first-keys", null],
    [made.record, "generate", "Olive Owner"],
    [installed.record, "install-cert", "ada"],
    [rotated.record, "rotate", "ada"],
    [renewed.record, "rotate", "ada"],
  ]);
  const audit = (await acts()).filter(({ action }) => action.startsWith("keys.")).toReversed();
  expect(audit.map(({ action, actor }) => [action, actor.name])).toEqual([
    ["keys.generated", "ada"],
    ["keys.certificate_requested", "ada"],
    ["keys.certificate_installed", "ada"],
    ["keys.rotated", "ada"],
    ["keys.rotated", "ada"],
    ["keys.test_signed", "ada"],
  ]);
  expect(audit[0]).toMatchObject({ target: made.key.id, data: { record: made.record, keys: [made.key.id] } });
});

test("a wrong PIN costs the running appliance nothing but one try: it signs on with its own", async () => {
  const sign = () => admin().call(testSignKeys, { body: { use: "seal" } });
  await sign();
  expect(await admin().call(giveTokenPin, { body: { pin: "999999" } })).toMatchObject({ accepted: false });
  expect(readFileSync(token.pinFile, "utf8")).toBe("123456\n");
  expect((await sign()).data).toHaveLength(1);
  // The environment names the token: nothing is tried for another one.
  expect(await problem(admin().call(giveTokenPin, { body: { token: "second", pin: "2468" } }))).toMatchObject({
    code: "conflict",
    detail: expect.stringContaining("environment"),
  });
  // The security officer changed the PIN: the new one is taken over while the appliance runs.
  const change = ["--module", softhsmModule, "--token-label", "signet", "--login", "--change-pin"];
  execFileSync("pkcs11-tool", [...change, "--pin", "123456", "--new-pin", "654321"], { stdio: "pipe" });
  expect(await admin().call(giveTokenPin, { body: { pin: "654321" } })).toMatchObject({
    accepted: true,
    pinFile: token.pinFile,
    restartNeeded: false,
  });
  expect(readFileSync(token.pinFile, "utf8")).toBe("654321\n");
  expect((await sign()).data).toHaveLength(1);
});

test("of two who give a PIN at the same time only the right one is kept", async () => {
  const give = async (pin: string) => (await admin().call(giveTokenPin, { body: { pin } })).accepted;
  expect(await Promise.all(["111111", "654321", "222222"].map(give))).toEqual([false, true, false]);
  const { dir, base } = path.parse(token.pinFile);
  expect(readFileSync(token.pinFile, "utf8")).toBe("654321\n");
  expect(readdirSync(dir).filter((name) => name.startsWith(base))).toEqual([base]);
});

test("a PKCS#12 file and its password come by the socket; a wrong password is refused by words", async () => {
  const { pem, keyPem } = authority.seal;
  const out = path.join(authority.folder, "own.p12");
  const chain = ["-certfile", authority.caPem, "-passout", "pass:password", "-out", out];
  execFileSync("openssl", ["pkcs12", "-export", "-inkey", keyPem, "-in", pem, ...chain], { stdio: "pipe" });
  const file = readFileSync(out).toString("base64");
  const imported = (password: string) => admin().call(importManagedKey, { body: { file, password } });
  expect(await problem(imported("wrong"))).toMatchObject({ code: "validation-failed" });
  expect((await imported("password")).key).toMatchObject({ use: "seal", state: "waiting" });
  expect(await problem(imported("password"))).toMatchObject({ code: "conflict" });
});

test("the command does the same by the same socket", async () => {
  const { data } = await admin().call(listManagedKeys, {});
  const signet = (input = "") => commandOn(app.folder, {}, input);
  expect((await signet()("keys", "list", "--json")).json()).toEqual({ keys: data });
  expect((await signet()("keys", "slots")).out).toContain("second");
  const wrong = await signet("111111\n")("keys", "pin", "--json");
  expect([wrong.code, wrong.json()]).toMatchObject([1, { accepted: false, tries: "fewer" }]);
  const right = await signet("654321\n")("keys", "pin");
  expect([right.code, right.out]).toEqual([0, `The token took the PIN; it lies in ${token.pinFile}.\n`]);
});

test("a key whose id begins with a dash is named like any other; a mistyped option is not taken for one", async () => {
  const signet = commandOn(app.folder);
  const id = "-Xq1_3kAbY0VnS9c8hO2m4T7uWzR5dLpE6gJfBtNoiQ";
  for (const dashed of [id, `-${id}`]) {
    const named = await signet("keys", "test-sign", "--use", "anchor", "--key", dashed);
    expect([named.code, named.err]).toEqual([1, expect.stringContaining("key")]);
    expect(named.err).not.toContain("ambiguous");
  }
  const mistyped = await signet("keys", "test-sign", "--key", "--uze", "anchor");
  expect([mistyped.code, mistyped.err]).toEqual([2, expect.stringContaining("ambiguous")]);
});
