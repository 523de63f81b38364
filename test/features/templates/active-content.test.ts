import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { TemplateFile } from "../../../server/features/templates/contract.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";
import { contract } from "../../harness/hostile-pdfs.ts";
import { enter, envelopeOf, items, ok, publishTemplate, send, submission } from "../../harness/scenario.ts";

/** The operator's setting, from the upload to the sealed file. */

const callsHome = "/AA<</WC<</S/URI/URI(https://PAYLOAD.example)>>>>";
const upload = contract({ 1: `<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(PAYLOAD)>>${callsHome}>>` });
let app: TestAppliance | undefined;
afterEach(async () => app?.stop());

async function uploaded(to: TestAppliance) {
  const { id } = z.object({ id: z.string() }).parse((await ok(to, 201, "/v1/templates", { json: { name: "T" } })).body);
  const headers = { "content-type": "application/pdf" };
  return await to.json(`/v1/templates/${id}/files`, { body: new Uint8Array(upload), headers });
}

test("what is removed at the upload is not in the sealed file", async () => {
  const clock = movableClock();
  app = await startAppliance({ clock });
  const { warnings, sha256, sourceSha256 } = TemplateFile.parse((await uploaded(app)).body);
  expect(warnings.map(({ code }) => code)).toEqual(["javascript-removed", "automatic-link-removed"]);
  expect(sha256).not.toBe(sourceSha256);
  const { id } = await send(app, await publishTemplate(app, { pdf: upload, items }));
  for (const email of ["ada@example.com", "ben@example.com"]) {
    clock.advance(60_000);
    const bearer = await enter(app, email);
    await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
    await app.jobs.idle();
  }
  expect(await envelopeOf(app, id)).toMatchObject({ seal: "sealed" });
  const sealed = await app.call(`/v1/envelopes/${id}/document?version=sealed`);
  expect(Buffer.from(await sealed.arrayBuffer()).toString("latin1")).not.toMatch(/PAYLOAD|JavaScript/);
});

test("refuse: the upload names what it holds", async () => {
  app = await startAppliance({ env: { SIGNET_ACTIVE_CONTENT: "refuse" } });
  expect(await uploaded(app)).toMatchObject({
    status: 422,
    body: { code: "invalid-document", detail: expect.stringContaining("scripts (JavaScript)") },
  });
});
