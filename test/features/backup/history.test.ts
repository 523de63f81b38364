import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { listBackups, startBackup } from "../../../server/features/backup/contract.ts";
import { makeRecipient } from "../../../server/features/backup/recipient.ts";
import {
  anchorNow as anchorByHand,
  listManagedAnchors,
  resumeAnchors,
} from "../../../server/features/evidence/anchors/managed-contract.ts";
import { anchorNow } from "../../../server/features/evidence/anchors/signing.ts";
import { getChecks } from "../../../server/features/health/contract.ts";
import { rotateKey } from "../../../server/features/keys/ceremony.ts";
import { listOperatorAudit } from "../../../server/features/operators/contract.ts";
import { administrator } from "../../harness/admin.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { sealedEnvelope } from "../../harness/bundles.ts";
import { signet } from "../../harness/cli.ts";
import { enter, envelopeOf, ok, publishTemplate, send, submission } from "../../harness/scenario.ts";

/** A log has one history: data that was brought back signs no anchor beside those that the machine of before published. */

const { recipient, secret } = makeRecipient();
let home: string;
let share: string;
let keyFile: string;
let witness: string;
let env: Record<string, string>;
let early: string;
let late: string;
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "signet-history-"));
  [share, witness, keyFile] = [path.join(home, "share"), path.join(home, "witness"), path.join(home, "key")];
  await mkdir(share);
  await writeFile(keyFile, secret);
  env = { SIGNET_BACKUP_DIR: share, SIGNET_BACKUP_RECIPIENT: recipient, SIGNET_WITNESS_DIR: witness };
  const app = await startAppliance({ env, folder: path.join(home, "data") });
  const admin = administrator(app);
  await app.jobs.idle();
  const seal = async () => {
    await sealedEnvelope(app, { advance: () => undefined }, template);
    // What waited besides gets its anchor, and the witness is told.
    await anchorNow(app.deps);
    await app.jobs.idle();
  };
  const backUp = async () => {
    const { id } = await admin.call(startBackup, {});
    await app.jobs.idle();
    return id;
  };
  const template = await publishTemplate(app);
  await seal();
  early = await backUp();
  const snapshot = path.join(home, "snapshot");
  await mkdir(snapshot);
  await app.deps.db.copyTo(path.join(snapshot, "signet.db"));
  for (const name of ["blobs", "master.key"])
    await cp(path.join(app.folder, name), path.join(snapshot, name), { recursive: true });
  await seal();
  late = await backUp();
  expect((await admin.call(listBackups, {})).data.slice(0, 2).map(({ id }) => id)).toEqual([late, early]);
  await app.stop();
});
afterAll(() => rm(home, { recursive: true, force: true }));

async function restored(id: string, own = env): Promise<TestAppliance> {
  const to = await mkdtemp(path.join(home, "restored-"));
  const ended = await signet(["restore", "--from", share, "--id", id, "--to", to, "--key", keyFile]);
  expect(ended, ended.err).toMatchObject({ code: 0, out: expect.stringContaining("signet anchors resume") });
  return await started(to, own);
}

async function started(folder: string, own = env): Promise<TestAppliance> {
  const app = await startAppliance({ folder, env: own, owner: "second@example.com" });
  onTestFinished(() => app.stop());
  return app;
}

const lookAt = async (app: TestAppliance) => {
  const standing = await administrator(app).call(listManagedAnchors, {});
  const { data } = await administrator(app).call(getChecks, { query: {} });
  return { standing, finding: data.find(({ id }) => id === "anchors") };
};

/** Sent, signed and sealed on the restored machine, whatever becomes of its anchor. */
async function sealHere(app: TestAppliance): Promise<void> {
  const { id } = await send(app, await publishTemplate(app));
  for (const email of ["ada@example.com", "ben@example.com"]) {
    const bearer = await enter(app, email);
    await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
    await app.jobs.idle();
  }
  expect(await envelopeOf(app, id)).toMatchObject({ status: "completed", sealedSha256: expect.any(String) });
}

test("an older backup signs no second history: seals go on, anchors wait for a new key and a person's word", async () => {
  const app = await restored(early);
  const admin = administrator(app);
  await sealHere(app);
  const { standing, finding } = await lookAt(app);
  const known = standing.data[0]?.sequence ?? 0;
  const [kid] = standing.data.map((anchor) => anchor.kid);
  expect(standing).toMatchObject({ held: { reason: "restored", backup: early }, waiting: 1 });
  expect(standing.held?.later).toBeGreaterThan(known);
  expect(finding).toMatchObject({ state: "wrong", detail: expect.stringContaining("which this data does not know") });
  await expect(admin.call(anchorByHand, {})).rejects.toThrow(/the witness holds anchor/);
  await expect(admin.call(resumeAnchors, {})).rejects.toThrow(/rotate --use anchor/);

  await rotateKey(app.deps, { use: "anchor" });
  await admin.call(resumeAnchors, {});
  await app.jobs.idle();
  const after = await lookAt(app);
  expect(after).toMatchObject({ standing: { held: null, waiting: 0 }, finding: { state: "ok" } });
  expect(after.standing.data[0]).toMatchObject({ sequence: known + 1, kid: expect.not.stringMatching(`^${kid}$`) });
});

test("where the folder of the witness ends with the backup, anchors go on by themselves", async () => {
  const app = await restored(late);
  await sealHere(app);
  await app.jobs.idle();
  const { standing, finding } = await lookAt(app);
  expect(standing).toMatchObject({ held: null, waiting: 0 });
  // Nobody was asked, so everybody is told.
  expect(finding).toMatchObject({ state: "ok", code: "anchors.resumed", params: standing.resumed });
  const { data } = await administrator(app).call(listOperatorAudit, { query: {} });
  expect(data.find(({ action }) => action === "anchors.resumed")).toMatchObject({
    actor: { type: "system" },
    data: { reason: "restored", backup: late, confirmedBy: "witness" },
  });
  const listed = await signet(["anchors", "list"], { SIGNET_DATA_DIR: app.folder });
  expect(listed).toMatchObject({ code: 0, out: expect.stringContaining("They go on since") });
});

test("without a witness a person answers for it", async () => {
  const { SIGNET_WITNESS_DIR: _, ...without } = env;
  const app = await restored(late, without);
  await sealHere(app);
  expect(await lookAt(app)).toMatchObject({
    standing: { held: { reason: "restored", later: null }, waiting: 1 },
    finding: { state: "wrong", action: expect.stringContaining("signet anchors resume") },
  });
  const own = { SIGNET_DATA_DIR: app.folder };
  // What waits is no work that was forgotten.
  expect(await signet(["fsck", "--json"], own)).toMatchObject({ code: 0 });
  expect(await signet(["anchors", "list"], own)).toMatchObject({ code: 1, out: expect.stringContaining(late) });
  expect(await signet(["anchors", "resume"], own)).toMatchObject({ code: 0 });
  await app.jobs.idle();
  expect(await lookAt(app)).toMatchObject({ standing: { held: null, waiting: 0 } });
  expect(await signet(["anchors", "resume"], own)).toMatchObject({
    code: 1,
    err: expect.stringContaining("No anchors"),
  });
});

test("a data folder that somebody copied back is found out by the witness too", async () => {
  const app = await started(path.join(home, "snapshot"));
  await sealHere(app);
  expect(await lookAt(app)).toMatchObject({
    standing: { held: { reason: "witness", backup: null }, waiting: 1 },
    finding: { state: "wrong" },
  });
  const { data } = await administrator(app).call(listOperatorAudit, { query: {} });
  expect(data.filter(({ action }) => action === "anchors.held")).toMatchObject([{ data: { reason: "witness" } }]);
});
