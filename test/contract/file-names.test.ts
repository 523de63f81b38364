import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { png } from "../harness/pictures.ts";
import { enter, publishTemplate, samplePdf, send } from "../harness/scenario.ts";

/** The name of a file stands on the certificate and in the evidence: it is what can be seen of it, in the order it is read. */

let app: TestAppliance;
let template: string;
let signer: string;
beforeAll(async () => {
  app = await startAppliance();
  template = await publishTemplate(app);
  await send(app, template, { tenant: { verification: "none" } });
  signer = await enter(app, "ada@example.com");
});
afterAll(() => app.stop());

const cases: [given: string, kept: string | null][] = [
  ["Ausweis Zürich.png", "Ausweis Zürich.png"],
  ["عقد إيجار.pdf", "عقد إيجار.pdf"],
  ["a\u202efdp.pdf", "afdp.pdf"],
  ["\u2066a\u2069\u200e\u200f.pdf", "a.pdf"],
  ["a\u2028b\u0085.pdf", "ab.pdf"],
  ["  a b.pdf \u00a0", "a b.pdf"],
  ["C:\\scans\\a.pdf", "a.pdf"],
  ["   ", null],
  ["\u200b", null],
  ["\u202e \u2800\u00ad", null],
  [`${"😀".repeat(199)}aé.pdf`, `${"😀".repeat(199)}a`],
];

describe.each(cases)("%j", (given, kept) => {
  it("names a template's file", async () => {
    const { status, body } = await app.json(`/v1/templates/${template}/files`, {
      body: new Uint8Array(await samplePdf()),
      headers: {
        "content-type": "application/pdf",
        "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(given)}`,
      },
    });
    expect([status, (body as { filename: unknown }).filename]).toEqual([201, kept]);
  });

  it("names an attachment", async () => {
    const form = new FormData();
    form.append("field", "card");
    form.append("file", new Blob([new Uint8Array(png(2, 2))], { type: "image/png" }), given);
    const { status, body } = await app.json("/v1/signing/attachments", { key: { bearer: signer }, body: form });
    expect([status, (body as { filename: unknown }).filename]).toEqual([201, kept ?? "file"]);
  });
});

it("a plain `filename` is read by the same rule", async () => {
  for (const [given, kept] of [
    ['"\\"a\\".pdf"', '"a".pdf'],
    ['"  "', null],
    ['"\u00ad"', null],
  ] as const) {
    const { body } = await app.json(`/v1/templates/${template}/files`, {
      body: new Uint8Array(await samplePdf()),
      headers: { "content-type": "application/pdf", "content-disposition": `attachment; filename=${given}` },
    });
    expect((body as { filename: unknown }).filename, given).toBe(kept);
  }
});
