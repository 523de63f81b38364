import { degrees, PDFDocument, PDFName, PDFNumber, PDFString } from "pdf-lib";
import { describe, expect, test } from "vitest";
import { FieldProposals } from "../../server/features/templates/contract.ts";
import { propose } from "../../workers/proposals/propose.ts";
import { takeProposals } from "../../workers/proposals/take.ts";
import type { ProposedField, TakenField } from "../../workers/protocol.ts";
import { handmade, stream } from "../harness/hostile-pdfs.ts";
import { rawPdf, samplePdf, whole } from "../harness/pdfs.ts";

const at = "2026-01-01T00:00:00.000Z";

function formOf(pdf: Uint8Array): ProposedField[] {
  const found = propose({ pdf, limit: 500 });
  if (!found.ok) throw new Error(found.error.message);
  // What is proposed is what a draft takes.
  expect(FieldProposals.safeParse(found.value).error).toBeUndefined();
  return found.value.data.filter(({ source }) => source === "form").map(({ field }) => field);
}

describe("form fields", () => {
  test("have the types, options, values and flags of the form", async () => {
    const doc = await PDFDocument.create();
    const page = doc.addPage([600, 800]);
    const form = doc.getForm();
    const place = (y: number) => ({ x: 50, y, width: 120, height: 20 });
    const text = (name: string, y: number) => {
      const field = form.createTextField(name);
      field.addToPage(page, place(y));
      return field;
    };
    const notes = text("section.notes", 740);
    notes.enableMultiline();
    notes.setText("first\nsecond");
    const comb = text("ssn", 700);
    comb.setMaxLength(9);
    comb.enableCombing();
    comb.enableRequired();
    const locked = text("Größe", 660);
    locked.setText("XL");
    locked.enableReadOnly();
    text("E-Mail", 620);
    text("Telefon", 580).acroField.dict.set(PDFName.of("TU"), PDFString.of("Your daytime number"));
    const date = text("when", 540).acroField.dict;
    const action = { S: "JavaScript", JS: PDFString.of('AFDate_FormatEx("mm/dd/yyyy");') };
    date.set(PDFName.of("AA"), doc.context.obj({ F: action }));
    const amount = text("sum", 500).acroField.dict;
    amount.set(
      PDFName.of("AA"),
      doc.context.obj({ K: { S: "JavaScript", JS: PDFString.of("AFNumber_Keystroke(2, 0, 0, 0, '', true);") } }),
    );
    const floor = form.createDropdown("floor");
    floor.addToPage(page, place(460));
    floor.setOptions(["Ground", "First"]);
    floor.select("First");
    const list = form.createOptionList("list");
    list.addToPage(page, place(420));
    list.setOptions(["A", "B"]);
    const radio = form.createRadioGroup("pay");
    radio.addOptionToPage("card", page, { x: 50, y: 380, width: 12, height: 12 });
    radio.addOptionToPage("cash", page, { x: 90, y: 380, width: 12, height: 12 });
    radio.select("cash");
    const tick = form.createCheckBox("agree");
    tick.addToPage(page, { x: 50, y: 340, width: 12, height: 12 });
    tick.check();
    form.createButton("reset").addToPage("Reset", page, place(300));
    const hidden = text("hidden", 260);
    hidden.acroField.getWidgets()[0]?.dict.set(PDFName.of("F"), PDFNumber.of(2));
    const fields = formOf(await doc.save());
    expect(fields.map(({ page: _p, x: _x, y: _y, width: _w, height: _h, role: _r, ...field }) => field)).toEqual([
      { id: "notes", label: "notes", type: "text_input", required: false, multiline: true, default: "first\nsecond" },
      { id: "ssn", label: "ssn", type: "text_input", cells: 9, maxLength: 9 },
      { id: "Groesse", label: "Größe", type: "text_input", required: false, default: "XL", readOnly: true },
      { id: "E-Mail", label: "E Mail", type: "email", required: false },
      { id: "Telefon", label: "Your daytime number", type: "phone", required: false },
      { id: "when", label: "when", type: "date", required: false, format: "MM/DD/YYYY" },
      { id: "sum", label: "sum", type: "number", required: false, decimals: 2 },
      {
        id: "floor",
        label: "floor",
        type: "dropdown",
        required: false,
        options: [{ value: "Ground" }, { value: "First" }],
        default: "First",
      },
      { id: "list", label: "list", type: "dropdown", required: false, options: [{ value: "A" }, { value: "B" }] },
      expect.objectContaining({ id: "pay", type: "radio", default: "cash", required: false }),
      { id: "agree", label: "agree", type: "checkbox", required: false, default: true },
    ]);
    // pdf-lib draws the border around the place that it is given.
    expect(fields[0]).toMatchObject({ page: 1, x: 49.5, y: 39.5, width: 121, height: 21, role: "Signer 1" });
    expect(fields[9]?.options).toEqual([
      { value: "card", box: { page: 1, x: 49.5, y: 407.5, width: 13, height: 13 } },
      { value: "cash", box: { page: 1, x: 89.5, y: 407.5, width: 13, height: 13 } },
    ]);
  });

  test("follow the tab order of the page, and lie where they are seen on turned, cropped and scaled pages", async () => {
    const doc = await PDFDocument.create();
    const page = doc.addPage([600, 800]);
    for (const [name, x, y] of [
      ["low", 50, 100],
      ["right", 300, 700],
      ["left", 60, 702],
    ] as const)
      doc.getForm().createTextField(name).addToPage(page, { x, y, width: 100, height: 20 });
    page.node.set(PDFName.of("Tabs"), PDFName.of("R"));
    expect(formOf(await doc.save()).map(({ id }) => id)).toEqual(["left", "right", "low"]);
    page.node.set(PDFName.of("Tabs"), PDFName.of("C"));
    expect(formOf(await doc.save()).map(({ id }) => id)).toEqual(["left", "low", "right"]);
    page.node.delete(PDFName.of("Tabs"));
    page.setCropBox(40, 50, 500, 700);
    page.setRotation(degrees(90));
    page.node.set(PDFName.of("UserUnit"), PDFNumber.of(2));
    const [low] = formOf(await doc.save());
    // Turned clockwise, what is left in the page is up, and a unit is two points.
    expect(low).toMatchObject({ id: "low", x: 99, y: 19, width: 42, height: 202 });
  });

  test("get ids of their own that stay the same", async () => {
    const doc = await PDFDocument.create();
    const page = doc.addPage([600, 800]);
    const names = ["a.name[0]", "b.name[0]", "12", "日本", `x${"y".repeat(90)}`, `z.x${"y".repeat(90)}`];
    for (const [index, name] of names.entries())
      doc
        .getForm()
        .createTextField(name)
        .addToPage(page, { x: 50, y: 700 - 40 * index, width: 100, height: 20 });
    const pdf = await doc.save();
    const ids = formOf(pdf).map(({ id }) => id);
    expect(ids).toEqual(["name", "name_2", "text", "text_2", `x${"y".repeat(63)}`, `x${"y".repeat(61)}_2`]);
    expect(formOf(pdf).map(({ id }) => id)).toEqual(ids);
  });
});

describe("hostile forms", () => {
  const page = (annots: string, more = "") =>
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Annots[${annots}]${more}>>`;
  const pages = "<</Type/Pages/Kids[3 0 R]/Count 1>>";

  test("parents in a circle, wrong types and endless names end", () => {
    const widget = "/Type/Annot/Subtype/Widget/Rect[10 10 100 30]";
    const pdf = rawPdf({
      1: "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R 5 0 R]>>>>",
      2: pages,
      3: page("4 0 R 5 0 R 6 0 R 7 0 R 8 0 R 9 0 R"),
      9: `<<${widget}/T 1/FT/Tx/Parent 11 0 R>>`,
      11: "<</T(c)>>",
      4: `<<${widget}/FT/Tx/T(a)/Parent 5 0 R/Kids[5 0 R]>>`,
      5: `<<${widget}/T(b)/Parent 4 0 R/Kids[4 0 R]>>`,
      6: `<<${widget}/FT(Tx)/T/wrong/Ff/wrong/V[1 2]/Opt 7/MaxLen(x)/Parent 6 0 R>>`,
      7: `<<${widget}/FT/Ch/T(${"n".repeat(5000)})/Opt[[(a)][1][(b)(c)(d)](e) null]/V 3 0 R>>`,
      8: `<<${widget}/FT/Btn/Ff 32768/AP<</N<</On 3 0 R>>>>/Opt(x)/V/On>>`,
    });
    expect(
      formOf(pdf)
        .map(({ type }) => type)
        .toSorted(),
    ).toEqual(["dropdown", "radio", "text_input", "text_input"]);
  });

  test("no more than the limit comes back of thousands of widgets, and fast", () => {
    const objects: Record<number, string> = { 1: "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R]>>>>", 2: pages };
    const count = 8000;
    const refs = Array.from({ length: count }, (_, index) => `${index + 10} 0 R`).join(" ");
    objects[3] = page(refs);
    objects[4] = `<</FT/Tx/T(all)/Kids[${refs}]>>`;
    for (let index = 0; index < count; index++) {
      const at = `${(index % 50) * 11} ${Math.floor(index / 50) * 5}`;
      objects[index + 10] =
        `<</Type/Annot/Subtype/Widget/Rect[${at} ${(index % 50) * 11 + 10} ${Math.floor(index / 50) * 5 + 4}]/Parent 4 0 R>>`;
    }
    const before = performance.now();
    const found = propose({ pdf: rawPdf(objects), limit: 500 });
    expect(found.ok && found.value.data.length).toBe(500);
    expect(performance.now() - before).toBeLessThan(5000);
  });

  test("content that nobody can read leaves the form", () => {
    const pdf = handmade({
      1: "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R]>>>>",
      2: pages,
      3: page("4 0 R", "/Contents 5 0 R"),
      4: "<</Type/Annot/Subtype/Widget/Rect[10 10 100 30]/FT/Tx/T(a)>>",
      5: stream("Q Q nonsense ((("),
    });
    expect(formOf(pdf)).toHaveLength(1);
  });
});

describe("taking proposals", () => {
  const take = async (pdf: Uint8Array, fields: TakenField[]) => {
    const made = await takeProposals({ pdf, fields, at });
    if (!made.ok) throw new Error(made.error.message);
    return made.value;
  };
  const anywhere = { page: 1, x: 500, y: 10, width: 40, height: 20 };

  test("gives the same bytes for the same input, and none when nothing is taken", async () => {
    const pdf = await samplePdf({ form: true });
    const fields = [{ id: "field", boxes: [anywhere] }];
    const [first, second] = [await take(pdf, fields), await take(pdf, fields)];
    expect(first.tail).not.toBeNull();
    expect(first).toEqual(second);
    expect((await take(pdf, [{ id: "other", boxes: [anywhere] }])).tail).toBeNull();
    expect((await take(pdf, [])).tail).toBeNull();
  });

  test("a widget counts as covered from half of its area on", async () => {
    const pdf = await samplePdf({ form: true });
    const over = (height: number) => [{ id: "x", boxes: [{ page: 1, x: 50, y: 842 - 620, width: 200, height }] }];
    expect((await take(pdf, over(9))).tail).toBeNull();
    expect((await take(pdf, over(11))).tail).not.toBeNull();
  });

  test("the file without its form can be opened, drawn on and sealed further", async () => {
    const pdf = await samplePdf({ form: true });
    const { tail } = await take(pdf, [{ id: "field", boxes: [anywhere] }]);
    const doc = await PDFDocument.load(whole(pdf, tail ?? new Uint8Array()));
    expect(doc.catalog.has(PDFName.of("AcroForm"))).toBe(false);
    expect(doc.getPage(0).node.Annots()).toBeUndefined();
  });
});
