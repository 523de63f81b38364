import fc from "fast-check";
import { degrees, PDFDocument, StandardFonts } from "pdf-lib";
import { describe, expect, test } from "vitest";
import { propose } from "../../workers/proposals/propose.ts";
import { parseTag, type Tag, tagsIn } from "../../workers/proposals/tag-grammar.ts";
import type { Proposal } from "../../workers/protocol.ts";

const parsed = (inner: string): unknown => {
  const tag = parseTag(inner);
  return tag && [tag.type, tag.role, tag.name, Object.fromEntries(tag.attributes)];
};

describe("the grammar of tags", () => {
  test.each([
    ["signature:Buyer", ["signature", "Buyer", null, {}]],
    [" Date : The seller ; required = false", ["date", "The seller", null, { required: "false" }]],
    ["text:Buyer;name=iban;width=200", ["text_input", "Buyer", "iban", { name: "iban", width: "200" }]],
    ["initials", ["initials", null, null, {}]],
    ["signature;role=Buyer", ["signature", "Buyer", null, { role: "Buyer" }]],
    // As DocuSeal writes them.
    ["DOB;role=Signer1;type=date", ["date", "Signer1", "DOB", { role: "Signer1", type: "date" }]],
    ["City;required=false", ["text_input", null, "City", { required: "false" }]],
    ["type=checkbox", ["checkbox", null, null, { type: "checkbox" }]],
    ["Pick;type=select;options=One,Two", ["dropdown", null, "Pick", { type: "select", options: "One,Two" }]],
    ["Signed on;type=datenow", ["date_signed", null, "Signed on", { type: "datenow" }]],
    // As Documenso writes them.
    ["SIGNATURE, r1", ["signature", "Signer 1", null, {}]],
    ["name, r2, required=true, fontSize=12", ["full_name", "Signer 2", null, { required: "true", size: "12" }]],
    ["text, R1, label=Company, Inc", ["text_input", "Signer 1", null, { label: "Company, Inc" }]],
    ["date, r1", ["date_signed", "Signer 1", null, {}]],
  ])("%s", (inner, expected) => expect(parsed(inner)).toEqual(expected));

  test.each([
    ...["company", "name", "text", "client.name", "", " ", "x:y", "Price: 4", "a;b", "signature:", "signature:a:b"],
    ...[
      "signature, Buyer",
      "name, required=true",
      "Photo;type=payment",
      "text:a,b",
      "role=Buyer",
      "signature:a\u202eb",
    ],
  ])("%j is no tag", (inner) => expect(parseTag(inner)).toBeNull());

  test("what is written as the grammar says is read as it was meant", () => {
    const role = fc
      .stringMatching(/^[A-Za-zÄÖÜéß][A-Za-z0-9 ._'-]{0,30}[A-Za-z0-9]$/)
      .filter((text) => !text.includes("  "));
    const value = fc.stringMatching(/^[A-Za-z0-9 ,.-]{1,20}$/).map((text) => text.trim());
    const keys = fc.constantFrom("required", "label", "width", "default", "options");
    const pairs = fc.uniqueArray(fc.tuple(keys, value), { selector: ([key]) => key, maxLength: 4 });
    const types = fc.constantFrom("signature", "initials", "date", "text", "number", "checkbox", "phone");
    fc.assert(
      fc.property(types, role, pairs, (type, name, attributes) => {
        const inner = [`${type}:${name}`, ...attributes.map(([key, text]) => `${key}=${text}`)].join(";");
        const tag = parseTag(inner);
        expect([tag?.role, Object.fromEntries(tag?.attributes ?? [])]).toEqual([name, Object.fromEntries(attributes)]);
      }),
    );
  });

  test("no text throws, and what is understood has a type and a proper role", () => {
    const piece = fc.constantFrom(
      "signature",
      ":",
      ";",
      ",",
      "=",
      "role",
      "type",
      "r1",
      "{{",
      "}}",
      " ",
      "date",
      "required",
      "Ä\n",
      "\u202e",
    );
    const text = fc.oneof(
      fc.array(piece, { maxLength: 20 }).map((parts) => parts.join("")),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(text, (given) => {
        for (const { begin, end, inner } of tagsIn(`${given}{{signature:A}}`)) {
          expect(end - begin).toBe(inner.length + 4);
          const tag: Tag | null = parseTag(inner);
          if (tag?.role != null) expect(tag.role).toMatch(/^[^\p{C}{}:;=,|]{1,64}$/u);
        }
        parseTag(given);
      }),
      { numRuns: 500 },
    );
  });
});

type Line = { text: string; x: number; y: number; size?: number; pieces?: number; turn?: 0 | 90 | 180 | 270 };

async function pageWith(lines: readonly Line[], rotate = 0): Promise<Uint8Array> {
  const doc = await PDFDocument.create();
  const font = await doc.embedFont(StandardFonts.Helvetica);
  const page = doc.addPage([600, 800]);
  page.setRotation(degrees(rotate));
  page.setCropBox(10, 20, 580, 760);
  for (const { text, x, y, size = 10, pieces = 1, turn = 0 } of lines) {
    let along = 0;
    for (let at = 0; at < text.length; at += pieces === 1 ? text.length : pieces) {
      const part = pieces === 1 ? text : text.slice(at, at + pieces);
      const [dx, dy] = [Math.cos((turn * Math.PI) / 180) * along, Math.sin((turn * Math.PI) / 180) * along];
      page.drawText(part, { x: x + dx, y: y + dy, size, font, rotate: degrees(turn) });
      along += font.widthOfTextAtSize(part, size);
    }
  }
  return await doc.save();
}

function proposed(pdf: Uint8Array): { data: Proposal[]; roles: string[] } {
  const found = propose({ pdf, limit: 500 });
  if (!found.ok) throw new Error(found.error.message);
  return found.value;
}

describe("tags on pages", () => {
  test("stand where the tag stands, also when it is shown in pieces", async () => {
    const whole = proposed(await pageWith([{ text: "Sign: {{text:Buyer}} please", x: 100, y: 400 }]));
    expect(whole).toMatchObject({
      roles: ["Buyer"],
      data: [{ source: "tag", field: { type: "text_input", page: 1 } }],
    });
    const [field] = whole.data.map((one) => one.field);
    // The crop box begins at 10, 20 and ends at 780.
    expect(field?.x).toBeCloseTo(90 + 25.57, 1);
    expect((field?.y ?? 0) + (field?.height ?? 0)).toBeCloseTo(780 - 400 + 2, 0);
    const pieces = proposed(await pageWith([{ text: "Sign: {{text:Buyer}} please", x: 100, y: 400, pieces: 3 }]));
    // pdf-lib measures with kerning and draws without.
    const width = expect.closeTo(field?.width ?? 0, -1);
    expect(pieces).toEqual({
      ...whole,
      data: [{ source: "tag", field: { ...field, width, x: expect.closeTo(field?.x ?? 0, -1) } }],
    });
  });

  test.each([90, 180, 270] as const)(
    "on a page turned by %i degrees, with text that is upright on it",
    async (rotate) => {
      const { data } = proposed(
        await pageWith([{ text: "{{checkbox:Buyer}}{{date:Buyer}}", x: 300, y: 400, turn: rotate }], rotate),
      );
      const at = { 90: [380, 290], 180: [290, 380], 270: [380, 290] }[rotate];
      expect(data.map(({ field }) => field.type).toSorted()).toEqual(["checkbox", "date"]);
      const box = data.find(({ field }) => field.type === "checkbox")?.field;
      expect(box?.width).toBeCloseTo(box?.height ?? 0, 1);
      expect(box?.x).toBeCloseTo(at[0] ?? 0, 1);
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeCloseTo((at[1] ?? 0) + 2.1, 0);
    },
  );
});
