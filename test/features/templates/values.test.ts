import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Field, Variable } from "../../../server/features/templates/contract.ts";
import { dayOf, fillText, formatDay, formatVariable, isDateFormat } from "../../../server/features/templates/format.ts";
import {
  checkFieldInput,
  checkVariables,
  computeFormulas,
  isDay,
  requiredErrors,
  visibleFields,
} from "../../../server/features/templates/values.ts";

const field = (members: Record<string, unknown>): Field => Field.parse({ id: "f", role: "signer", ...members });
const variable = (members: Record<string, unknown>): Variable =>
  Variable.parse({ name: "v", type: "text", ...members });
const codes = (of: Field, value: string | number | boolean | null) =>
  checkFieldInput(of, value, "#/f").map((e) => e.code);

describe("field values", () => {
  test.each([
    [{ type: "text_input" }, "hello", []],
    [{ type: "text_input" }, 5, ["type"]],
    [{ type: "text_input" }, "two\nlines", ["format"]],
    [{ type: "text_input", multiline: true }, "two\nlines", []],
    [{ type: "text_input" }, "a\u0000b", ["format"]],
    [{ type: "text_input" }, "\ud800", ["format"]],
    [{ type: "text_input", maxLength: 2 }, "😀😀", []],
    [{ type: "text_input", maxLength: 2 }, "abc", ["max"]],
    [{ type: "text_input", minLength: 2 }, "a", ["min"]],
    [{ type: "text_input", minLength: 2 }, "", []],
    [{ type: "text_input", cells: 3 }, "abcd", ["max"]],
    [{ type: "text_input", pattern: "\\d+" }, "12", []],
    [{ type: "text_input", pattern: "\\d+" }, "12a", ["pattern"]],
    [{ type: "number", min: 1, max: 5 }, 3, []],
    [{ type: "number", min: 1 }, 0, ["min"]],
    [{ type: "number", max: 5 }, 6, ["max"]],
    [{ type: "number" }, "3", ["type"]],
    [{ type: "number", decimals: 2 }, 1.25, []],
    [{ type: "number", decimals: 2 }, 1.255, ["format"]],
    [{ type: "number", decimals: 0 }, 1.5, ["format"]],
    [{ type: "date" }, "2026-02-28", []],
    [{ type: "date" }, "2026-02-30", ["format"]],
    [{ type: "date", min: "2026-01-01" }, "2025-12-31", ["min"]],
    [{ type: "date", max: "2026-01-01" }, "2026-01-02", ["max"]],
    [{ type: "checkbox" }, true, []],
    [{ type: "checkbox" }, "true", ["type"]],
    [{ type: "radio", options: [{ value: "a" }] }, "a", []],
    [{ type: "radio", options: [{ value: "a" }] }, "b", ["enum"]],
    [{ type: "dropdown", options: [{ value: "a" }] }, 1, ["enum"]],
    [{ type: "phone" }, "+49 30 123456", []],
    [{ type: "phone" }, "call me", ["format"]],
    [{ type: "company" }, "Example Ltd", []],
    [{ type: "signature" }, "x", ["conflict"]],
    [{ type: "date_signed" }, "2026-01-01", ["conflict"]],
    [{ type: "formula", expression: "1" }, 1, ["conflict"]],
    [{ type: "full_name" }, "x", ["conflict"]],
  ])("%j takes %j: %j", (members, value, expected) => {
    expect(codes(field(members), value)).toEqual(expected);
  });

  test("required fields want something, a required box wants its tick", () => {
    expect(requiredErrors(field({ type: "text_input" }), "", "#/f")).toHaveLength(1);
    expect(requiredErrors(field({ type: "text_input", required: false }), null, "#/f")).toEqual([]);
    expect(requiredErrors(field({ type: "checkbox" }), false, "#/f")).toHaveLength(1);
    expect(requiredErrors(field({ type: "checkbox" }), true, "#/f")).toEqual([]);
    expect(requiredErrors(field({ type: "number" }), 0, "#/f")).toEqual([]);
  });

  test("a date is a date exactly when the calendar has it", () => {
    const days = fc.date({ min: new Date("0001-01-01"), max: new Date("9999-12-31"), noInvalidDate: true });
    fc.assert(fc.property(days, (date) => void expect(isDay(date.toISOString().slice(0, 10))).toBe(true)));
    for (const text of ["2026-13-01", "2026-00-10", "2026-1-1", "26-01-01", "2025-02-29", "", "x"]) {
      expect(isDay(text)).toBe(false);
    }
  });
});

describe("visibility", () => {
  const box = field({ id: "box", type: "checkbox" });
  const inner = field({ id: "inner", type: "text_input", visibleWhen: { field: "box", in: [true] } });
  const innermost = field({ id: "innermost", type: "number", visibleWhen: { field: "inner", in: ["yes"] } });
  const fields = [box, inner, innermost];
  const ids = (values: Record<string, unknown>) => visibleFields(fields, values).map(({ id }) => id);

  test("follows the field it hangs on, through hidden ones too", () => {
    expect(ids({ box: true, inner: "yes" })).toEqual(["box", "inner", "innermost"]);
    expect(ids({ box: true, inner: "no" })).toEqual(["box", "inner"]);
    expect(ids({ box: false, inner: "yes" })).toEqual(["box"]);
    expect(ids({})).toEqual(["box"]);
  });

  test("a field that hangs on itself or a later one is never shown", () => {
    const circle = [
      field({ id: "a", type: "checkbox", visibleWhen: { field: "b", in: [true] } }),
      field({ id: "b", type: "checkbox", visibleWhen: { field: "a", in: [true] } }),
    ];
    expect(visibleFields(circle, { a: true, b: true })).toEqual([]);
  });
});

test("formulas are computed from the number fields of all roles, rounded as they say", () => {
  const fields = [
    field({ id: "qty", type: "number" }),
    field({ id: "price", role: "other", type: "number" }),
    field({ id: "total", type: "formula", expression: "qty * price", decimals: 2 }),
  ];
  expect(computeFormulas(fields, { qty: 3, price: 1.335 })).toEqual({ total: 4.01 });
  expect(computeFormulas(fields, { qty: 3 })).toEqual({ total: null });
  expect(computeFormulas(fields, { qty: "3", price: 2 })).toEqual({ total: null });
});

test("a date that does not exist is told from what is no date", () => {
  const form = "Use a date of the form YYYY-MM-DD.";
  const missing = "This is not a date that exists.";
  const definitions = [
    variable({ name: "start", type: "date" }),
    variable({ name: "rows", type: "list", columns: [{ name: "on", type: "date" }] }),
  ];
  for (const [text, detail] of [
    ["soon", form],
    ["2027-2-3", form],
    ["2027-02-30", missing],
    ["2027-13-01", missing],
  ] as const) {
    const { errors } = checkVariables(definitions, { start: text, rows: [{ on: text }] }, "#/variables");
    const told = [...errors, ...checkFieldInput(field({ type: "date" }), text, "#")];
    expect(told.map((error) => [error.code, error.detail])).toEqual(Array(3).fill(["format", detail]));
  }
  expect(checkFieldInput(field({ type: "date" }), 5, "#").map((error) => error.detail)).toEqual([form]);
});

describe("variables", () => {
  test("are checked with pointers, filled with defaults, and unknown ones are named", () => {
    const definitions = [
      variable({ name: "company" }),
      variable({ name: "amount", type: "number", default: 5 }),
      variable({ name: "start", type: "date", required: false }),
      variable({ name: "rows", type: "list", required: false, columns: [{ name: "n", type: "number" }] }),
    ];
    expect(checkVariables(definitions, { company: "A", extra: 1 }, "#/variables")).toEqual({
      values: { company: "A", amount: 5 },
      errors: [],
      unused: ["extra"],
    });
    const wrong = checkVariables(definitions, { start: "soon", rows: [{ n: 1 }, { n: "x" }, { m: 1 }] }, "#/variables");
    expect(wrong.errors.map((error) => [Reflect.get(error, "pointer"), error.code])).toEqual([
      ["#/variables/start", "format"],
      ["#/variables/rows/1/n", "type"],
      ["#/variables/rows/2/m", "unknown"],
      ["#/variables/company", "required"],
    ]);
  });

  test("names of the prototype are no values", () => {
    const definitions = [variable({ name: "constructor" }), variable({ name: "toString", required: false })];
    expect(checkVariables(definitions, {}, "#").errors).toHaveLength(1);
    expect(fillText("{{toString}}|{{constructor}}", definitions, {}, "en")).toBe("|");
  });

  test("replace their marks, and what they hold is not read again", () => {
    const definitions = [
      variable({ name: "a" }),
      variable({ name: "b", label: "The b" }),
      variable({ name: "c", required: false }),
    ];
    const fill = (text: string, unfilled?: "label" | "mark") =>
      fillText(text, definitions, { a: "{{b}} $& $1" }, "en", unfilled);
    expect(fill("{{a}}/{{ b }}/{{c}}/{{nobody}}")).toBe("{{b}} $& $1///{{nobody}}");
    expect(fill("{{b}}/{{c}}", "label")).toBe("[The b]/");
    expect(fill("{{b}}/{{c}}", "mark")).toBe("{{b}}/{{c}}");
  });

  test("are written as their format says", () => {
    expect(formatVariable(variable({ type: "number", format: "currency:EUR:2" }), 1234.5, "en")).toBe("€1,234.50");
    expect(formatVariable(variable({ type: "number", format: "decimal:1" }), 1.25, "de")).toBe("1,3");
    expect(formatVariable(variable({ type: "date", format: "long" }), "2026-11-21", "en")).toBe("November 21, 2026");
    expect(formatVariable(variable({ type: "date", format: "iso" }), "2026-11-21", "en")).toBe("2026-11-21");
    expect(formatVariable(variable({ type: "boolean" }), true, "en")).toBe("Yes");
  });
});

test("dates follow their pattern, and the signer's own day", () => {
  expect(formatDay("2026-03-05", "DD.MM.YYYY", "de")).toBe("05.03.2026");
  expect(formatDay("2026-03-05", "D MMMM YYYY", "en")).toBe("5 March 2026");
  expect(formatDay("2026-03-05", "M/D/YY", "en")).toBe("3/5/26");
  expect(dayOf("2026-11-21T23:30:00.000Z", "Asia/Tokyo")).toBe("2026-11-22");
  expect(dayOf("2026-11-21T23:30:00.000Z", null)).toBe("2026-11-21");
  expect(dayOf("2026-11-21T23:30:00.000Z", "Not/AZone")).toBe("2026-11-21");
  expect(["long", "iso", "DD/MM/YYYY", "YYYY"].every(isDateFormat)).toBe(true);
  expect(["", "dd.mm", "hello", "YYYYY", "YYYY T"].some(isDateFormat)).toBe(false);
});
