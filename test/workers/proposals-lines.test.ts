import { PDFDocument, type PDFFont, type PDFPage, rgb, StandardFonts } from "pdf-lib";
import { describe, expect, test } from "vitest";
import { partyOfLabel, typeOfLabel } from "../../workers/proposals/labels.ts";
import { propose } from "../../workers/proposals/propose.ts";
import type { ProposedField } from "../../workers/protocol.ts";

/** Pages as people draw them, with the list of what is to be filled in on each; made by hand. */

type Sheet = {
  text: (text: string, x: number, y: number, size?: number) => number;
  rule: (x0: number, x1: number, y: number) => void;
  frame: (x: number, y: number, width: number, height: number) => void;
  symbol: (text: string, x: number, y: number) => void;
};
/** `type` and the beginning of the label of each field, in reading order. */
type Expected = [type: string, label: string];
type Page = { name: string; draw: (sheet: Sheet) => void; fields: Expected[] };

const table = ({ text, rule, frame }: Sheet, x: number, y: number, filled: boolean): void => {
  for (let row = 0; row < 4; row++)
    for (let column = 0; column < 3; column++) {
      frame(x + 120 * column, y - 22 * row, 120, 22);
      if (filled || row === 0 || column === 0)
        text(["Item", "Amount", "Total"][column] ?? "", x + 4 + 120 * column, y - 22 * row + 7);
    }
  for (let row = 0; row < 4; row++) {
    rule(x, x + 360, y - 120 - 20 * row);
    text("12 pieces of something", x + 4, y - 115 - 20 * row);
    text("99.00", x + 300, y - 115 - 20 * row);
  }
};

const pages: Page[] = [
  {
    name: "a contract's signature blocks",
    draw({ text, rule }) {
      text("IN WITNESS WHEREOF the parties have signed this agreement.", 60, 760);
      rule(60, 260, 680);
      rule(320, 520, 680);
      text("Signature of Landlord", 60, 668, 8);
      text("Signature of Tenant", 320, 668, 8);
      rule(60, 260, 620);
      rule(320, 520, 620);
      text("Name", 60, 608, 8);
      text("Name", 320, 608, 8);
      rule(60, 160, 560);
      rule(320, 420, 560);
      text("Date", 60, 548, 8);
      text("Date", 320, 548, 8);
    },
    fields: [
      ["signature", "Signature of Landlord"],
      ["signature", "Signature of Tenant"],
      ["full_name", "Name"],
      ["full_name", "Name"],
      ["date_signed", "Date"],
      ["date_signed", "Date"],
    ],
  },
  {
    name: "underscores in sentences and behind labels",
    draw({ text }) {
      text("This lease is made on _______________ between ____________________ (the Landlord)", 60, 760);
      text("and ____________________ (the Tenant), for a monthly rent of $ __________.", 60, 740);
      text("Name: ______________________________   Date of birth: ______________", 60, 690);
      text("E-mail: ____________________  Phone: ___________________", 60, 665);
      text("Company: ______________________________", 60, 640);
      text("Initials: ________", 60, 615);
      text("Remarks: ____________________________________________________", 60, 580);
      text("____________________________________________________________", 62, 562);
      text("X ______________________________", 60, 500);
    },
    fields: [
      ["text_input", "This lease"],
      ["text_input", "between"],
      ["text_input", "and"],
      ["text_input", "for a monthly"],
      ["full_name", "Name"],
      ["date", "Date of birth"],
      ["email", "E-mail"],
      ["phone", "Phone"],
      ["company", "Company"],
      ["initials", "Initials"],
      ["text_input", "Remarks"],
      ["signature", "X"],
    ],
  },
  {
    name: "ein deutsches Formular",
    draw({ text, rule }) {
      text("Antrag auf Mitgliedschaft", 60, 770, 16);
      text("Name, Vorname: .............................................", 60, 720);
      text("Geburtsdatum: ..............................", 60, 695);
      text("Telefonnummer: ..............................", 60, 670);
      text("E-Mail-Adresse: ..............................", 60, 645);
      text("Firma: ..............................", 60, 620);
      rule(60, 240, 520);
      text("Ort, Datum", 60, 508, 8);
      rule(300, 520, 520);
      text("Unterschrift des Antragstellers", 300, 508, 8);
    },
    fields: [
      ["full_name", "Name, Vorname"],
      ["date", "Geburtsdatum"],
      ["phone", "Telefonnummer"],
      ["email", "E-Mail-Adresse"],
      ["company", "Firma"],
      ["text_input", "Ort, Datum"],
      ["signature", "Unterschrift"],
    ],
  },
  {
    name: "boxes, combs and squares to tick",
    draw({ text, frame, symbol }) {
      text("Full name", 60, 752, 9);
      frame(60, 722, 250, 24);
      text("Comments", 60, 702, 9);
      frame(60, 620, 400, 76);
      text("IBAN", 60, 596, 9);
      for (let cell = 0; cell < 12; cell++) frame(60 + 16 * cell, 570, 16, 20);
      for (const [index, answer] of ["Yes", "No", "Not yet"].entries()) {
        frame(60 + 100 * index, 530, 10, 10);
        text(answer, 76 + 100 * index, 531);
      }
      symbol("o", 60, 500);
      text("I agree to the terms", 78, 500);
      text("[ ] Send me news", 60, 480);
      text("Customer number:", 60, 440);
      frame(160, 432, 150, 22);
      frame(60, 380, 200, 34);
      text("Tax identification number", 63, 405, 7);
      text("Signature", 60, 352, 9);
      frame(60, 300, 220, 46);
    },
    fields: [
      ["full_name", "Full name"],
      ["text_input", "Comments"],
      ["text_input", "IBAN"],
      ["checkbox", "Yes"],
      ["checkbox", "No"],
      ["checkbox", "Not yet"],
      ["checkbox", "I agree"],
      ["checkbox", "Send me news"],
      ["text_input", "Customer number"],
      ["text_input", "Tax identification"],
      ["signature", "Signature"],
    ],
  },
  {
    name: "labels on and above their rules",
    draw({ text, rule }) {
      text("Street:", 60, 721);
      rule(60, 300, 719);
      text("Printed name:", 60, 690);
      rule(60, 300, 662);
      text("Signed by:", 60, 630);
      rule(60, 300, 600);
      text("City", 60, 571);
      rule(90, 300, 569);
      text("Telephone", 60, 541);
      rule(120, 300, 539);
    },
    fields: [
      ["text_input", "Street"],
      ["full_name", "Printed name"],
      ["signature", "Signed by"],
      ["text_input", "City"],
      ["phone", "Telephone"],
    ],
  },
  {
    name: "tables, headings and other decoration",
    draw(sheet) {
      const { text, rule, frame } = sheet;
      text("ACME Ltd - confidential", 60, 810, 8);
      rule(60, 540, 804);
      text("1. Definitions", 60, 770, 13);
      rule(60, 540, 764);
      const width = text("An underlined phrase", 60, 740);
      rule(60, 60 + width, 738);
      text("stands in this paragraph, which goes on for a line", 66 + width, 740);
      text("and ends here.", 60, 726);
      table(sheet, 60, 680, true);
      frame(60, 380, 480, 60);
      text("A note in a frame that says something important", 70, 415);
      text("and needs a second line for it.", 70, 401);
      text("Contents", 60, 350);
      text("Chapter one ............................................ 3", 60, 330);
      text("Chapter two ............................................ 17", 60, 315);
      frame(60, 140, 300, 120);
      text("as the following figure shows in more detail:", 60, 280);
      text("Figure", 180, 200);
      rule(60, 200, 80);
      text("1 A footnote below a short line.", 60, 68, 7);
      rule(60, 540, 40);
      text("Page 1 of 3", 280, 28, 8);
    },
    fields: [],
  },
  {
    name: "an empty table",
    draw(sheet) {
      table(sheet, 60, 700, false);
    },
    fields: [],
  },
];

async function pdfOf(page: Page): Promise<Uint8Array> {
  const doc = await PDFDocument.create();
  const font = await doc.embedFont(StandardFonts.Helvetica);
  const symbols = await doc.embedFont(StandardFonts.ZapfDingbats);
  page.draw(sheetOn(doc.addPage([600, 842]), font, symbols));
  return await doc.save();
}

function sheetOn(page: PDFPage, font: PDFFont, symbols: PDFFont): Sheet {
  const color = rgb(0, 0, 0);
  return {
    text(text, x, y, size = 10) {
      page.drawText(text, { x, y, size, font });
      return font.widthOfTextAtSize(text, size);
    },
    rule: (x0, x1, y) => page.drawLine({ start: { x: x0, y }, end: { x: x1, y }, thickness: 0.7, color }),
    frame: (x, y, width, height) => page.drawRectangle({ x, y, width, height, borderColor: color, borderWidth: 0.7 }),
    symbol: (text, x, y) => page.drawText(text === "o" ? "\u274f" : text, { x, y, size: 11, font: symbols }),
  };
}

function linesOf(pdf: Uint8Array): { fields: ProposedField[]; roles: string[] } {
  const found = propose({ pdf, limit: 500 });
  if (!found.ok) throw new Error(found.error.message);
  expect(found.value.data.every(({ source }) => source === "line")).toBe(true);
  return { fields: found.value.data.map(({ field }) => field), roles: found.value.roles };
}

/** Those of the list that were found in its order, and what else was. */
function compared(fields: readonly ProposedField[], expected: readonly Expected[]) {
  const rest = [...fields];
  const missed = expected.filter(([type, label]) => {
    const at = rest.findIndex((field) => field.type === type && (field.label ?? "").includes(label));
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
  return { missed, wrong: rest.map(({ type, label }) => [type, label]) };
}

describe("lines and boxes", () => {
  test.each(pages.map((page) => [page.name, page] as const))("%s", async (_name, page) => {
    const { fields } = linesOf(await pdfOf(page));
    expect(compared(fields, page.fields)).toEqual({ missed: [], wrong: [] });
  });

  test("parties that several signatures name become roles, with what stands by each", async () => {
    const [contract] = pages;
    const { fields, roles } = linesOf(await pdfOf(contract as Page));
    expect(roles).toEqual(["Landlord", "Tenant"]);
    for (const field of fields) expect(field.role).toBe(field.x < 300 ? "Landlord" : "Tenant");
  });

  test("boxes lie above their rule, and signatures have room", async () => {
    const { fields } = linesOf(await pdfOf(pages[0] as Page));
    const [signature, , name] = fields;
    expect(signature).toMatchObject({ x: 60, width: 200 });
    expect(signature?.height).toBeGreaterThan(20);
    expect((signature?.y ?? 0) + (signature?.height ?? 0)).toBeCloseTo(842 - 680.5, 0);
    expect(name?.height).toBeLessThanOrEqual(16);
  });

  test("a comb has its cells, a large box several lines, and lines that go on are one field", async () => {
    const boxes = linesOf(await pdfOf(pages[3] as Page)).fields;
    expect(boxes.find(({ label }) => label === "IBAN")).toMatchObject({ cells: 12, width: 192 });
    expect(boxes.find(({ label }) => label === "Comments")).toMatchObject({ multiline: true });
    const sentences = linesOf(await pdfOf(pages[1] as Page)).fields;
    expect(sentences.find(({ label }) => label === "Remarks")).toMatchObject({
      multiline: true,
      height: expect.closeTo(32, -1),
    });
  });
});

test.each([
  ["Signature of applicant:", "signature"],
  ["Unterschrift Mieter", "signature"],
  ["Date (MM/DD/YYYY)", "date"],
  ["Geburtsdatum", "date"],
  ["3. Telephone No.", "phone"],
  ["Name of company", "company"],
  ["Print name", "full_name"],
  ["Name of child", null],
  ["Update", null],
  ["", null],
])("the label %j means %s", (label, type) => expect(typeOfLabel(label)).toBe(type));

test("a party is named by one word of the list", () => {
  expect(partyOfLabel("Landlord's signature")).toBe("Landlord");
  expect(partyOfLabel("Unterschrift Käufer")).toBe("Käufer");
  expect(partyOfLabel("Signature of Landlord or Tenant")).toBeNull();
  expect(partyOfLabel("Signature")).toBeNull();
});
