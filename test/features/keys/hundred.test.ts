import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { PDFDocument } from "pdf-lib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { VerifyResult } from "../../../server/features/evidence/contract.ts";
import { rotateKey } from "../../../server/features/keys/ceremony.ts";
import { inspectToken } from "../../../server/features/keys/service.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";
import { type ShimModule, shimModule } from "../../harness/pkcs11-shim.ts";
import { enter, ok, send, submission } from "../../harness/scenario.ts";
import { makeToken, type SoftToken } from "../../harness/softhsm.ts";

/** A token that goes in the middle of many seals, with a count of every PIN that is tried. */

const clock = movableClock();
/** A hundred in `npm run test:long`. */
const many = process.env.SIGNET_TEST_FULL === "1" ? 100 : 30;
/** After which the token goes a second time. */
const half = many / 2;
let token: SoftToken;
let shim: ShimModule;
let app: TestAppliance;
let sealed = 0;
let afterSeal: (() => void) | undefined;

beforeAll(async () => {
  token = makeToken();
  shim = shimModule(token);
  app = await startAppliance({
    clock,
    env: { ...token.env, SIGNET_PKCS11_MODULE: shim.module },
    onBoundary: (point) => {
      if (point !== "job:evidence.seal:committed") return;
      sealed += 1;
      afterSeal?.();
    },
  });
});
afterAll(async () => {
  await app?.stop();
  token?.close();
});

const Id = z.object({ id: z.string() });

/** One page, one person, one signature. */
async function smallTemplate(): Promise<string> {
  const pdf = await PDFDocument.create();
  pdf.addPage([595, 842]);
  const { id } = Id.parse((await ok(app, 201, "/v1/templates", { json: { name: "Note" } })).body);
  const body = Buffer.from(await pdf.save());
  const file = await ok(app, 201, `/v1/templates/${id}/files`, {
    body,
    headers: { "content-type": "application/pdf" },
  });
  const signature = { id: "sign", role: "Signer", type: "signature", page: 1, x: 60, y: 120, width: 200, height: 40 };
  const json = {
    content: { mode: "overlay", file: Id.parse(file.body).id, items: [signature] },
    roles: [{ name: "Signer", order: 1, verification: "none" }],
    variables: [],
  };
  await ok(app, 200, `/v1/templates/${id}/draft`, { method: "PUT", json });
  await ok(app, 201, `/v1/templates/${id}/publish`, { method: "POST" });
  return id;
}

/** Signed by everybody; its seal is tried once. */
async function completed(template: string, n: number): Promise<string> {
  const email = `signer${n}@example.com`;
  const envelope = { recipients: [{ role: "Signer", name: "Ada Muster", email }] };
  const { id } = await send(app, template, { envelope });
  const bearer = await enter(app, email);
  await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
  return id;
}

async function later(ms: number): Promise<void> {
  clock.advance(ms);
  app.jobs.wake();
  await app.jobs.idle();
}

/** The token is asked again a second after it was found away. */
async function waitUntil(done: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await done()); tries += 1) {
    if (tries === 100) throw new Error("it never came");
    await later(6_000);
    await delay(100);
  }
}

const rows = () => app.deps.db.read.selectFrom("envelopes").select(["id", "seal"]).execute();

async function verdict(id: string): Promise<z.infer<typeof VerifyResult>> {
  const response = await app.call(`/v1/envelopes/${id}/document?version=sealed`);
  const sha256 = createHash("sha256")
    .update(Buffer.from(await response.arrayBuffer()))
    .digest("hex");
  // Nobody may ask oftener than once a second.
  clock.advance(1_100);
  const { body } = await ok(app, 200, "/v1/public/verify", { key: null, json: { sha256 } });
  return VerifyResult.parse(body);
}

test(`a token that is pulled out in the middle of ${many} seals: all end sealed and anchored by it, each PIN tried once`, async () => {
  const template = await smallTemplate();
  await rotateKey(app.deps, { use: "seal", fresh: { storage: "pkcs11", kind: "ec-p256" } });
  await rotateKey(app.deps, { use: "timestamp", fresh: { storage: "pkcs11", kind: "ec-p256" } });
  const anchor = await rotateKey(app.deps, { use: "anchor", fresh: { storage: "pkcs11" } });
  expect(shim.tries()).toBe(1);

  token.pullOut();
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) ids.push(await completed(template, n));
  // More often than an ordinary seal is tried before it has failed.
  for (let n = 0; n < 40; n += 1) await later(6_000);
  expect((await rows()).every(({ seal }) => seal === "pending")).toBe(true);
  expect(await inspectToken(app.deps)).toMatchObject({ ok: false, cause: { code: "token-missing" } });
  for (let n = 5; n < many; n += 1) ids.push(await completed(template, n));
  expect(sealed).toBe(0);
  expect(shim.tries()).toBe(1);

  // It comes back, and goes again in the middle.
  afterSeal = () => {
    if (sealed < half) return;
    afterSeal = undefined;
    token.pullOut();
  };
  token.putBack();
  await waitUntil(async () => afterSeal === undefined);
  await later(6_000);
  expect(sealed).toBeGreaterThanOrEqual(half);
  expect(sealed).toBeLessThan(many);
  expect(shim.tries()).toBe(2);
  const done = (await rows()).filter(({ seal }) => seal === "sealed").map(({ id }) => id);
  const waiting: string[] = [];
  for (const id of done) waiting.push((await verdict(id)).status);
  // Their anchor is due, and waits for the token as the other seals do.
  expect(waiting).toContain("pending");

  token.putBack();
  await waitUntil(async () => (await rows()).every(({ seal }) => seal === "sealed"));
  let open = ids;
  await waitUntil(async () => {
    const pending: string[] = [];
    for (const id of open) {
      const found = await verdict(id);
      if (found.status === "anchored") expect(found.anchor.kid).toBe(anchor.inUse.id);
      else pending.push(id);
    }
    open = pending;
    return open.length === 0;
  });
  expect(sealed).toBe(many);
  expect(shim.tries()).toBe(3);
}, 180_000);
