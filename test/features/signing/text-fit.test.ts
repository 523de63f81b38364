import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TextsFitted } from "../../../server/features/signing/contract.ts";
import { createLog } from "../../../server/kernel/log.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import {
  enter,
  exchange,
  linkTokenOf,
  ok,
  publishTemplate,
  readDocument,
  refusal,
  send,
  submission,
} from "../../harness/scenario.ts";

const run = promisify(execFile);
const small = (y: number) => ({ page: 1, x: 60, y, width: 120, height: 20 });
const required = false;
const items = [
  { id: "note", role: "Tenant", type: "text_input", required, ...small(120) },
  { id: "terms", role: "Tenant", type: "text_input", multiline: true, required, ...small(160), height: 60 },
  { id: "firm", role: "Tenant", type: "company", required, ...small(240) },
  { id: "sum", role: "Tenant", type: "number", required, ...small(280), width: 40 },
  { id: "fixed", role: "Tenant", type: "text_input", readOnly: true, required, ...small(320) },
  { id: "name", role: "Tenant", type: "full_name", ...small(360), width: 60 },
  { id: "tenant-sign", role: "Tenant", type: "signature", ...small(400) },
  { id: "other", role: "Landlord", type: "text_input", required, ...small(440) },
  { id: "landlord-sign", role: "Landlord", type: "signature", ...small(480) },
];
const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index}`).join(" ");

let app: TestAppliance;
let template: string;
const logged: string[] = [];
beforeAll(async () => {
  app = await startAppliance({ log: createLog("error", { write: (line: string) => void logged.push(line) }) });
  const roles = ["Tenant", "Landlord"].map((name) => ({ name, order: 1, verification: "none" }));
  template = await publishTemplate(app, { items, roles });
});
afterAll(async () => app.stop());

async function open(more: { tenant?: Record<string, unknown>; values?: Record<string, unknown> } = {}) {
  const values = more.values === undefined ? {} : { values: { Tenant: more.values } };
  await send(app, template, { tenant: more.tenant ?? {}, envelope: values });
  return await enter(app, "ada@example.com");
}

async function tryFields(bearer: string, fields: Record<string, unknown>) {
  const json = await submission(app, bearer, { fields });
  return await app.json("/v1/signing/submit", { key: { bearer }, json });
}

/** The words of the document that a signer finds afterwards, by an independent reader. */
async function wordsIn(bearer: string): Promise<string> {
  await app.jobs.idle();
  const file = path.join(app.folder, "read.pdf");
  await writeFile(file, (await readDocument(app, bearer)).bytes);
  return (await run("pdftotext", [file, "-"])).stdout.replace(/\s+/g, " ");
}

const fitted = async (bearer: string, fields: Record<string, unknown>) =>
  TextsFitted.parse((await ok(app, 200, "/v1/signing/fit", { key: { bearer }, json: { fields } })).body).fields;

describe("a text that cannot be read in its field", () => {
  test("is refused at every field that it stands in, and shortened is drawn whole", async () => {
    const bearer = await open();
    const long = { note: words(60), terms: words(200), firm: "W".repeat(150), sum: 1e300 };
    const { status, body } = await tryFields(bearer, long);
    expect(status).toBe(422);
    expect(body).toMatchObject({
      errors: ["note", "terms", "firm", "sum"].map((id) => ({ pointer: `#/fields/${id}`, code: "max" })),
    });
    const told = await fitted(bearer, long);
    expect(told.note?.fits).toBe(false);
    expect(told.note?.size).toBeLessThan(6);
    const fields = { note: words(60).slice(0, told.note?.room ?? 0), terms: words(40), firm: "Muster & Söhne GmbH" };
    expect(fields.note.length).toBeGreaterThan(60);
    expect((await tryFields(bearer, fields)).status).toBe(200);
    const shown = await wordsIn(bearer);
    for (const text of Object.values(fields)) for (const word of text.split(" ")) expect(shown).toContain(word);
  });

  test("that the sender filled in is the signer's to shorten", async () => {
    const bearer = await open({ values: { note: words(60) } });
    expect((await tryFields(bearer, {})).body).toMatchObject({ errors: [{ pointer: "#/fields/note" }] });
    expect((await tryFields(bearer, { note: "shorter" })).status).toBe(200);
  });

  test("that nobody can change keeps no envelope open, and is drawn smaller rather than cut", async () => {
    const name = "Hubert Blaine Wolfeschlegelsteinhausenbergerdorff Senior of Philadelphia";
    const bearer = await open({ tenant: { name }, values: { fixed: words(60) } });
    expect((await tryFields(bearer, {})).status).toBe(200);
    const shown = await wordsIn(bearer);
    for (const word of [...words(60).split(" "), "Hubert", "Philadelphia"]) expect(shown).toContain(word);
  });
});

describe("the page asks how texts go into their fields", () => {
  test("and is told what will be drawn", async () => {
    const bearer = await open();
    const fields = await fitted(bearer, {
      note: "A sentence that needs two lines",
      terms: words(30),
      firm: "Short",
      sum: 5,
      name: "Hubert Blaine Wolfeschlegelsteinhausenbergerdorff",
    });
    expect(fields.note).toMatchObject({ fits: true, room: null });
    expect(fields.note?.size).toBeGreaterThanOrEqual(6);
    expect(fields.terms?.fits).toBe(true);
    expect(fields).not.toHaveProperty("firm");
    expect(fields).not.toHaveProperty("sum");
  });

  test("about the fields of its signer alone, after the code", async () => {
    const bearer = await open();
    const ask = (key: string, fields: Record<string, unknown>) =>
      refusal(app, "/v1/signing/fit", { key: { bearer: key }, json: { fields } });
    expect(await ask(bearer, { other: "x", nobody: "y" })).toMatchObject({
      status: 422,
      at: ["#/fields/other", "#/fields/nobody"],
    });
    const roles = ["Tenant", "Landlord"].map((role) => ({ name: role, order: 1, verification: "email_otp" }));
    await send(app, await publishTemplate(app, { items, roles }), { tenant: { email: "otto@example.com" } });
    const { accessToken } = await exchange(app, await linkTokenOf(app, "otto@example.com"));
    expect(await ask(accessToken, { note: "x" })).toEqual({ status: 403, code: "otp-required" });
  });
});

test("whoever leaves while texts are measured, as with every letter, ends no thread and is no failure", async () => {
  const bearer = await open();
  await fitted(bearer, { terms: words(200) });
  const { pool } = app.deps;
  const { completed } = pool.stats();
  const leave = new AbortController();
  // One is measured at a time, and the others wait.
  const asked = [1, 2, 3, 4].map((more) => {
    const json = { fields: { terms: words(200 + more) } };
    return app.call("/v1/signing/fit", { key: { bearer }, json, signal: leave.signal }).catch(() => "left");
  });
  while (pool.stats().running === 0 || pool.stats().waiting === 0) await new Promise((next) => setImmediate(next));
  leave.abort();
  expect(await Promise.all(asked)).toContain("left");
  await expect.poll(() => pool.stats()).toMatchObject({ running: 0, waiting: 0 });
  expect(pool.stats().completed).toBeGreaterThan(completed);
  expect(logged).toEqual([]);
});

test("a dry run warns of texts that the sender has put in and nobody could read", async () => {
  const json = {
    template,
    title: "Flat 12",
    recipients: [
      {
        role: "Tenant",
        name: "Hubert Blaine Wolfeschlegelsteinhausenbergerdorff of Philadelphia",
        email: "h@example.com",
      },
      { role: "Landlord", name: "Ben Beispiel", email: "ben@example.com" },
    ],
    values: { Tenant: { fixed: words(60), note: "short" } },
  };
  const { body } = await ok(app, 200, "/v1/envelopes?dry_run=true", { json });
  expect(body).toMatchObject({
    warnings: ["fixed", "name"].map((id) => ({
      code: "text-tiny",
      message: `The text of the field "${id}" is too long to be read in it.`,
      page: 1,
    })),
  });
});
