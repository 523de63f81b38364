import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readBoxes, storedBoxes } from "../../../server/features/templates/service.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import {
  box,
  enter,
  items,
  ok,
  publishTemplate,
  readDocument,
  send,
  submission,
  viewOf,
} from "../../harness/scenario.ts";

let app: TestAppliance;
let template: string;
let people = 0;

beforeAll(async () => {
  app = await startAppliance();
  template = await publishTemplate(app);
  await app.deps.db.tx((tx) => sql`drop trigger revisions_no_update`.execute(tx));
});
afterAll(async () => app.stop());

async function sent(): Promise<{ id: string; bearer: string; stored: string }> {
  people += 1;
  const email = `boxes-${people}@example.com`;
  const { id } = await send(app, template, { tenant: { verification: "none", email } });
  const row = await app.deps.db.read
    .selectFrom("revisions")
    .select("field_boxes")
    .where("envelope", "=", id)
    .executeTakeFirstOrThrow();
  return { id, bearer: await enter(app, email), stored: row.field_boxes ?? "" };
}

async function store(envelope: string, boxes: string | null): Promise<void> {
  await app.deps.db.tx((tx) =>
    tx.updateTable("revisions").set({ field_boxes: boxes }).where("envelope", "=", envelope).execute(),
  );
}

const boxesShown = async (bearer: string) =>
  Object.fromEntries((await viewOf(app, bearer)).fields.map(({ id, boxes }) => [id, boxes]));

test("the boxes of all fields are stored with revision 0, in the format that is never changed", async () => {
  const { stored } = await sent();
  expect(stored).toContain('"city":[1,60,120,200,40]');
  expect(Object.keys(JSON.parse(stored))).toEqual(items.map(({ id }) => id));
  expect(storedBoxes(readBoxes(stored))).toBe(stored);
});

test("an envelope that was sent before boxes were stored is shown and signed all the same", async () => {
  const { id, bearer } = await sent();
  const before = await boxesShown(bearer);
  await store(id, null);
  expect(await boxesShown(bearer)).toEqual(before);
  const original = await readDocument(app, bearer);
  await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
  await app.jobs.idle();
  expect((await readDocument(app, bearer)).bytes.length).toBeGreaterThan(original.bytes.length);
});

test("what rendering said counts: a field lies where it was typeset, and one that was left out is not asked for", async () => {
  const { id, bearer, stored } = await sent();
  const { city: _, ...boxes } = readBoxes(stored);
  await store(id, storedBoxes({ ...boxes, months: box(2, 500) }));
  const shown = await boxesShown(bearer);
  expect(shown.months).toEqual([box(2, 500)]);
  expect(shown.city).toBeUndefined();
  const fields = { months: 24, pets: true };
  await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer, { fields }) });
});
