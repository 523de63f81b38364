import { execFileSync } from "node:child_process";
import { PDFDocument, StandardFonts } from "pdf-lib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import {
  FieldProposals,
  Template,
  TemplateFile,
  TemplateVersion,
} from "../../../server/features/templates/contract.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { withFile } from "../../harness/pdfs.ts";
import { ok, refusal, send } from "../../harness/scenario.ts";

/** From an uploaded form with tags to an envelope without them. */

let app: TestAppliance;
beforeAll(async () => {
  app = await startAppliance();
});
afterAll(async () => app.stop());

const TAGS = ["{{signature:Tenant}}", "{{date_signed:Tenant}}", "{{signature:Landlord;label=For the owner}}"];

/** A page with four form fields, three tags, and text beside them. */
async function formWithTags(): Promise<Uint8Array> {
  const doc = await PDFDocument.create();
  const font = await doc.embedFont(StandardFonts.Helvetica);
  const page = doc.addPage([595, 842]);
  const form = doc.getForm();
  page.drawText("Lease of the flat", { x: 60, y: 780, size: 14, font });
  for (const [index, tag] of TAGS.entries()) {
    page.drawText(`Line ${index}: ${tag} end`, { x: 60, y: 300 - 40 * index, size: 11, font });
  }
  form.createTextField("tenant.city").addToPage(page, { x: 60, y: 700, width: 200, height: 20 });
  form.createCheckBox("pets").addToPage(page, { x: 60, y: 660, width: 14, height: 14 });
  const floor = form.createDropdown("floor");
  floor.setOptions(["Ground", "First"]);
  floor.addToPage(page, { x: 60, y: 620, width: 120, height: 20 });
  const note = form.createTextField("reference");
  note.setText("REF 4711");
  note.addToPage(page, { x: 60, y: 580, width: 200, height: 20 });
  return await doc.save();
}

async function uploaded(pdf: Uint8Array): Promise<{ template: string; file: string }> {
  const { id: template } = Template.parse((await ok(app, 201, "/v1/templates", { json: { name: "Lease" } })).body);
  const headers = { "content-type": "application/pdf" };
  const file = await ok(app, 201, `/v1/templates/${template}/files`, { body: Buffer.from(pdf), headers });
  return { template, file: TemplateFile.parse(file.body).id };
}

const proposalsOf = async (template: string, file: string) =>
  FieldProposals.parse((await ok(app, 200, `/v1/templates/${template}/files/${file}/proposals`)).body);

async function drafted(template: string, file: string, items: readonly object[]): Promise<void> {
  const roles = ["Tenant", "Landlord"].map((name, index) => ({ name, order: index + 1, verification: "none" }));
  const json = { content: { mode: "overlay", file, items }, roles, variables: [] };
  await ok(app, 200, `/v1/templates/${template}/draft`, { method: "PUT", json });
}

async function bytesOf(path: string): Promise<Uint8Array> {
  const response = await app.call(path);
  expect(response.status).toBe(200);
  return new Uint8Array(await response.arrayBuffer());
}
const textOf = (pdf: Uint8Array): string =>
  withFile(pdf, (path) => execFileSync("pdftotext", ["-layout", path, "-"]).toString());
const Json = z.object({ acroform: z.object({ hasacroform: z.boolean(), fields: z.array(z.unknown()) }) });
const formOf = (pdf: Uint8Array) =>
  withFile(pdf, (path) =>
    Json.parse(JSON.parse(execFileSync("qpdf", ["--json", "--json-key=acroform", path]).toString())),
  );

const untaken = { id: "elsewhere", type: "signature", role: "Tenant", page: 1, x: 300, y: 780, width: 120, height: 40 };
const landlords = { ...untaken, id: "owner", role: "Landlord", x: 440 };

test("taken proposals replace the form and the tags, in the draft, the version and the envelope", async () => {
  const { template, file } = await uploaded(await formWithTags());
  const { data, roles } = await proposalsOf(template, file);
  expect(data.map(({ source, field: { type, role, id } }) => [source, type, role, id])).toEqual([
    ["form", "text_input", "Signer 1", "city"],
    ["form", "checkbox", "Signer 1", "pets"],
    ["form", "dropdown", "Signer 1", "floor"],
    ["form", "text_input", "Signer 1", "reference"],
    ["tag", "signature", "Tenant", "signature-Tenant"],
    ["tag", "date_signed", "Tenant", "date_signed-Tenant"],
    ["tag", "signature", "Landlord", "For-the-owner"],
  ]);
  expect(roles).toEqual(["Signer 1", "Tenant", "Landlord"]);
  // The reference is left as it is; its text has to stay.
  const items = data.map(({ field }) => ({ ...field, role: field.role === "Signer 1" ? "Tenant" : field.role }));
  const taken = items.filter(({ id }) => id !== "reference");
  await drafted(template, file, taken);
  const document = `/v1/templates/${template}/versions/draft/document`;
  expect(formOf(await bytesOf(document)).acroform.fields).toHaveLength(4);
  const edited = await bytesOf(`${document}?edited=true`);
  expect(edited).toEqual(await bytesOf(`${document}?edited=true`));
  const published = TemplateVersion.parse(
    (await ok(app, 201, `/v1/templates/${template}/publish`, { method: "POST" })).body,
  );
  expect(published.warnings.map(({ code }) => code)).not.toContain("form-fields");
  const version = await bytesOf(`/v1/templates/${template}/versions/1/document`);
  const { id } = await send(app, template);
  const envelope = await bytesOf(`/v1/envelopes/${id}/document?version=original`);
  for (const pdf of [edited, version, envelope]) {
    expect(formOf(pdf).acroform).toEqual({ hasacroform: false, fields: [] });
    const text = textOf(pdf);
    expect(text).not.toContain("{{");
    for (const line of ["Line 0:", "Line 2:", "end", "Lease of the flat", "REF 4711"]) expect(text).toContain(line);
  }
});

test("a form and tags whose places no field takes are kept", async () => {
  const { template, file } = await uploaded(await formWithTags());
  await drafted(template, file, [untaken, landlords]);
  await ok(app, 201, `/v1/templates/${template}/publish`, { method: "POST" });
  const version = await bytesOf(`/v1/templates/${template}/versions/1/document`);
  expect(formOf(version).acroform.fields).toHaveLength(4);
  for (const tag of TAGS) expect(textOf(version)).toContain(tag);
});

test("a field that lies on a widget takes the form, whatever its id, and leaves the tags", async () => {
  const { template, file } = await uploaded(await formWithTags());
  const over = { id: "town", type: "text_input", role: "Tenant", page: 1, x: 58, y: 120, width: 210, height: 24 };
  await drafted(template, file, [over, untaken, landlords]);
  await ok(app, 201, `/v1/templates/${template}/publish`, { method: "POST" });
  const version = await bytesOf(`/v1/templates/${template}/versions/1/document`);
  expect(formOf(version).acroform.fields).toHaveLength(0);
  expect(textOf(version)).toContain("REF 4711");
  for (const tag of TAGS) expect(textOf(version)).toContain(tag);
});

test("proposals belong to the template of the file", async () => {
  const one = await uploaded(await formWithTags());
  const other = await uploaded(await formWithTags());
  for (const path of [
    `${one.template}/files/${other.file}`,
    `${one.template}/files/tfl_none`,
    `tpl_none/files/${one.file}`,
  ])
    expect(await refusal(app, `/v1/templates/${path}/proposals`)).toMatchObject({ status: 404 });
  expect((await app.call(`/v1/templates/${one.template}/files/${one.file}/proposals`, { key: null })).status).toBe(401);
});
