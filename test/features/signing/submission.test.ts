import { afterAll, describe, expect, test } from "vitest";
import type { SubmitSigning } from "../../../server/features/signing/contract.ts";
import { checkPicture } from "../../../server/features/signing/pictures.ts";
import { dayIn, readSubmission, type SubmissionContext } from "../../../server/features/signing/submission.ts";
import type { AttachmentRow } from "../../../server/features/signing/tables.ts";
import type { Field, PlacedField } from "../../../server/features/templates/contract.ts";
import { openPool } from "../../../server/kernel/pool.ts";
import { png } from "../../harness/pictures.ts";

const pool = openPool({ threads: 1 });
afterAll(() => pool.close());

const box = { page: 1, x: 10, y: 10, width: 100, height: 20 };
const field = (definition: Field): PlacedField => ({ ...definition, ...box });
const image = `data:image/png;base64,${png(200, 60).toString("base64")}`;

const fields: PlacedField[] = [
  field({ id: "other", role: "Landlord", type: "number" }),
  field({ id: "kind", role: "Tenant", type: "radio", options: [{ value: "private" }, { value: "firm" }] }),
  field({
    id: "firm",
    role: "Tenant",
    type: "company",
    visibleWhen: { field: "kind", in: ["firm"] },
  }),
  field({ id: "note", role: "Tenant", type: "text_input", required: false, maxLength: 10 }),
  field({ id: "agree", role: "Tenant", type: "checkbox" }),
  field({ id: "rent", role: "Tenant", type: "number", readOnly: true }),
  field({ id: "months", role: "Tenant", type: "number", decimals: 0, default: 12 }),
  field({ id: "total", role: "Tenant", type: "formula", expression: "rent * months + other", decimals: 2 }),
  field({ id: "name", role: "Tenant", type: "full_name" }),
  field({ id: "day", role: "Tenant", type: "date_signed" }),
  field({ id: "id-card", role: "Tenant", type: "attachment", required: false, maxFiles: 2 }),
  field({ id: "sign/1", role: "Tenant", type: "signature" }),
];

const upload = (id: string, of = "id-card"): AttachmentRow => ({
  id,
  envelope: "env_1",
  recipient: "rcp_1",
  field: of,
  filename: "card.png",
  content_type: "image/png",
  size: 3,
  sha256: "a".repeat(64),
  created_at: "2026-11-21T09:00:00.000Z",
  submitted_at: null,
});

const context: SubmissionContext = {
  fields,
  recipient: { role: "Tenant", name: "Ada Muster", email: "ada@example.com" },
  prefilled: { rent: 1850.5 },
  attachments: [upload("att_1"), upload("att_2"), upload("att_3"), upload("att_4", "elsewhere")],
  methods: ["draw", "type"],
  readPicture: (picture, limit) => checkPicture({ pool }, picture, limit),
};
const signedAt = "2026-11-21T23:30:00.000Z";
const input: SubmitSigning = {
  documentSha256: "0".repeat(64),
  fields: { kind: "private", agree: true },
  signature: { method: "draw", image },
  consent: { accepted: true, version: "1", locale: "en" },
};

async function errorsOf(change: Partial<SubmitSigning>, of: Partial<SubmissionContext> = {}) {
  const read = await readSubmission({ ...context, ...of }, { ...input, ...change });
  return "errors" in read ? read.errors.map((error) => ("pointer" in error ? [error.pointer, error.code] : [])) : [];
}
async function valuesOf(change: Partial<SubmitSigning>) {
  const read = await readSubmission(context, { ...input, ...change });
  if ("errors" in read) throw new Error(JSON.stringify(read.errors));
  return read.submission.valuesAt(signedAt, { other: 0.25 });
}

describe("what is kept", () => {
  test("defaults, read-only values and what the service fills in; formulas over other people's numbers", async () => {
    expect(await valuesOf({ timeZone: "Asia/Tokyo" })).toEqual({
      kind: "private",
      agree: true,
      rent: 1850.5,
      months: 12,
      total: 22206.25,
      name: "Ada Muster",
      day: "2026-11-22",
      "sign/1": { method: "draw", signedAt },
    });
  });

  test("hidden fields are neither required nor kept", async () => {
    expect(await valuesOf({ fields: { ...input.fields, firm: "Muster AG" } })).not.toHaveProperty("firm");
    expect(await errorsOf({ fields: { kind: "firm", agree: true } })).toEqual([["#/fields/firm", "required"]]);
    expect(await valuesOf({ fields: { kind: "firm", firm: "Muster AG", agree: true } })).toMatchObject({
      firm: "Muster AG",
    });
  });

  test("files of the field, by their ids", async () => {
    const values = await valuesOf({ fields: { ...input.fields, "id-card": ["att_2", "att_1"] } });
    expect(values["id-card"]).toMatchObject([{ id: "att_2" }, { id: "att_1", contentType: "image/png" }]);
  });

  test.each(["", "  ", "\u200b", "\u3164"])("a text of which nothing can be seen is no value: %j", async (blank) => {
    expect(await valuesOf({ fields: { ...input.fields, note: blank } })).not.toHaveProperty("note");
    const firm = { kind: "firm", firm: blank, agree: true };
    expect(await errorsOf({ fields: firm })).toEqual([["#/fields/firm", "required"]]);
  });
});

describe("what is refused", () => {
  test.each<[string, Partial<SubmitSigning>, string[][]]>([
    ["an unknown field", { fields: { ...input.fields, "a/b~c": 1 } }, [["#/fields/a~1b~0c", "unknown"]]],
    ["somebody else's field", { fields: { ...input.fields, other: 1 } }, [["#/fields/other", "unknown"]]],
    ["a changed read-only value", { fields: { ...input.fields, rent: 1 } }, [["#/fields/rent", "conflict"]]],
    ["a formula's result", { fields: { ...input.fields, total: 1 } }, [["#/fields/total", "conflict"]]],
    ["a name of one's own", { fields: { ...input.fields, name: "Eve" } }, [["#/fields/name", "conflict"]]],
    ["a signature among the fields", { fields: { ...input.fields, "sign/1": "x" } }, [["#/fields/sign~11", "unknown"]]],
    ["an option that is not offered", { fields: { ...input.fields, kind: "x" } }, [["#/fields/kind", "enum"]]],
    ["a value of another type", { fields: { ...input.fields, months: "12" } }, [["#/fields/months", "type"]]],
    ["a box that is not ticked", { fields: { kind: "private", agree: false } }, [["#/fields/agree", "required"]]],
    ["a box with a text", { fields: { kind: "private", agree: "yes" } }, [["#/fields/agree", "type"]]],
    ["a required value taken away", { fields: { ...input.fields, months: null } }, [["#/fields/months", "required"]]],
    ["ids where a value belongs", { fields: { ...input.fields, note: ["att_1"] } }, [["#/fields/note", "type"]]],
    ["a value where ids belong", { fields: { ...input.fields, "id-card": "att_1" } }, [["#/fields/id-card", "type"]]],
    [
      "too many files",
      { fields: { ...input.fields, "id-card": ["att_1", "att_2", "att_3"] } },
      [["#/fields/id-card", "max"]],
    ],
    [
      "one file twice",
      { fields: { ...input.fields, "id-card": ["att_1", "att_1"] } },
      [["#/fields/id-card", "duplicate"]],
    ],
    [
      "a file of another field",
      { fields: { ...input.fields, "id-card": ["att_4"] } },
      [["#/fields/id-card", "reference"]],
    ],
    ["an unknown time zone", { timeZone: "Mars/Olympus" }, [["#/timeZone", "reference"]]],
    ["a method that is not offered", { signature: { method: "upload", image } }, [["#/signature/method", "enum"]]],
    [
      "a picture that is none",
      { signature: { method: "draw", image: "data:image/png;base64,AAAA" } },
      [["#/signature/image", "format"]],
    ],
    [
      "a picture that is too wide",
      { signature: { method: "draw", image: `data:image/png;base64,${png(2001, 2).toString("base64")}` } },
      [["#/signature/image", "max"]],
    ],
  ])("%s", async (_name, change, errors) => {
    expect(await errorsOf(change)).toEqual(errors);
  });

  test("a missing signature", async () => {
    const { signature: _none, ...rest } = input;
    const read = await readSubmission(context, rest);
    expect(read).toMatchObject({ errors: [{ pointer: "#/signature", code: "required" }] });
  });

  test("everything at once, none stops the others", async () => {
    expect(
      await errorsOf({ fields: { nobody: 1, note: "longer than ten", agree: false }, timeZone: "x" }),
    ).toHaveLength(5);
  });
});

test("the day that it is where the signer is", () => {
  expect(dayIn("UTC", "2026-11-21T23:30:00.000Z")).toBe("2026-11-21");
  expect(dayIn("Europe/Zurich", "2026-11-21T23:30:00.000Z")).toBe("2026-11-22");
  expect(dayIn("America/Los_Angeles", "2026-01-01T00:30:00.000Z")).toBe("2025-12-31");
  expect(dayIn("", "2026-11-21T23:30:00.000Z")).toBeUndefined();
});
