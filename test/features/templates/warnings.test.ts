import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { EnvelopeDryRun, EnvelopeList } from "../../../server/features/envelopes/contract.ts";
import { TemplateFile, TemplateVersion, TemplateVersionList } from "../../../server/features/templates/contract.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";
import { contract } from "../../harness/hostile-pdfs.ts";
import { textOf } from "../../harness/rendering.ts";
import { enter, envelopeOf, items, ok, publishTemplate, send, submission } from "../../harness/scenario.ts";

/** What is to be known of a document reaches whoever makes a template of it, sends it and reads its certificate. */

const Id = z.object({ id: z.string() });
const Told = z.object({ warnings: TemplateFile.shape.warnings });
const codesIn = (body: unknown) => Told.parse(body).warnings.map(({ code }) => code);

/** Over the tenant's signature on the second page, and nothing else. */
const annotation = "<</Type/Annot/Subtype/Square/Rect[40 525 300 578]/IC[1 1 1]>>";
const covered = contract({ 4: `<</Type/Page/Parent 2 0 R/Contents 6 0 R/Annots[${annotation}]>>` });
const found = {
  code: "annotation-in-front",
  page: 2,
  count: 1,
  message: expect.stringContaining("in front of a field"),
};

/** Signed by somebody else, and cut off: it has to be written anew. */
const broken = contract({
  1: "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[8 0 R]/SigFlags 3>>>>",
  8: "<</FT/Sig/T(Theirs)/V 9 0 R>>",
  9: "<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/ByteRange[0 1 2 3]/Contents<00>>>",
}).subarray(0, -20);
const removed = ["signatures-removed", "repaired"];

const clock = movableClock();
let app: TestAppliance;
beforeAll(async () => {
  app = await startAppliance({ clock });
});
afterAll(() => app?.stop());

async function drafted(pdf: Uint8Array) {
  const { id } = Id.parse((await ok(app, 201, "/v1/templates", { json: { name: "Rental agreement" } })).body);
  const headers = { "content-type": "application/pdf" };
  const upload = await ok(app, 201, `/v1/templates/${id}/files`, { body: new Uint8Array(pdf), headers });
  const file = TemplateFile.parse(upload.body);
  const json = {
    content: { mode: "overlay", file: file.id, items },
    roles: [{ name: "Tenant" }, { name: "Landlord", order: 2, verification: "none" }],
    variables: [],
  };
  const draft = TemplateVersion.parse((await ok(app, 200, `/v1/templates/${id}/draft`, { method: "PUT", json })).body);
  return { path: `/v1/templates/${id}`, file, draft };
}

test("a draft says what its file says, a version also what publishing found", async () => {
  const { path, file, draft } = await drafted(Buffer.from(covered));
  expect(file.warnings).toEqual([]);
  expect(draft.warnings).toEqual([]);
  const published = TemplateVersion.parse((await ok(app, 201, `${path}/publish`, { method: "POST" })).body);
  expect(published.warnings).toEqual([found]);
  for (const version of ["1", "latest"])
    expect((await ok(app, 200, `${path}/versions/${version}`)).body).toEqual(published);

  const damaged = await drafted(Buffer.from(broken));
  expect(damaged.file.warnings.map(({ code }) => code)).toEqual(["repaired", "signatures-removed", "form-fields"]);
  expect(damaged.draft.warnings).toEqual(damaged.file.warnings);
  // For a colleague, and after a reload.
  expect((await ok(app, 200, `${damaged.path}/versions/draft`)).body).toEqual(damaged.draft);
  const listed = TemplateVersionList.parse((await ok(app, 200, `${damaged.path}/versions`)).body);
  expect(listed.data).toEqual([damaged.draft]);
});

test("that a signature was removed is said from the upload to the certificate", async () => {
  const template = await publishTemplate(app, { pdf: broken, items });
  const version = (await ok(app, 200, `/v1/templates/${template}/versions/1`)).body;
  expect(codesIn(version)).toEqual(["repaired", "signatures-removed", "form-fields"]);

  const recipients = [
    { role: "Tenant", name: "Ada Muster", email: "ada@example.com" },
    { role: "Landlord", name: "Ben Beispiel", email: "ben@example.com" },
  ];
  const json = { template, recipients, externalId: "twice", dedupeOn: "external_id" };
  const tried = EnvelopeDryRun.parse((await ok(app, 200, "/v1/envelopes?dry_run=1", { json })).body);
  expect(codesIn(tried)).toEqual(expect.arrayContaining(removed));
  const made = await ok(app, 201, "/v1/envelopes", { json });
  expect(codesIn(made.body)).toEqual(removed);
  const again = await ok(app, 200, "/v1/envelopes", { json });
  expect(codesIn(again.body)).toEqual(removed);
  await app.jobs.idle();
  const voided = await ok(app, 200, `/v1/envelopes/${Id.parse(made.body).id}/void`, { json: { reason: "Only tried" } });
  expect(codesIn(voided.body)).toEqual(removed);

  clock.advance(60_000);
  const { id } = await send(app, template);
  for (const email of ["ada@example.com", "ben@example.com"]) {
    clock.advance(60_000);
    const bearer = await enter(app, email);
    await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
    await app.jobs.idle();
  }
  const signed = await envelopeOf(app, id);
  expect(signed.seal).toBe("sealed");
  expect(signed.warnings?.map(({ code }) => code)).toEqual(removed);
  expect(signed.warnings?.[0]?.message).toMatch(/were removed\.$/);
  // A list asks nothing of the templates.
  const listed = EnvelopeList.parse((await ok(app, 200, "/v1/envelopes")).body);
  expect(listed.data.filter((one) => "warnings" in one)).toEqual([]);
  const certificate = await app.call(`/v1/envelopes/${id}/document?version=certificate`);
  const text = textOf(Buffer.from(await certificate.arrayBuffer())).replace(/\s+/g, " ");
  expect(text).toContain("and the signature was removed.");
});
