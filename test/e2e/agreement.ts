import { PDFDocument, type PDFPage, rgb, StandardFonts } from "pdf-lib";
import { z } from "zod";
import type { TestAppliance } from "../harness/appliance.ts";

/** A rental agreement with a form in it, as a customer would send it to two people. */

const Id = z.object({ id: z.string() });
const height = 842;
const left = 70;

const clauses = [
  "1. The landlord lets to the tenant the flat on the second floor of Lindenhof 4, with three rooms, kitchen, bathroom and a cellar.",
  "2. The tenancy begins on the day named above and runs for an indefinite time. It may be ended by either side with three months' notice to the end of a month.",
  "3. The rent is due on the first day of each month, or for a whole year in advance, as chosen above.",
  "4. The tenant has received the house rules and keeps to them. Small repairs are made by the tenant, all others by the landlord.",
  "5. Changes of this agreement need the signature of both.",
];

export async function agreementPdf(): Promise<Uint8Array> {
  const pdf = await PDFDocument.create();
  pdf.setTitle("Rental agreement");
  const serif = await pdf.embedFont(StandardFonts.TimesRoman);
  const bold = await pdf.embedFont(StandardFonts.TimesRomanBold);
  const ink = rgb(0.1, 0.14, 0.14);
  const write = (page: PDFPage, text: string, x: number, y: number, size = 11, font = serif) =>
    page.drawText(text, {
      x,
      y: height - y,
      size,
      font,
      color: ink,
      maxWidth: 595 - left - x,
      lineHeight: size * 1.45,
    });
  const line = (page: PDFPage, x: number, y: number, width: number) =>
    page.drawLine({ start: { x, y: height - y }, end: { x: x + width, y: height - y }, thickness: 0.6, color: ink });

  const first = pdf.addPage([595, height]);
  write(first, "Rental agreement", left, 100, 24, bold);
  write(first, "between Lindenhof Estates, 4 Lindenhof, as landlord, and as tenant", left, 128);
  for (const [label, y] of [
    ["Name", 168],
    ["Company", 202],
    ["Street and number", 236],
    ["Postcode", 270],
  ] as const) {
    write(first, label, left, y);
    line(first, 190, y + 4, 290);
  }
  write(first, "Begin of the tenancy", left, 304);
  write(first, "Country", 340, 304);
  write(first, "The rent is paid", left, 338);
  write(first, "every month", 210, 338);
  write(first, "once a year", 310, 338);
  write(first, "Months", left, 372);
  write(first, "Rent a month", 250, 372);
  write(first, "Together", 400, 372);
  write(first, "I have received the house rules.", 92, 406);
  let y = 450;
  for (const clause of clauses) {
    write(first, clause, left, y);
    y += clause.length > 110 ? 46 : 30;
  }

  const second = pdf.addPage([595, height]);
  write(second, "Remarks", left, 100);
  write(second, "Copy of an identity card", left, 200);
  write(second, "Signatures", left, 270, 16, bold);
  write(second, "Tenant", left, 380);
  line(second, left, 366, 200);
  write(second, "Date", left, 400);
  write(second, "Landlord", 325, 380);
  line(second, 325, 366, 200);
  write(second, "Date", 325, 400);
  return await pdf.save();
}

const box = (page: number, x: number, y: number, width: number, boxHeight = 20) => ({
  page,
  x,
  y,
  width,
  height: boxHeight,
});

const items = [
  { id: "name", role: "Tenant", type: "full_name", ...box(1, 192, 152, 280) },
  { id: "company", role: "Tenant", type: "company", label: "Company", required: false, ...box(1, 192, 186, 280) },
  { id: "street", role: "Tenant", type: "text_input", label: "Street and number", ...box(1, 192, 220, 280) },
  {
    id: "postcode",
    role: "Tenant",
    type: "text_input",
    label: "Postcode",
    cells: 5,
    pattern: "[0-9]{5}",
    patternMessage: "A postcode has five digits.",
    ...box(1, 192, 254, 110),
  },
  { id: "begin", role: "Tenant", type: "date", label: "Begin of the tenancy", ...box(1, 192, 288, 110) },
  {
    id: "country",
    role: "Tenant",
    type: "dropdown",
    label: "Country",
    options: [
      { value: "CH", label: "Switzerland" },
      { value: "DE", label: "Germany" },
      { value: "AT", label: "Austria" },
    ],
    ...box(1, 390, 288, 120),
  },
  {
    id: "payment",
    role: "Tenant",
    type: "radio",
    label: "The rent is paid",
    options: [
      { value: "month", label: "every month", box: box(1, 192, 327, 13, 13) },
      { value: "year", label: "once a year", box: box(1, 292, 327, 13, 13) },
    ],
    ...box(1, 192, 327, 113, 13),
  },
  { id: "months", role: "Tenant", type: "number", label: "Months", decimals: 0, min: 1, ...box(1, 192, 357, 46) },
  {
    id: "rent",
    role: "Tenant",
    type: "number",
    label: "Rent a month",
    default: 1450,
    readOnly: true,
    ...box(1, 325, 357, 60),
  },
  { id: "total", role: "Tenant", type: "formula", expression: "months * rent", decimals: 2, ...box(1, 448, 357, 80) },
  {
    id: "rules",
    role: "Tenant",
    type: "checkbox",
    label: "I have received the house rules",
    ...box(1, left, 395, 14, 14),
  },
  {
    id: "remarks",
    role: "Tenant",
    type: "text_input",
    label: "Remarks",
    multiline: true,
    required: false,
    ...box(2, 192, 86, 330, 70),
  },
  {
    id: "card",
    role: "Tenant",
    type: "attachment",
    label: "Copy of an identity card",
    required: false,
    ...box(2, 240, 184, 180, 26),
  },
  { id: "tenant-initials", role: "Tenant", type: "initials", label: "Initials", ...box(1, 480, 760, 60, 34) },
  {
    id: "tenant-signature",
    role: "Tenant",
    type: "signature",
    label: "Signature of the tenant",
    ...box(2, left, 316, 200, 48),
  },
  { id: "tenant-date", role: "Tenant", type: "date_signed", ...box(2, 110, 386, 160) },
  {
    id: "landlord-signature",
    role: "Landlord",
    type: "signature",
    label: "Signature of the landlord",
    ...box(2, 325, 316, 200, 48),
  },
  { id: "landlord-date", role: "Landlord", type: "date_signed", ...box(2, 365, 386, 160) },
];

async function call(app: TestAppliance, status: number, path: string, options: Parameters<TestAppliance["call"]>[1]) {
  const reply = await app.json(path, options);
  if (reply.status !== status) throw new Error(`${path} answered ${reply.status}: ${JSON.stringify(reply.body)}`);
  return reply.body;
}

/** Publishes the agreement as a template. @returns its id */
export async function publishAgreement(app: TestAppliance): Promise<string> {
  const template = Id.parse(await call(app, 201, "/v1/templates", { json: { name: "Rental agreement" } })).id;
  const file = await call(app, 201, `/v1/templates/${template}/files`, {
    body: Buffer.from(await agreementPdf()),
    headers: { "content-type": "application/pdf" },
  });
  await call(app, 200, `/v1/templates/${template}/draft`, {
    method: "PUT",
    json: {
      content: { mode: "overlay", file: Id.parse(file).id, items },
      roles: [
        { name: "Tenant", order: 1, verification: "email_otp" },
        { name: "Landlord", order: 2, verification: "email_otp" },
      ],
      variables: [],
    },
  });
  await call(app, 201, `/v1/templates/${template}/publish`, { method: "POST" });
  return template;
}

export const ada = { role: "Tenant", name: "Ada Lovelace", email: "ada@example.com" };
export const mary = { role: "Landlord", name: "Mary Somerville", email: "mary@example.com" };

/** Sends the agreement to both. @returns the envelope's id */
export async function sendAgreement(
  app: TestAppliance,
  template: string,
  key: "live" | "test" = "live",
): Promise<string> {
  const sent = await call(app, 201, "/v1/envelopes", {
    key,
    json: {
      template,
      title: "Rental agreement, Lindenhof 4",
      message: "Dear Ada,\nhere is the agreement we spoke about. Please sign it by Friday.",
      recipients: [ada, mary],
    },
  });
  await app.jobs.idle();
  return Id.parse(sent).id;
}

/** The newest mail of this kind to the address, which must be there. */
async function newestMail(app: TestAppliance, kind: string, email: string) {
  const mails = (await app.mail()).filter((mail) => mail.kind === kind && mail.to.email === email);
  const newest = mails.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt)).at(-1);
  if (!newest) throw new Error(`no ${kind} for ${email}`);
  return newest;
}

/** The link in the newest signing request to the address. */
export async function linkFor(app: TestAppliance, email: string): Promise<string> {
  const { link } = await newestMail(app, "signing_request", email);
  if (!link) throw new Error(`no link for ${email}`);
  return link;
}

/** The newest code sent to the address. */
export async function codeFor(app: TestAppliance, email: string): Promise<string> {
  const { code } = await newestMail(app, "code", email);
  if (!code) throw new Error(`no code for ${email}`);
  return code;
}

/** An agreement with narrow fields for texts, which people may pass on. @returns the template's id */
export async function publishNarrow(app: TestAppliance): Promise<string> {
  const { id } = Id.parse(await call(app, 201, "/v1/templates", { json: { name: "Short agreement" } }));
  const file = await call(app, 201, `/v1/templates/${id}/files`, {
    body: Buffer.from(await agreementPdf()),
    headers: { "content-type": "application/pdf" },
  });
  const role = "Tenant";
  const text = { role, type: "text_input", required: false };
  await call(app, 200, `/v1/templates/${id}/draft`, {
    method: "PUT",
    json: {
      content: {
        mode: "overlay",
        file: Id.parse(file).id,
        items: [
          { ...text, id: "note", label: "Note", ...box(1, 192, 220, 150) },
          // An id like any other, although every object has such a member.
          { ...text, id: "constructor", label: "Remarks", multiline: true, ...box(1, 70, 430, 200, 60) },
          { id: "name", role, type: "full_name", ...box(1, 192, 186, 60) },
          { id: "sign", role, type: "signature", label: "Signature of the tenant", ...box(2, 70, 316, 200, 48) },
        ],
      },
      roles: [{ name: role, order: 1, verification: "email_otp" }],
      variables: [],
      settings: { allowReassign: true },
    },
  });
  await call(app, 201, `/v1/templates/${id}/publish`, { method: "POST" });
  return id;
}
