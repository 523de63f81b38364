import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ensureRevisions, submissionsOf } from "../../../server/features/signing/service.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import {
  enter,
  exchange,
  linkTokenOf,
  ok,
  publishTemplate,
  readDocument,
  send,
  submission,
  typed,
  viewOf,
} from "../../harness/scenario.ts";

const run = promisify(execFile);
let app: TestAppliance;
let template: string;

beforeAll(async () => {
  app = await startAppliance();
  template = await publishTemplate(app);
});
afterAll(async () => app.stop());

/** What an independent reader finds on the pages. */
async function textOf(bytes: Uint8Array): Promise<string> {
  const file = path.join(app.folder, "read.pdf");
  await writeFile(file, bytes);
  await run("qpdf", ["--check", file]);
  return (await run("pdftotext", ["-layout", file, "-"])).stdout;
}

describe("revisions", () => {
  test("show what was filled in, byte for byte the same however often they are drawn", async () => {
    const { id } = await send(app, template, { tenant: { verification: "none" } });
    const bearer = await enter(app, "ada@example.com");
    const original = await readDocument(app, bearer);
    expect(await textOf(original.bytes)).not.toContain("Zürich");
    const json = await submission(app, bearer, { fields: { city: "Zürich (Kreis 4)", months: 24 } });
    await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json });
    await Promise.all([ensureRevisions(app.deps, id), ensureRevisions(app.deps, id), app.jobs.idle()]);
    const { bytes, sha256 } = await readDocument(app, bearer);
    const text = await textOf(bytes);
    expect(text).toContain("Zürich (Kreis 4)");
    expect(text).toContain("24");
    expect(text).toContain("Ada Muster");
    await ensureRevisions(app.deps, id);
    expect((await readDocument(app, bearer)).sha256).toBe(sha256);
    expect(await submissionsOf(app.deps.db.read, id)).toMatchObject([
      {
        number: 1,
        consent: { version: "1", locale: "en" },
        signature: { method: "draw", imageSha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
        initials: null,
        documentSha256: original.sha256,
      },
    ]);
  });

  test("a restart between the submission and its drawing loses nothing", async () => {
    const { id } = await send(app, template, { tenant: { verification: "none", email: "re@example.com" } });
    const bearer = await enter(app, "re@example.com");
    const json = await submission(app, bearer);
    await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json });
    await app.restart();
    await app.jobs.idle();
    const landlord = await enter(app, "ben@example.com");
    expect((await viewOf(app, landlord)).envelope.id).toBe(id);
    expect(await textOf((await readDocument(app, landlord)).bytes)).toContain("Zürich");
    // The first person's access survived too.
    expect((await viewOf(app, bearer)).state).toBe("completed");
  });
});

describe("whatever is sent", () => {
  test("is answered, never with a server error", async () => {
    await send(app, template, { tenant: { verification: "none", email: "fuzz@example.com" } });
    const { accessToken: bearer } = await exchange(app, await linkTokenOf(app, "fuzz@example.com"));
    const whole = await submission(app, bearer);
    const value = fc.oneof(
      fc.string({ unit: "binary", maxLength: 60 }),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      fc.array(fc.string(), { maxLength: 3 }),
      fc.object({ maxDepth: 1 }),
    );
    const ids = [
      "city",
      "months",
      "pets",
      "card",
      "stamp",
      "tenant-name",
      "tenant-day",
      "tenant-sign",
      "__proto__",
      "a/b",
    ];
    const fields = fc.dictionary(fc.constantFrom(...ids), value, { maxKeys: 6 });
    // Something in each body must be wrong, else the signer would be done and every later body be answered alike.
    const change = fc.oneof(
      fc.record({ fields, documentSha256: fc.constant("f".repeat(64)) }),
      fc.record({ fields, consent: fc.constant({ accepted: true, version: "none", locale: "en" }) }),
      fc.record({ signature: fc.oneof(value, fc.constant({ ...typed, font: "Arial" })), timeZone: fc.constant("x/y") }),
      fc.record({ initials: fc.oneof(value, fc.constant(typed)), timeZone: value, fields, extra: fc.constant(1) }),
    );
    await fc.assert(
      fc.asyncProperty(change, async (changed) => {
        const { status } = await app.json("/v1/signing/submit", { key: { bearer }, json: { ...whole, ...changed } });
        expect([400, 422]).toContain(status);
      }),
      { numRuns: 150 },
    );
    const token = fc.oneof(
      fc.string(),
      fc.string().map((text) => `svcs_${text}`),
    );
    await fc.assert(
      fc.asyncProperty(token, async (text) => {
        const { status } = await app.json("/v1/signing/exchange", { key: null, json: { token: text } });
        expect([401, 422, 429]).toContain(status);
      }),
      { numRuns: 40 },
    );
    expect((await viewOf(app, bearer)).state).toBe("ready");
  });
});
