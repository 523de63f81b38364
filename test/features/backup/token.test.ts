import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBackup } from "../../../server/features/backup/contract.ts";
import { makeRecipient } from "../../../server/features/backup/recipient.ts";
import { anchorNow } from "../../../server/features/evidence/anchors/signing.ts";
import { getChecks } from "../../../server/features/health/contract.ts";
import { rotateKey } from "../../../server/features/keys/ceremony.ts";
import { administrator } from "../../harness/admin.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { sealedEnvelope } from "../../harness/bundles.ts";
import { signet } from "../../harness/cli.ts";
import { enter, envelopeOf, ok, publishTemplate, send, submission } from "../../harness/scenario.ts";
import { makeToken, type SoftToken } from "../../harness/softhsm.ts";

/** The keys of an appliance lie in a token: a restore brings everything else, and asks for it. */

const { recipient, secret } = makeRecipient();
let home: string;
let token: SoftToken;
let env: Record<string, string>;
let to: string;
let before: { anchors: unknown; keys: unknown; sha256: string };
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "signet-token-restore-"));
  token = makeToken();
  env = {
    SIGNET_BACKUP_DIR: path.join(home, "share"),
    SIGNET_BACKUP_RECIPIENT: recipient,
    SIGNET_WITNESS_DIR: path.join(home, "witness"),
  };
  await mkdir(path.join(home, "share"));
  await writeFile(path.join(home, "key"), secret);
  const app = await startAppliance({ env: { ...env, ...token.env } });
  const fresh = { storage: "pkcs11" } as const;
  await rotateKey(app.deps, { use: "seal", fresh: { ...fresh, kind: "rsa-3072" } });
  await rotateKey(app.deps, { use: "timestamp", fresh: { ...fresh, kind: "ec-p256" } });
  await rotateKey(app.deps, { use: "anchor", fresh });
  const id = await sealedEnvelope(app, { advance: () => undefined }, await publishTemplate(app));
  await anchorNow(app.deps);
  await app.jobs.idle();
  const document = await (await app.call(`/v1/envelopes/${id}/document?version=sealed`)).arrayBuffer();
  before = { ...(await publicIn(app)), sha256: createHash("sha256").update(Buffer.from(document)).digest("hex") };
  await administrator(app).call(startBackup, {});
  await app.jobs.idle();
  await app.stop();
  to = path.join(home, "restored");
  const restored = await signet([
    "restore",
    "--from",
    path.join(home, "share"),
    "--to",
    to,
    "--key",
    path.join(home, "key"),
  ]);
  expect(restored, restored.err).toMatchObject({
    code: 0,
    out: expect.stringContaining("3 keys lie in a security module: connect it, and set SIGNET_PKCS11_MODULE"),
  });
  // Which token it was stands among the settings that came from the environment.
  expect(restored.out).toContain("SIGNET_PKCS11_TOKEN=signet");
});
afterAll(async () => {
  token?.close();
  await rm(home, { recursive: true, force: true });
});

async function publicIn(app: TestAppliance) {
  return {
    anchors: (await ok(app, 200, "/v1/public/anchors", { key: null })).body,
    keys: (await ok(app, 200, "/.well-known/svc/keys.json", { key: null })).body,
  };
}

const hsmOf = async (app: TestAppliance) =>
  (await administrator(app).call(getChecks, { query: {} })).data.find(({ id }) => id === "hsm");

let waiting: string;

test("without its token the restored appliance says which settings are missing; documents wait, what is sealed verifies", async () => {
  const app = await startAppliance({ folder: to, env, owner: "second@example.com" });
  try {
    expect(await hsmOf(app)).toMatchObject({
      state: "wrong",
      detail: expect.stringContaining("token-not-set"),
      action: expect.stringContaining("SIGNET_PKCS11_MODULE, SIGNET_PKCS11_TOKEN and SIGNET_PKCS11_PIN_FILE"),
    });
    expect(await publicIn(app)).toEqual({ anchors: before.anchors, keys: before.keys });
    const looked = await ok(app, 200, "/v1/public/verify", { key: null, json: { sha256: before.sha256 } });
    expect(looked.body).toMatchObject({ status: "anchored" });
    waiting = (await send(app, await publishTemplate(app))).id;
    for (const email of ["ada@example.com", "ben@example.com"]) {
      const bearer = await enter(app, email);
      await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
    }
    await expect.poll(async () => (await envelopeOf(app, waiting)).status, { timeout: 15_000 }).toBe("completed");
    expect(await envelopeOf(app, waiting)).toMatchObject({ sealedSha256: null });
  } finally {
    await app.stop();
  }
});

test("a module that is not there and a PIN that cannot be read are told from one another", async () => {
  for (const [own, code] of [
    [{ SIGNET_PKCS11_MODULE: path.join(home, "none.so") }, "module-missing"],
    [{ SIGNET_PKCS11_PIN_FILE: path.join(home, "none.pin") }, "pin-file-unreadable"],
    [{ SIGNET_PKCS11_TOKEN: "another" }, "token-missing"],
  ] as const) {
    const shown = await signet(["doctor", "--json"], { SIGNET_DATA_DIR: to, ...token.env, ...own });
    const found = JSON.parse(shown.out).findings.find(({ id }: { id: string }) => id === "hsm");
    expect(found, code).toMatchObject({ state: "wrong", detail: expect.stringContaining(code) });
  }
});

test("with its token it goes on: what waited is sealed by the same key and anchored behind the same anchors", async () => {
  const app = await startAppliance({ folder: to, env: { ...env, ...token.env }, owner: "third@example.com" });
  try {
    expect(await hsmOf(app)).toMatchObject({ state: "ok" });
    await app.deps.db.tx((tx) => tx.updateTable("jobs").set({ run_at: 0 }).where("status", "=", "queued").execute());
    app.jobs.wake();
    await app.jobs.idle();
    const { sealed_sha256: sealed, anchor_sequence: anchor } = await app.deps.db.read
      .selectFrom("envelopes")
      .select(["sealed_sha256", "anchor_sequence"])
      .where("id", "=", waiting)
      .executeTakeFirstOrThrow();
    expect(sealed).toMatch(/^[0-9a-f]{64}$/);
    const now = await publicIn(app);
    expect(now.keys).toEqual(before.keys);
    expect(anchor).toBeGreaterThan(1);
    for (const sha256 of [before.sha256, sealed]) {
      const looked = await ok(app, 200, "/v1/public/verify", { key: null, json: { sha256 } });
      expect(looked.body).toMatchObject({ status: "anchored" });
    }
  } finally {
    await app.stop();
  }
});
