import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { judgeSealedPdf } from "../../../server/commands/demo/judges.ts";
import { anchorNow } from "../../../server/features/evidence/anchors/signing.ts";
import { ownEvidence, verifyFile } from "../../../server/features/evidence/verify-file.ts";
import { generateKey, listKeys, rotateKey, testSign } from "../../../server/features/keys/ceremony.ts";
import { AnchorKeys } from "../../../server/features/keys/contract.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";
import { enter, envelopeOf, ok, publishTemplate, send, submission } from "../../harness/scenario.ts";
import { makeToken, type SoftToken } from "../../harness/softhsm.ts";

/** Seals, time stamps and anchors by keys that never leave a token, judged by programs that share no code with us. */

const clock = movableClock();
let token: SoftToken;
let app: TestAppliance;
let template: string;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-hsm-judges-"));
  token = makeToken();
  app = await startAppliance({
    clock,
    env: token.env,
  });
  template = await publishTemplate(app);
});
afterAll(async () => {
  await app?.stop();
  token?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Both people sign. @returns without waiting for the seal's retries */
async function completed(): Promise<string> {
  clock.advance(60_000);
  const { id } = await send(app, template);
  for (const email of ["ada@example.com", "ben@example.com"]) {
    clock.advance(60_000);
    const bearer = await enter(app, email);
    await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
    await app.jobs.idle();
  }
  return id;
}

async function later(ms: number): Promise<void> {
  clock.advance(ms);
  app.jobs.wake();
  await app.jobs.idle();
}

async function documentOf(id: string): Promise<Buffer> {
  const response = await app.call(`/v1/envelopes/${id}/document?version=sealed`);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

async function judged(bytes: Uint8Array): Promise<void> {
  const ca = path.join(folder, "ca.pem");
  const file = path.join(folder, "sealed.pdf");
  await writeFile(ca, await (await app.call("/.well-known/svc/certificates.pem", { key: null })).text());
  await writeFile(file, bytes);
  expect((await judgeSealedPdf(file, ca)).filter((verdict) => !verdict.ok)).toEqual([]);
}

async function verifies(bytes: Buffer): Promise<void> {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const result = await ok(app, 200, "/v1/public/verify", { key: null, json: { sha256 } });
  expect(result.body).toMatchObject({ status: "anchored" });
}

const published = async () =>
  AnchorKeys.parse((await ok(app, 200, "/.well-known/svc/keys.json", { key: null })).body).keys;

let first: { id: string; bytes: Buffer };

test("software keys seal first; then keys in the token take their places", async () => {
  const id = await completed();
  first = { id, bytes: await documentOf(id) };
  await judged(first.bytes);
  const fresh = { storage: "pkcs11" } as const;
  await rotateKey(app.deps, { use: "seal", fresh: { ...fresh, kind: "rsa-3072" } });
  await rotateKey(app.deps, { use: "timestamp", fresh: { ...fresh, kind: "ec-p256" } });
  await rotateKey(app.deps, { use: "anchor", fresh });
  const keys = (await listKeys(app.deps)).filter(({ state }) => state === "in-use");
  expect(keys.map(({ use, storage, kind }) => [use, storage, kind]).sort()).toEqual([
    ["anchor", "pkcs11", "ed25519"],
    ["ca", "software", "rsa-3072"],
    ["seal", "pkcs11", "rsa-3072"],
    ["timestamp", "pkcs11", "ec-p256"],
  ]);
  expect((await testSign(app.deps, {})).length).toBe(4);
});

test.each(["rsa-3072", "rsa-4096", "ec-p256"] as const)(
  "a seal of kind %s by the token holds before every judge",
  async (kind) => {
    await rotateKey(app.deps, { use: "seal", fresh: { kind, storage: "pkcs11" } });
    const id = await completed();
    expect(await envelopeOf(app, id)).toMatchObject({ seal: "sealed", failure: null });
    await judged(await documentOf(id));
  },
  60_000,
);

test("a rotation keeps the old anchor key with its end, and documents of before and after hold", async () => {
  const keys = await published();
  expect(keys).toHaveLength(2);
  expect(keys[0]?.validUntil).not.toBeNull();
  expect(keys[1]).toMatchObject({ validUntil: null, validFrom: keys[0]?.validUntil });
  await later(5_000);
  const anchor = await anchorNow(app.deps);
  expect(anchor?.kid).toBe(keys[1]?.kid);
  await verifies(first.bytes);
  await judged(first.bytes);
  const { source, pins } = await ownEvidence(app.deps);
  expect(await verifyFile(app.deps, first.bytes, source, pins)).toMatchObject({ verdict: "valid", problems: [] });
});

test("a token that is pulled out is no reason to lose a waiting key", async () => {
  const made = await generateKey(app.deps, { use: "seal", kind: "ec-p256", storage: "pkcs11" });
  token.pullOut();
  await expect(rotateKey(app.deps, { use: "seal", key: made.id })).rejects.toMatchObject({ code: "token-missing" });
  expect((await listKeys(app.deps)).find(({ id }) => id === made.id)?.state).toBe("waiting");
  token.putBack();
});
