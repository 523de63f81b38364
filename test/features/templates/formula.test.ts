import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  evaluateFormula,
  type Formula,
  FormulaError,
  fieldsOfFormula,
  parseFormula,
  roundHalfUp,
} from "../../../server/features/templates/formula.ts";

const ids = ["qty", "price", "net-total", "a", "a-b"];
const knows = (id: string) => ids.includes(id);
const calculate = (expression: string, values: Record<string, number | null> = {}) =>
  evaluateFormula(parseFormula(expression, knows), (id) => values[id] ?? null);

/** Writes a formula with every bracket, so that reading it back must give the same one. */
function written(node: Formula): string {
  switch (node.kind) {
    case "number":
      return String(node.value);
    case "field":
      return node.id;
    case "negate":
      return `-(${written(node.of)})`;
    case "binary":
      return `(${written(node.left)}) ${node.operator} (${written(node.right)})`;
    case "call":
      return `${node.name}(${node.arguments.map(written).join(", ")})`;
  }
}

const formulas = fc.letrec<{ node: Formula }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 5 },
    fc.nat(10_000).map((value): Formula => ({ kind: "number", value })),
    fc.constantFrom(...ids).map((id): Formula => ({ kind: "field", id })),
    tie("node").map((of): Formula => ({ kind: "negate", of })),
    fc
      .tuple(fc.constantFrom("+" as const, "-" as const, "*" as const, "/" as const), tie("node"), tie("node"))
      .map(([operator, left, right]): Formula => ({ kind: "binary", operator, left, right })),
    fc
      .tuple(
        fc.constantFrom("min" as const, "max" as const, "sum" as const),
        fc.array(tie("node"), { minLength: 1, maxLength: 3 }),
      )
      .map(([name, args]): Formula => ({ kind: "call", name, arguments: args })),
  ),
})).node;

describe("formulas", () => {
  test("reading what was written gives the same formula", () => {
    fc.assert(
      fc.property(formulas, (node) => {
        expect(parseFormula(written(node), knows)).toEqual(node);
      }),
    );
  });

  test("agree with JavaScript on arithmetic without brackets", () => {
    const term = fc.integer({ min: 1, max: 999 });
    const operators = fc.array(fc.tuple(fc.constantFrom("+", "-", "*"), term), { maxLength: 10 });
    fc.assert(
      fc.property(term, operators, (first, rest) => {
        const expression = `${first}${rest.map(([operator, value]) => ` ${operator} ${value}`).join("")}`;
        // Digits, spaces and + - * only: this is the judge, not the product.
        const expected: unknown = new Function(`return ${expression}`)();
        fc.pre(typeof expected === "number" && Math.abs(expected) < 1e14);
        expect(calculate(expression)).toBe(expected);
      }),
    );
  });

  test("any text is either a formula or refused with a sentence", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 100 }), (text) => {
        try {
          const result = calculate(text, { qty: 1, price: 2 });
          expect(result === null || Number.isFinite(result)).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(FormulaError);
        }
      }),
    );
  });

  test("know precedence, signs and functions", () => {
    expect(calculate("2 + 3 * 4")).toBe(14);
    expect(calculate("(2 + 3) * 4")).toBe(20);
    expect(calculate("10 - 4 - 3")).toBe(3);
    expect(calculate("-2 * -3")).toBe(6);
    expect(calculate("min(3, 1, 2) + max(4, 5)")).toBe(6);
    expect(calculate("round(qty * price, 2)", { qty: 3, price: 19.995 })).toBe(59.99);
    expect(calculate("0.1 + 0.2")).toBe(0.3);
  });

  test("a hyphen belongs to the id when there is such a field", () => {
    expect(fieldsOfFormula(parseFormula("net-total", knows))).toEqual(["net-total"]);
    expect(calculate("qty-price", { qty: 5, price: 3 })).toBe(2);
    expect(calculate("a-b-a", { a: 1, "a-b": 10 })).toBe(9);
  });

  test("are empty while an operand is, but min, max and sum leave it out", () => {
    expect(calculate("qty * price", { qty: 3 })).toBe(null);
    expect(calculate("sum(qty, price, 1)", { qty: 3 })).toBe(4);
    expect(calculate("max(qty, price)", {})).toBe(null);
    expect(calculate("1 / qty", { qty: 0 })).toBe(null);
  });

  test.each([
    "",
    "1 +",
    "(1",
    "1)",
    "1 2",
    "round(1, 2, 3)",
    "round(1, qty)",
    "round(1, 11)",
    "min()",
    "2 ** 3",
    "a.b",
    "1e5",
    "=1",
  ])("refuse %j", (expression) => {
    expect(() => parseFormula(expression, knows)).toThrow(FormulaError);
  });

  test("refuse deep nesting instead of exhausting the stack", () => {
    expect(() => parseFormula(`${"(".repeat(10_000)}1${")".repeat(10_000)}`, knows)).toThrow(/nested deeper/);
    expect(() => parseFormula(`${"-".repeat(10_000)}1`, knows)).toThrow(/nested deeper/);
  });
});

describe("rounding", () => {
  test("is that of the decimal a person reads", () => {
    expect(roundHalfUp(1.005, 2)).toBe(1.01);
    expect(roundHalfUp(-1.005, 2)).toBe(-1.01);
    expect(roundHalfUp(2.5, 0)).toBe(3);
    expect(roundHalfUp(1e-7, 2)).toBe(0);
    expect(roundHalfUp(1e21, 2)).toBe(1e21);
  });

  test("changes nothing that has few enough decimals, and is its own repeat", () => {
    const cents = fc.tuple(fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }), fc.integer({ min: 0, max: 4 }));
    fc.assert(
      fc.property(cents, ([units, decimals]) => {
        const value = Number(`${units}e-${decimals}`);
        expect(roundHalfUp(value, decimals)).toBe(value + 0);
      }),
    );
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e12, max: 1e12 }), (value) => {
        const once = roundHalfUp(value, 3);
        expect(roundHalfUp(once, 3)).toBe(once);
        expect(Math.abs(once - value)).toBeLessThanOrEqual(0.000_500_1 + Math.abs(value) * 1e-14);
      }),
    );
  });
});
