import fc from "fast-check";
import { expect, test } from "vitest";
import { type FieldInput, isField, SaveTemplateDraft } from "../../../server/features/templates/contract.ts";
import { fieldDrawings, staticDrawings } from "../../../server/features/templates/drawings.ts";
import { publishErrors } from "../../../server/features/templates/publish-checks.ts";
import {
  checkFieldInput,
  checkVariables,
  computeFormulas,
  requiredErrors,
  visibleFields,
} from "../../../server/features/templates/values.ts";
import { canonicalize } from "../../../server/kernel/canonical.ts";

/** Drafts that have the right form and are often wrong otherwise: few names, so that references meet and collide. */
const id = fc.constantFrom("a", "b", "c-d", "c", "d", "e1");
const role = fc.constantFrom("signer", "second", "ghost");
const variable = fc.constantFrom("company", "amount", "start", "nobody");
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const small = fc.integer({ min: -3, max: 12 });
const day = fc.constantFrom("2026-01-01", "2026-02-28", "2027-12-31");
const format = fc.constantFrom("long", "iso", "DD.MM.YYYY", "dd", "currency:EUR:2", "MMM");
const box = {
  page: fc.constantFrom(1, 1, 1, 2, 3),
  x: fc.constantFrom(0, 10, 590),
  y: fc.constantFrom(0, 10, 900),
  width: fc.constantFrom(5, 100),
  height: fc.constantFrom(0.5, 20),
};
const text = fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom("abc", "12", "", "ß😀"));
/** Saving a draft refuses one of which nothing can be seen. */
const label = text.filter((of) => of.trim() !== "" || of === "");
const input: fc.Arbitrary<FieldInput> = fc.oneof(text, small, fc.boolean(), fc.constant(null), day);
const field = {
  id,
  role,
  required: optional(fc.boolean()),
  label: optional(label),
  visibleWhen: fc.option(fc.record({ field: id, in: fc.array(input, { minLength: 1, maxLength: 2 }) }), {
    nil: undefined,
    freq: 4,
  }),
  ...box,
};
const expression = fc.oneof(
  fc.tuple(id, fc.constantFrom("+", "-", "*", "/"), id).map((parts) => parts.join(" ")),
  fc.tuple(id, small).map(([of, digits]) => `round(${of}, ${digits})`),
  fc.string({ minLength: 1, maxLength: 12 }),
);
const pattern = fc.constantFrom("\\d+", "[a-z]*", "(a", "a{2}", "(?=x)", "\\p{L}+");
const option = fc.record({ value: fc.constantFrom("x", "y"), label: optional(label) });
const item = fc.oneof(
  fc.record({
    id,
    type: fc.constant("text"),
    text: variable.map((name) => `{{${name}}}!`),
    group: optional(id),
    ...box,
  }),
  fc.record({ id, type: fc.constant("whiteout"), group: optional(id), ...box }),
  fc.record({ ...field, type: fc.constantFrom("signature", "initials", "full_name", "email", "attachment", "image") }),
  fc.record({ ...field, type: fc.constant("date_signed"), format: optional(format) }),
  fc.record({ ...field, type: fc.constantFrom("company", "phone"), default: optional(text) }),
  fc.record({ ...field, type: fc.constant("formula"), expression, decimals: optional(fc.nat(4)) }),
  fc.record({
    ...field,
    type: fc.constant("text_input"),
    multiline: optional(fc.boolean()),
    cells: optional(fc.integer({ min: 2, max: 4 })),
    minLength: optional(fc.nat(4)),
    maxLength: optional(fc.integer({ min: 1, max: 4 })),
    pattern: optional(pattern),
    default: optional(text),
  }),
  fc.record({
    ...field,
    type: fc.constant("number"),
    min: optional(small),
    max: optional(small),
    decimals: optional(fc.nat(3)),
    default: optional(small),
  }),
  fc.record({
    ...field,
    type: fc.constant("date"),
    min: optional(day),
    default: optional(day),
    format: optional(format),
  }),
  fc.record({ ...field, type: fc.constant("checkbox"), default: optional(fc.boolean()) }),
  fc.record({
    ...field,
    type: fc.constantFrom("radio", "dropdown"),
    options: fc.array(option, { minLength: 1, maxLength: 2 }),
    default: optional(fc.constantFrom("x", "y", "z")),
  }),
);
const draft = fc.record({
  content: fc.record({
    mode: fc.constant("overlay"),
    file: fc.constant("tfl_x"),
    items: fc.array(item, { maxLength: 6 }),
  }),
  roles: fc.array(fc.record({ name: fc.constantFrom("signer", "second") }), { maxLength: 2 }),
  variables: fc.array(
    fc.record({
      name: fc.constantFrom("company", "amount", "start"),
      type: fc.constantFrom("text", "number", "date", "boolean", "list"),
      format: optional(format),
      default: optional(fc.oneof(text, small, day)),
    }),
    { maxLength: 3 },
  ),
});
const settings = {
  locale: "en",
  expiresInDays: null,
  reminders: null,
  allowDecline: true,
  allowReassign: false,
  signatureMethods: ["draw" as const],
  consentText: null,
};
const pages = [1, 2].map((page) => ({ page, width: 595, height: 842, rotation: 0 as const }));

test("whatever may be published can be filled in, computed and drawn without an error", () => {
  let published = 0;
  fc.assert(
    fc.property(draft, fc.dictionary(id, input), (given, values) => {
      const saved = SaveTemplateDraft.parse(JSON.parse(JSON.stringify(given)));
      const { content } = saved;
      if (content.mode !== "overlay") throw new Error("not an overlay");
      const errors = publishErrors({ ...saved, settings }, pages);
      for (const error of errors) expect(error.detail).toMatch(/\S.*\.$/);
      if (errors.length > 0) return;
      published += 1;
      const fields = content.items.filter(isField);
      const variables = checkVariables(saved.variables, {}, "#/variables");
      const entered = Object.fromEntries(
        Object.entries(values).filter(([name, value]) => {
          const of = fields.find((candidate) => candidate.id === name);
          return of !== undefined && checkFieldInput(of, value, "#").length === 0;
        }),
      );
      const shown = visibleFields(fields, entered);
      for (const of of shown) requiredErrors(of, entered[of.id], "#");
      const drawings = [
        ...staticDrawings(content, saved.variables, variables.values, "en", "label"),
        ...fieldDrawings(
          shown,
          { ...entered, ...computeFormulas(fields, entered) },
          { locale: "en", placeholders: true },
        ),
      ];
      for (const drawing of drawings) {
        expect(pages.some(({ page }) => page === drawing.page)).toBe(true);
        if (drawing.kind === "text") expect(drawing.text.trim()).not.toBe("");
      }
      canonicalize(JSON.parse(JSON.stringify(saved)));
    }),
    { numRuns: 3000 },
  );
  // The generator must reach versions that pass, or the property says nothing.
  expect(published).toBeGreaterThan(30);
});
