import { describe, expect, test } from "vitest";
import { ProblemResponse } from "../../apps/shared/api/client.ts";
import {
  type Answers,
  asked,
  initialAnswers,
  isFilled,
  mistakeIn,
  nextOpen,
  shownFields,
  submittedFields,
} from "../../apps/sign/src/features/document/fields.ts";
import { problemsOf } from "../../apps/sign/src/features/document/problems.ts";
import type { SigningField, SigningView } from "../../server/features/signing/contract.ts";
import { signatureFonts } from "../../server/features/signing/contract.ts";

const hash = "0".repeat(64);
const at = "2026-11-21T09:10:00.000Z";
const place = (y: number, page = 1) => [{ page, x: 60, y, width: 100, height: 20 }];
const common = { role: "Tenant", value: null, editable: true };

/** In the order of the template, which is not the order on the page. */
const fields: SigningField[] = [
  { ...common, id: "pets", type: "checkbox", required: false, boxes: place(300) },
  {
    ...common,
    id: "which",
    type: "text_input",
    maxLength: 5,
    visibleWhen: { field: "pets", in: [true] },
    boxes: place(320),
  },
  { ...common, id: "none", type: "text_input", visibleWhen: { field: "pets", in: [false] }, boxes: place(340) },
  { ...common, id: "city", type: "text_input", default: "Bern", boxes: place(100) },
  { ...common, id: "name", type: "full_name", editable: false, value: "Ada", boxes: place(80) },
  { ...common, id: "sign", type: "signature", boxes: place(100, 2) },
  { ...common, id: "card", type: "attachment", required: false, boxes: place(400) },
  { ...common, id: "theirs", role: "Landlord", type: "number", value: 3, editable: false, boxes: place(500) },
];

const view: SigningView = {
  state: "ready",
  envelope: { id: "env_1", title: "T", message: null, status: "sent", testMode: false, expiresAt: null, sealed: false },
  sender: { organization: "O", name: null, logoUrl: null },
  recipient: {
    id: "rcp_1",
    role: "Tenant",
    name: "Ada",
    email: "ada@example.com",
    status: "viewed",
    kind: "signer",
    locale: "en",
    order: 1,
  },
  parties: [],
  otp: { required: false, verified: true, channel: null, destination: null, sent: null },
  document: null,
  fields,
  signature: { methods: ["type"], fonts: [...signatureFonts] },
  attachments: [
    {
      id: "att_1",
      field: "card",
      filename: "c.pdf",
      contentType: "application/pdf",
      size: 1,
      sha256: hash,
      createdAt: at,
    },
  ],
  consent: { version: "1", locale: "en", text: "", textSha256: hash, english: { text: "", textSha256: hash } },
  allowDecline: true,
  allowReassign: false,
  redirectUrl: null,
  accessTokenExpiresAt: at,
};

const ids = (list: readonly SigningField[]) => list.map(({ id }) => id);
const withValues = (values: Answers["values"]): Answers => {
  const answers = initialAnswers(view);
  return { ...answers, values: { ...answers.values, ...values } };
};

describe("what the signer fills in", () => {
  test("starts from defaults, unticked boxes and earlier uploads", () => {
    expect(initialAnswers(view).values).toEqual({ pets: false, city: "Bern", name: "Ada", card: ["att_1"] });
  });

  test("shows own fields in reading order, and those whose condition is met", () => {
    expect(ids(shownFields(view, initialAnswers(view)))).toEqual(["name", "city", "pets", "none", "card", "sign"]);
    expect(ids(shownFields(view, withValues({ pets: true })))).toContain("which");
  });

  test("leads to the next open field and starts again from the top", () => {
    const answers = withValues({ pets: true });
    const shown = shownFields(view, answers);
    expect(ids(asked(shown))).not.toContain("name");
    expect(nextOpen(shown, answers, null)?.id).toBe("which");
    expect(nextOpen(shown, answers, "which")?.id).toBe("sign");
    expect(nextOpen(shown, answers, "sign")?.id).toBe("which");
  });

  test("counts a wrong value as open, in the words of the service", () => {
    const answers = withValues({ pets: true, which: "crocodile" });
    const field = shownFields(view, answers).find(({ id }) => id === "which");
    if (!field) throw new Error("the field is hidden");
    expect(mistakeIn(field, answers)).toBe("At most 5 characters.");
    expect(isFilled(field, answers)).toBe(false);
  });

  test("sends what is shown and filled in, and nothing that the service fills in", () => {
    const answers = withValues({ which: "hidden" });
    expect(submittedFields(shownFields(view, answers), answers)).toEqual({
      pets: false,
      city: "Bern",
      card: ["att_1"],
    });
  });
});

test("problems find their fields by pointer", () => {
  const problem = new ProblemResponse({
    type: "x",
    title: "Validation failed",
    status: 422,
    detail: "The request has invalid members.",
    code: "validation-failed",
    instance: "/v1/signing/submit",
    requestId: "req_1",
    errors: [
      { pointer: "#/fields/city", code: "max", detail: "Too long." },
      { pointer: "#/fields/a~1b%20c", code: "max", detail: "Escaped." },
      { pointer: "#/signature/image", code: "format", detail: "No PNG." },
      { parameter: "x", code: "type", detail: "Elsewhere." },
    ],
  });
  expect(problemsOf(problem)).toEqual({
    fields: { city: "Too long.", "a/b c": "Escaped." },
    signature: "No PNG.",
    initials: null,
  });
  expect(problemsOf(new Error("x")).fields).toEqual({});
});
