import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { sql } from "kysely";
import sqlite3 from "sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { purgeDownloads } from "../../../server/features/evidence/service.ts";
import { purgeMails } from "../../../server/features/mail/service.ts";
import { openForReading } from "../../../server/kernel/db.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";
import { browser } from "../../harness/people.ts";
import { dayMs, runNow, signAll } from "../../harness/retention.ts";
import { ok, publishTemplate, send } from "../../harness/scenario.ts";

/** What deletion leaves behind, when it begins, and what must not stop it. */

const clock = movableClock();
const settings = "/auth/organization/retention";
const hourMs = 3_600_000;
let app: TestAppliance;
let template: string;
beforeAll(async () => {
  app = await startAppliance({ clock });
  template = await publishTemplate(app);
});
afterAll(() => app.stop());

const owner = async () => browser(app, await app.signIn());
const original = async (id: string) => (await app.call(`/v1/envelopes/${id}/document?version=original`)).status;
async function voided(title: string): Promise<string> {
  const { id } = await send(app, template, { envelope: { title } });
  await ok(app, 200, `/v1/envelopes/${id}/void`, { json: { reason: "wrong" } });
  await app.jobs.idle();
  return id;
}

test("a shorter term acts a day later, a longer one at once", async () => {
  const id = await voided("Grace");
  const own = await owner();
  const retention = () => own("GET", `/auth/envelopes/${id}/retention`);
  await own("PATCH", settings, { keepDays: 100 });
  clock.advance(40 * dayMs);
  const again = await owner();
  const from = new Date(clock.now() + dayMs).toISOString();
  expect(await again("PATCH", settings, { keepDays: 30 })).toMatchObject({
    body: { keepDays: 30, actsFrom: from, due: 1 },
  });
  expect(await retention()).toMatchObject({ status: 401 });
  expect(await again("GET", `/auth/envelopes/${id}/retention`)).toMatchObject({ body: { deleteAfter: from } });
  clock.advance(23 * hourMs);
  await runNow(app);
  expect(await original(id)).toBe(200);
  // Shorter still: the day begins anew, and until its end the first term counts.
  const third = await owner();
  await third("PATCH", settings, { keepDays: 20 });
  clock.advance(2 * hourMs);
  await runNow(app);
  expect(await original(id)).toBe(200);
  await third("PATCH", settings, { keepDays: null });
  clock.advance(2 * dayMs);
  await runNow(app);
  expect(await original(id)).toBe(200);
  const last = await owner();
  expect(await last("PATCH", settings, { keepDays: 30 })).toMatchObject({ body: { actsFrom: expect.any(String) } });
  clock.advance(dayMs);
  expect(await (await owner())("GET", settings)).toMatchObject({ body: { actsFrom: null, due: 1 } });
  await runNow(app);
  expect(await original(id)).toBe(409);
});

test("one envelope that cannot be deleted stands in the way of no other", async () => {
  const ids = [await voided("First"), await voided("Second"), await voided("Third")];
  const length = (id: string) =>
    app.deps.db.read.selectFrom("envelopes").select("audit_length").where("id", "=", id).executeTakeFirstOrThrow();
  const [bad = ""] = ids;
  const { audit_length: before } = await length(bad);
  const end = (audit_length: number) =>
    app.deps.db.tx((tx) => tx.updateTable("envelopes").set({ audit_length }).where("id", "=", bad).execute());
  await end(1);
  clock.advance(40 * dayMs);
  const runs = () => app.deps.db.read.selectFrom("retention_runs").select("at").executeTakeFirst();
  await runNow(app);
  expect(await Promise.all(ids.map(original))).toEqual([200, 409, 409]);
  expect(await runs()).toEqual({ at: clock.ts() });
  await end(before);
  await runNow(app);
  expect(await original(bad)).toBe(409);
});

/** Whether somebody takes the log over at this moment: of two, SQLite refuses the second. */
function checkpointProbe(file: string) {
  const connection = new sqlite3.Database(file);
  return {
    now: () =>
      new Promise<boolean>((resolve, reject) => {
        connection.get<{ busy: number }>("PRAGMA wal_checkpoint(PASSIVE)", (error, row) =>
          error ? reject(error) : resolve(row.busy === 1),
        );
      }),
    close: () =>
      new Promise<void>((resolve, reject) => connection.close((error) => (error ? reject(error) : resolve()))),
  };
}

test("nothing that was deleted can be read in the database's files, and nothing of it is renewed", async () => {
  const { id } = await send(app, template, { envelope: { title: "Secret" } });
  await signAll(app, (ms) => clock.advance(ms));
  clock.advance(2000);
  await app.jobs.idle();
  const filled = await app.deps.db.read.selectFrom("recipients").select("values").where("envelope", "=", id).execute();
  const needles = filled.flatMap(({ values }) => (values === null ? [] : [values]));
  const terms = () => app.deps.db.read.selectFrom("seal_terms").select("envelope").where("envelope", "=", id).execute();
  expect([needles.length, (await terms()).length]).toEqual([2, 1]);
  const readable = async () => {
    const files = (await readdir(app.folder)).filter((name) => /^signet\.db(-wal)?$/.test(name));
    const bytes = await Promise.all(files.map((name) => readFile(path.join(app.folder, name))));
    return needles.filter((needle) => bytes.some((file) => file.includes(needle)));
  };
  expect(await readable()).toEqual(needles);
  // Somebody reads what was, and for longer than the log is asked for at a time.
  const reader = await openForReading(path.join(app.folder, "signet.db"));
  await sql`BEGIN`.execute(reader.read);
  await reader.read.selectFrom("recipients").select("id").execute();
  clock.advance(40 * dayMs);
  const cut = runNow(app);
  await expect.poll(terms).toEqual([]);
  expect(await readable()).toEqual(needles);
  // The log has been asked for, and was given up for this time.
  const isAsked = checkpointProbe(path.join(app.folder, "signet.db"));
  await expect.poll(isAsked.now).toBe(true);
  await expect.poll(isAsked.now).toBe(false);
  await isAsked.close();
  await reader.close();
  await cut;
  expect(await readable()).toEqual([]);
});

test("a hold keeps what the mails said, too; other mails are forgotten when their time is over", async () => {
  const [held, other] = [await send(app, template), await send(app, template)];
  await app.jobs.idle();
  expect(await (await owner())("PUT", `/auth/envelopes/${held.id}/hold`, { reason: "Court" })).toMatchObject({
    status: 200,
  });
  const kept = async (id: string) => {
    const rows = await app.deps.db.read.selectFrom("mails").select("content").where("envelope", "=", id).execute();
    return rows.filter(({ content }) => content !== null).length;
  };
  const before = await kept(held.id);
  expect(before).toBeGreaterThan(0);
  clock.advance(31 * dayMs);
  await app.deps.db.tx((tx) => purgeMails(tx, app.deps));
  expect([await kept(held.id), await kept(other.id)]).toEqual([before, 0]);
  expect(await (await owner())("DELETE", `/auth/envelopes/${held.id}/hold`)).toMatchObject({ status: 200 });
  await app.deps.db.tx((tx) => purgeMails(tx, app.deps));
  expect(await kept(held.id)).toBe(0);
});

test("links of completion mails are forgotten a year after they ended, at a start too", async () => {
  const rows = async () =>
    Number(
      (
        await app.deps.db.read
          .selectFrom("download_tokens")
          .select(({ fn }) => fn.countAll().as("n"))
          .executeTakeFirst()
      )?.n,
    );
  expect(await rows()).toBeGreaterThan(0);
  await app.deps.db.tx((tx) => purgeDownloads(tx, app.deps));
  expect(await rows()).toBeGreaterThan(0);
  clock.advance(400 * dayMs);
  await app.restart();
  await expect.poll(rows, { timeout: 120_000 }).toBe(0);
});
