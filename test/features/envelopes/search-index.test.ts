import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fsck } from "../../../server/features/evidence/fsck/fsck.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { createEnvelope, listEnvelopes, problemOf, publishTemplate } from "../../harness/envelopes.ts";

/** An index of the search that was damaged holds nobody up for longer than it takes to make it anew. */

let folder: string;
let app: TestAppliance;
let first: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-search-"));
  app = await startAppliance({ folder });
  const template = await publishTemplate(app);
  first = (await createEnvelope(app, template, { title: "Lighthouse keeper" })).id;
  await createEnvelope(app, template, { title: "Harbour pilot" });
  await app.jobs.idle();
});
afterAll(async () => {
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

const run = (statement: ReturnType<typeof sql>) => app.deps.db.tx(async (tx) => void (await statement.execute(tx)));
const find = async (q: string) => (await listEnvelopes(app, { q })).data.map(({ id }) => id);
/** What every change of the people of an envelope does. */
const change = (search: string) =>
  app.deps.db.tx((tx) => tx.updateTable("envelopes").set({ search }).where("id", "=", first).execute());
const whole = async () => {
  expect(await app.deps.db.check()).toEqual([]);
  expect((await fsck(app.deps)).problems).toEqual([]);
  expect((await app.deps.capacity.look()).storage).toBe("ok");
};

test("a search and a change that meet a damaged index are refused for a moment, and the next ones find it made anew", async () => {
  await run(sql`delete from envelope_search_data where id > 10`);
  expect((await fsck(app.deps)).problems.map(({ code }) => code)).toEqual(["search-index"]);
  expect(await change("lighthouse keeper two").catch((error: unknown) => error)).toMatchObject({
    code: "SQLITE_CORRUPT",
  });
  const refused = await problemOf(app, "/v1/envelopes?q=lighthouse", {});
  expect(refused).toMatchObject({ status: 503, detail: expect.stringContaining("made anew"), retryAfter: 1 });
  await whole();
  expect(await find("lighthouse")).toEqual([first]);
  await change("lighthouse keeper three");
  expect(await find("keeper three")).toEqual([first]);
  await whole();
});

test("an index that is out of step is told by fsck, refuses one change, and is made anew at the next start", async () => {
  await app.restart();
  await run(sql`insert into envelope_search (envelope_search) values ('delete-all')`);
  expect(await find("lighthouse")).toEqual([]);
  expect((await fsck(app.deps)).problems).toMatchObject([{ code: "search-index" }]);
  const failed: unknown = await change("lighthouse keeper four").catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: "SQLITE_CORRUPT" });
  expect(await app.deps.capacity.problemOf(failed)).toMatchObject({
    code: "service-unavailable",
    options: { retryAfter: 1 },
  });
  await change("lighthouse keeper four");
  expect(await find("keeper four")).toEqual([first]);
  await whole();

  await run(sql`insert into envelope_search (envelope_search) values ('delete-all')`);
  await app.restart();
  expect(await find("keeper four")).toEqual([first]);
  await change("lighthouse keeper five");
  await whole();
});

test("damage of which nothing is seen is mended once for all that failed of it", async () => {
  await app.restart();
  const corrupt = () => Object.assign(new Error("SQLITE_CORRUPT: malformed"), { code: "SQLITE_CORRUPT" });
  const answers = await Promise.all([corrupt(), corrupt()].map((error) => app.deps.capacity.problemOf(error)));
  for (const answer of answers) expect(answer?.message).toContain("made anew");
  // What failed for the same cause may come late.
  expect((await app.deps.capacity.problemOf(corrupt()))?.message).toContain("made anew");
  await whole();
});
