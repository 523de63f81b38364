import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { Template } from "../../../server/features/templates/contract.ts";
import { sweepUnlisted } from "../../../server/features/templates/jobs.ts";
import { type Clock, toTs } from "../../../server/kernel/clock.ts";
import { enqueue } from "../../../server/kernel/jobs.ts";
import { pdf } from "../../../server/kernel/wire.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { items, ok, samplePdf, send } from "../../harness/scenario.ts";

/** Templates that are made for one envelope (contract §2, `listed`). */

let now = Date.parse("2026-11-26T09:00:00.000Z");
const clock: Clock = { now: () => now, ts: () => toTs(now) };
const hourMs = 3_600_000;
let app: TestAppliance;
beforeAll(async () => {
  app = await startAppliance({ clock });
});
afterAll(() => app.stop());

const Page = z.object({ data: z.array(z.object({ id: z.string() })) });
const listed = async (q?: string) =>
  Page.parse((await app.json(`/v1/templates?limit=100${q === undefined ? "" : `&q=${q}`}`)).body).data.map(
    ({ id }) => id,
  );
const status = async (id: string) => (await app.json(`/v1/templates/${id}`)).status;
const create = async (body: object) => Template.parse((await ok(app, 201, "/v1/templates", { json: body })).body);

async function draftOf(template: string): Promise<object> {
  const uploaded = await ok(app, 201, `/v1/templates/${template}/files`, {
    body: Buffer.from(await samplePdf()),
    headers: { "content-type": pdf },
  });
  const { id: file } = z.object({ id: z.string() }).parse(uploaded.body);
  const roles = [
    { name: "Tenant", order: 1, verification: "none" },
    { name: "Landlord", order: 2, verification: "none" },
  ];
  return { content: { mode: "overlay", file, items }, roles, variables: [] };
}

async function sweep(): Promise<void> {
  await app.deps.db.tx((tx) => enqueue(tx, sweepUnlisted, {}));
  await app.jobs.idle();
}

test("it is in no list, found by its id, and kept by the envelope that is made of it", async () => {
  const { id, listed: isListed } = await create({ name: "Once only", listed: false });
  expect(isListed).toBe(false);
  const { id: other } = await create({ name: "Once and again" });
  expect(await listed()).toEqual([other]);
  expect(await listed("once")).toEqual([other]);
  expect(await listed(id)).toEqual([id]);
  const draft = await draftOf(id);
  await ok(app, 200, `/v1/templates/${id}/draft`, { method: "PUT", json: draft });
  await ok(app, 201, `/v1/templates/${id}/publish`, { method: "POST" });
  const envelope = await send(app, id);
  expect(envelope.status).toBe("sent");
  now += 25 * hourMs;
  await sweep();
  expect(await status(id)).toBe(200);
  expect(await status(other)).toBe(200);
  // "Save as template"; what is absent changes nothing.
  await ok(app, 200, `/v1/templates/${id}/draft`, { method: "PUT", json: { ...draft, listed: true } });
  await ok(app, 200, `/v1/templates/${id}/draft`, { method: "PUT", json: draft });
  expect(new Set(await listed("once"))).toEqual(new Set([other, id]));
});

test("without an envelope it is deleted a day after its last change, with all that belongs to it", async () => {
  const { id: idle } = await create({ name: "Never sent", listed: false });
  const { id: worked } = await create({ name: "Worked on", listed: false });
  const draft = await draftOf(worked);
  await ok(app, 200, `/v1/templates/${idle}/draft`, { method: "PUT", json: await draftOf(idle) });
  await ok(app, 201, `/v1/templates/${idle}/publish`, { method: "POST" });
  now += 23 * hourMs;
  await ok(app, 200, `/v1/templates/${worked}/draft`, { method: "PUT", json: draft });
  await sweep();
  expect([await status(idle), await status(worked)]).toEqual([200, 200]);
  now += hourMs;
  await sweep();
  expect([await status(idle), await status(worked)]).toEqual([404, 200]);
  now += 23 * hourMs;
  await sweep();
  expect(await status(worked)).toBe(404);
  const left = await app.deps.db.read.selectFrom("template_files").select("id").where("template", "in", [idle, worked]);
  expect(await left.execute()).toEqual([]);
});
