import { mkdir, rm, truncate, utimes } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fsck } from "../../../server/features/evidence/fsck/fsck.ts";
import { deleteDue } from "../../../server/features/retention/deletion.ts";
import { collectGarbage } from "../../../server/features/retention/garbage.ts";
import { RetryLater } from "../../../server/kernel/job-runner.ts";
import { snapshotFile } from "../../../server/kernel/snapshots.ts";
import { lockStore } from "../../../server/kernel/store-lock.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";
import { type Browser, browser } from "../../harness/people.ts";
import { blobsOf, dayMs, runNow, signAll } from "../../harness/retention.ts";
import { auditOf, envelopeOf, ok, publishTemplate, refusal, send } from "../../harness/scenario.ts";

const clock = movableClock();
const settings = "/auth/organization/retention";
let app: TestAppliance;
let owner: Browser;
let template: string;
beforeAll(async () => {
  app = await startAppliance({ clock });
  template = await publishTemplate(app);
});
afterAll(() => app.stop());

const advance = (ms: number) => clock.advance(ms);
const retentionOf = (id: string) => `/auth/envelopes/${id}/retention`;
const signIn = async () => {
  owner = browser(app, await app.signIn());
};

test("documents are kept for ever until the organization says otherwise", async () => {
  await signIn();
  expect(await owner("GET", settings)).toMatchObject({ status: 200, body: { keepDays: null, due: 0, held: 0 } });
  for (const keepDays of [0, 36_501, 1.5, "7"])
    expect(await owner("PATCH", settings, { keepDays })).toMatchObject({ status: 422 });
  expect(await owner("PATCH", settings, { keepDays: 30 })).toMatchObject({ body: { keepDays: 30, due: 0 } });
  expect(await owner("PATCH", settings, { keepDays: null })).toMatchObject({ body: { keepDays: null } });
  const acts = (await owner("GET", "/auth/organization/audit")).body.data as { action: string; data: unknown }[];
  expect(acts.map(({ action, data }) => ({ action, data }))).toEqual(
    expect.arrayContaining([
      { action: "retention.changed", data: { from: null, to: 30 } },
      { action: "retention.changed", data: { from: 30, to: null } },
    ]),
  );
});

test("after its time an envelope loses its documents, values and mails, and keeps everything that proves them", async () => {
  const { id } = await send(app, template);
  await signAll(app, advance);
  advance(2000);
  await app.jobs.idle();
  const before = await envelopeOf(app, id);
  const download = (await app.mail()).find(({ kind, envelope }) => kind === "completed" && envelope === id);
  expect(before.values?.recipients.Tenant).toBeDefined();
  await signIn();
  await owner("PATCH", settings, { keepDays: 30 });
  const { completedAt } = before;
  expect(await owner("GET", retentionOf(id))).toMatchObject({
    body: {
      hold: null,
      deletedAt: null,
      deleteAfter: new Date(Date.parse(completedAt ?? "") + 30 * dayMs).toISOString(),
    },
  });

  advance(29 * dayMs);
  await runNow(app);
  expect((await app.call(`/v1/envelopes/${id}/document?version=sealed`)).status).toBe(200);

  advance(2 * dayMs);
  await signIn();
  expect(await owner("GET", settings)).toMatchObject({ body: { keepDays: 30, due: 1 } });
  const leafBefore = await ok(app, 200, "/v1/public/verify", { key: null, json: { sha256: before.sealedSha256 } });
  const { length } = await auditOf(app, id).then(({ verification }) => verification);
  const files = (await blobsOf(app)).length;
  await runNow(app);

  const after = await envelopeOf(app, id);
  expect(after).toMatchObject({ status: "completed", seal: "sealed", sealedSha256: before.sealedSha256 });
  expect(after.documentSha256).toBe(before.documentSha256);
  expect(after.values).toEqual({ variables: {}, recipients: {} });
  for (const version of ["original", "sealed", "certificate"])
    expect(await refusal(app, `/v1/envelopes/${id}/document?version=${version}`)).toMatchObject({
      status: 409,
      code: "conflict",
    });
  const link = download?.link ? new URL(download.link).pathname.split("/").at(-1) : undefined;
  if (link) expect((await app.call(`/v1/public/documents/${link}`, { key: null })).status).toBe(410);
  expect((await blobsOf(app)).length).toBeLessThan(files);
  const trail = await auditOf(app, id);
  expect(trail.verification).toMatchObject({ valid: true, length: length + 1 });
  expect(trail.data.at(-1)).toMatchObject({
    type: "envelope.documents_deleted",
    actor: { type: "system" },
    data: { keepDays: 30 },
  });
  const again = await ok(app, 200, "/v1/public/verify", { key: null, json: { sha256: before.sealedSha256 } });
  expect(again.body).toEqual(leafBefore.body);
  const mails = (await app.mail()).filter((mail) => mail.envelope === id);
  expect(mails.length).toBeGreaterThan(0);
  for (const { text } of mails) expect(text).toBe(null);
  const { body } = await owner("GET", "/auth/organization/audit");
  expect(body.data).toContainEqual(expect.objectContaining({ action: "envelope.documents_deleted", target: id }));
  expect(await owner("GET", retentionOf(id))).toMatchObject({ body: { deleteAfter: null, deletedAt: clock.ts() } });
  expect(await owner("PUT", `/auth/envelopes/${id}/hold`, { reason: "too late" })).toMatchObject({ status: 409 });
  expect(await fsck(app.deps)).toMatchObject({ ok: true, problems: [] });
  // The template's file, which other envelopes still name, is there.
  expect((await app.call(`/v1/templates/${template}/versions/1/document`)).status).toBe(200);
  await runNow(app);
  expect((await auditOf(app, id)).verification.length).toBe(length + 1);
});

test("what is held, still open, or not sealed yet stays; a released one goes", async () => {
  const held = await send(app, template);
  await ok(app, 200, `/v1/envelopes/${held.id}/void`, { json: { reason: "wrong" } });
  const open = await send(app, template, { envelope: { title: "Open" } });
  await app.jobs.idle();
  await signIn();
  const reason = { reason: "Court case 12/26" };
  expect(await owner("PUT", `/auth/envelopes/${held.id}/hold`, reason)).toMatchObject({
    status: 200,
    body: { hold: { ...reason, by: { name: "Olive Owner" } }, deleteAfter: null },
  });
  expect(await owner("PUT", `/auth/envelopes/${held.id}/hold`, reason)).toMatchObject({ status: 409 });
  advance(60 * dayMs);
  await runNow(app);
  const original = (id: string) => app.call(`/v1/envelopes/${id}/document?version=original`);
  expect((await original(held.id)).status).toBe(200);
  expect((await original(open.id)).status).toBe(200);
  await signIn();
  expect(await owner("GET", settings)).toMatchObject({ body: { held: 1, due: 0 } });
  advance(1000);
  expect(await owner("DELETE", `/auth/envelopes/${held.id}/hold`)).toMatchObject({ status: 200, body: { hold: null } });
  expect(await owner("DELETE", `/auth/envelopes/${held.id}/hold`)).toMatchObject({ status: 200 });
  advance(1000);
  await runNow(app);
  expect((await original(held.id)).status).toBe(409);
  const { body } = await owner("GET", "/auth/organization/audit");
  const acts = (body.data as { action: string; target: string }[]).filter(({ target }) => target === held.id);
  expect(acts.map(({ action }) => action)).toEqual([
    "envelope.documents_deleted",
    "envelope.released",
    "envelope.held",
  ]);
});

test("files go that nothing names any more, of deleted templates too; what is young or shared stays", async () => {
  await runNow(app);
  const before = await blobsOf(app);
  const stray = await app.deps.blobs.put(Buffer.from("nothing names this"));
  const gone = await app.json("/v1/templates", { json: { name: "Never used" } });
  const id = (gone.body as { id: string }).id;
  const pdf = Buffer.from(await (await app.call(`/v1/templates/${template}/versions/1/document`)).arrayBuffer());
  const headers = { "content-type": "application/pdf" };
  await ok(app, 201, `/v1/templates/${id}/files`, { body: Buffer.concat([pdf, Buffer.from("\n% own\n")]), headers });
  await ok(app, 201, `/v1/templates/${id}/files`, { body: pdf, headers });
  expect((await app.call(`/v1/templates/${id}`, { method: "DELETE" })).status).toBe(204);
  await runNow(app);
  expect(await app.deps.blobs.has(stray.sha256)).toBe(true);
  advance(3 * dayMs);
  await runNow(app);
  expect(await blobsOf(app)).toEqual(before);
});

test("ended between mark and files, the next run goes on", async () => {
  const { id } = await send(app, template, { envelope: { title: "Killed" } });
  await ok(app, 200, `/v1/envelopes/${id}/void`, { json: { reason: "wrong" } });
  const sha256 = (await envelopeOf(app, id)).documentSha256 ?? "";
  advance(40 * dayMs);
  expect(await deleteDue(app.deps)).toEqual({ deleted: 1, failed: [] });
  expect(await app.deps.blobs.has(sha256)).toBe(true);
  await app.restart();
  expect(await fsck(app.deps)).toMatchObject({ ok: true, problems: [] });
  await runNow(app);
  expect(await app.deps.blobs.has(sha256)).toBe(false);
  expect(await fsck(app.deps)).toMatchObject({ ok: true, problems: [] });
  expect(await deleteDue(app.deps)).toEqual({ deleted: 0, failed: [] });
});

test("what was signed is still written once: only a deletion may take its values away", async () => {
  const { id } = await send(app, template, { envelope: { title: "Kept" } });
  await signAll(app, advance);
  const change = (set: Record<string, string>) =>
    app.deps.db.tx((tx) => tx.updateTable("signing_submissions").set(set).where("envelope", "=", id).execute());
  await expect(change({ values: "{}" })).rejects.toThrow(/append-only/);
  await expect(change({ values: "{}", ip: "203.0.113.1" })).rejects.toThrow(/append-only/);
});

test("a mark that the trail does not know, and a trail without its mark, are found", async () => {
  const { id } = await send(app, template, { envelope: { title: "Forged" } });
  const mark = (at: string | null) =>
    app.deps.db.tx((tx) =>
      tx.updateTable("envelopes").set({ documents_deleted_at: at }).where("id", "=", id).execute(),
    );
  await mark(clock.ts());
  const report = await fsck(app.deps);
  expect(report.problems).toMatchObject([
    { code: "admin-audit", where: app.organization },
    { code: "audit-deletion", where: id },
  ]);
  await mark(null);
  expect(await fsck(app.deps)).toMatchObject({ ok: true, problems: [] });
});

test("the daily run is planned at the start, once, and not again within a day of one", async () => {
  const fresh = movableClock();
  const own = await startAppliance({ clock: fresh });
  const planned = async () => {
    await own.jobs.idle();
    const jobs = own.deps.db.read.selectFrom("jobs").select(["run_at", "status"]);
    return await jobs.where("name", "=", "retention.run").execute();
  };
  const [first] = await planned();
  expect(first?.run_at).toBeGreaterThan(fresh.now());
  await own.restart();
  expect(await planned()).toEqual([first]);
  fresh.advance(3_600_000);
  expect(await planned()).toEqual([]);
  await own.restart();
  expect(await planned()).toEqual([]);
  fresh.advance(dayMs);
  await own.restart();
  expect(await planned()).toHaveLength(1);
  await own.stop();
});

test("nothing is deleted by a clock that cannot be right", async () => {
  const { id } = await send(app, template, { envelope: { title: "Doubted" } });
  await ok(app, 200, `/v1/envelopes/${id}/void`, { json: { reason: "wrong" } });
  const stray = await app.deps.blobs.put(Buffer.from("named by nothing while the clock is wrong"));
  advance(60 * dayMs);
  const doubt = () => ({ machine: clock.ts(), expected: clock.ts() });
  const doubting = { ...app.deps, clock: { now: clock.now, ts: clock.ts, doubt } };
  await expect(deleteDue(doubting)).rejects.toThrow(RetryLater);
  await expect(collectGarbage(doubting)).rejects.toThrow(RetryLater);
  expect((await app.call(`/v1/envelopes/${id}/document?version=original`)).status).toBe(200);
  expect(await app.deps.blobs.has(stray.sha256)).toBe(true);
  // It turns out in the middle of the collection, too.
  let looks = 0;
  const laterDoubt = () => {
    looks += 1;
    return looks > 1 ? doubt() : null;
  };
  const later = { ...app.deps, clock: { ...doubting.clock, doubt: laterDoubt } };
  await expect(collectGarbage(later)).rejects.toThrow(RetryLater);
  expect(await app.deps.blobs.has(stray.sha256)).toBe(true);
  await runNow(app);
  expect((await app.call(`/v1/envelopes/${id}/document?version=original`)).status).toBe(409);
  expect(await app.deps.blobs.has(stray.sha256)).toBe(false);
});

test("a hold that is accepted wins, whenever the run comes upon it", async () => {
  const ids: string[] = [];
  for (let round = 0; round < 10; round += 1) {
    const { id } = await send(app, template, { envelope: { title: `Race ${round}` } });
    await ok(app, 200, `/v1/envelopes/${id}/void`, { json: { reason: "wrong" } });
    ids.push(id);
  }
  advance(60 * dayMs);
  await signIn();
  const hold = (id: string) => owner("PUT", `/auth/envelopes/${id}/hold`, { reason: "Court" });
  const [answers] = await Promise.all([
    Promise.all(ids.toReversed().map(async (id) => ({ id, status: (await hold(id)).status }))),
    deleteDue(app.deps).then(() => collectGarbage(app.deps)),
  ]);
  await runNow(app);
  for (const { id, status } of answers) {
    const document = await app.call(`/v1/envelopes/${id}/document?version=original`);
    expect({ held: status, document: document.status }).toEqual(
      status === 200 ? { held: 200, document: 200 } : { held: 409, document: 409 },
    );
  }
  expect(await fsck(app.deps)).toMatchObject({ ok: true, problems: [] });
  for (const { id, status } of answers) if (status === 200) await owner("DELETE", `/auth/envelopes/${id}/hold`);
});

test("while somebody copies the files none goes; while they are collected nobody begins to copy", async () => {
  const stray = await app.deps.blobs.put(Buffer.from("named by nothing while a copy is made"));
  advance(3 * dayMs);
  const release = await lockStore(app.deps.config.dataDir);
  await expect(collectGarbage(app.deps)).rejects.toThrow(/being copied/);
  expect(await app.deps.blobs.has(stray.sha256)).toBe(true);
  await release?.();
  let during: unknown = "not asked";
  const asking = {
    ...app.deps,
    blobs: {
      ...app.deps.blobs,
      async removeUnused(sha256: string, since: number) {
        during = await lockStore(app.deps.config.dataDir);
        return await app.deps.blobs.removeUnused(sha256, since);
      },
    },
  };
  await collectGarbage(asking);
  expect(during).toBe(null);
  expect(await app.deps.blobs.has(stray.sha256)).toBe(false);
});

test("a file that only a database of before an update names stays as long as that may come back", async () => {
  const { dataDir } = app.config;
  const { body } = await app.json("/v1/templates", { json: { name: "Gone after the update" } });
  const { id } = body as { id: string };
  const pdf = Buffer.from(await (await app.call(`/v1/templates/${template}/versions/1/document`)).arrayBuffer());
  const file = Buffer.concat([pdf, Buffer.from("\n% named by one template\n")]);
  const { sha256 } = await app.deps.blobs.put(file);
  const headers = { "content-type": "application/pdf" };
  await ok(app, 201, `/v1/templates/${id}/files`, { body: file, headers });
  const kept = snapshotFile(dataDir, "kept");
  await mkdir(path.dirname(kept));
  await app.deps.db.copyTo(kept);
  const taken = () => utimes(kept, new Date(clock.now()), new Date(clock.now()));
  await taken();
  expect((await app.call(`/v1/templates/${id}`, { method: "DELETE" })).status).toBe(204);
  advance(3 * dayMs);
  await collectGarbage(app.deps);
  expect(await app.deps.blobs.has(sha256)).toBe(true);
  const checked = await fsck(app.deps);
  // Jobs of the days that have passed may leave other files behind meanwhile.
  const orphans = checked.notes.filter(({ code }) => code === "blob-orphan").map(({ where }) => where);
  expect([checked.ok, orphans.includes(`blob store ${sha256}`)]).toEqual([true, false]);
  // One that cannot be read may name any file.
  const stray = await app.deps.blobs.put(Buffer.from("named by nothing beside a strange database"));
  advance(3 * dayMs);
  await truncate(kept, 5);
  await taken();
  await collectGarbage(app.deps);
  expect(await app.deps.blobs.has(stray.sha256)).toBe(true);
  await rm(path.dirname(kept), { recursive: true });
  await collectGarbage(app.deps);
  expect(await app.deps.blobs.has(sha256)).toBe(false);
  expect(await app.deps.blobs.has(stray.sha256)).toBe(false);
});

test("what is uploaded while its old file is collected is there", async () => {
  const gone = await app.json("/v1/templates", { json: { name: "Short-lived" } });
  const again = await app.json("/v1/templates", { json: { name: "Again" } });
  const [first, second] = [gone, again].map(({ body }) => (body as { id: string }).id);
  const pdf = Buffer.from(await (await app.call(`/v1/templates/${template}/versions/1/document`)).arrayBuffer());
  const headers = { "content-type": "application/pdf" };
  for (let round = 0; round < 4; round += 1) {
    const body = Buffer.concat([pdf, Buffer.from(`\n% round ${round}\n`)]);
    const { sha256 } = await app.deps.blobs.put(body);
    advance(3 * dayMs);
    await Promise.all([
      collectGarbage(app.deps),
      ok(app, 201, `/v1/templates/${second}/files`, { body, headers }),
      app.deps.blobs.put(body),
    ]);
    expect(await app.deps.blobs.has(sha256)).toBe(true);
  }
  expect((await app.call(`/v1/templates/${first}`, { method: "DELETE" })).status).toBe(204);
  expect(await fsck(app.deps)).toMatchObject({ ok: true, problems: [] });
});
