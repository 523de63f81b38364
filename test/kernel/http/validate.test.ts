import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { AppError } from "../../../server/kernel/errors.ts";
import { type ProblemError, pointer } from "../../../server/kernel/problem.ts";
import { parseBody, parseParameters } from "../../../server/kernel/validate.ts";
import { Metadata, pageQuery, QueryBoolean } from "../../../server/kernel/wire.ts";

const errorsOf = (run: () => unknown): ProblemError[] => {
  try {
    run();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "validation-failed") throw error;
    return error.options.errors ?? [];
  }
  return [];
};
const bodyErrors = (schema: z.ZodType, text: string) =>
  errorsOf(() => parseBody(schema, JSON.parse(text), Buffer.from(text))).map((error) =>
    "pointer" in error ? `${error.pointer} ${error.code}` : "?",
  );

/** Any mixture of right and wrong members; what each wrong one must be reported as. */
const Person = z.strictObject({
  name: z.string().min(1).max(5),
  age: z.int().min(0).max(9),
  kind: z.enum(["a", "b"]),
  tags: z.array(z.string().max(3)),
});
const Body = z.strictObject({ title: z.string(), people: z.array(Person), notes: z.record(z.string(), z.string()) });

type Part = { json: string; errors: string[] };
const part = (json: string, ...errors: string[]): Part => ({ json, errors });
const oneOf = (...parts: Part[]) => fc.constantFrom(...parts);
const scalars = {
  name: oneOf(part('"ok"'), part('""', " min"), part('"toolong"', " max"), part("7", " type"), part("null", " type")),
  age: oneOf(part("3"), part("-1", " min"), part("10", " max"), part('"x"', " type"), part("1.5", " type")),
  kind: oneOf(part('"a"'), part('"z"', " enum"), part("1", " enum")),
  title: oneOf(part('"t"'), part("{}", " type")),
};
const listOf = (entry: fc.Arbitrary<Part>): fc.Arbitrary<Part> =>
  fc.array(entry, { maxLength: 4 }).map((entries) => ({
    json: `[${entries.map(({ json }) => json).join(",")}]`,
    errors: entries.flatMap(({ errors }, index) => errors.map((error) => `/${index}${error}`)),
  }));
const tags = listOf(oneOf(part('"x"'), part('"long"', " max"), part("false", " type")));
const unknownKey = fc.constantFrom("extra", "7", "0", "a/b", "m~n", "ü", "__proto__", "constructor", " ", "");

/** Members in random order, some left out, some that nobody knows. */
function objectOf(members: Record<string, fc.Arbitrary<Part>>, open = false): fc.Arbitrary<Part> {
  const names = Object.keys(members);
  const chosen = fc.record({
    order: fc.shuffledSubarray(names, { minLength: Math.max(0, names.length - 1) }),
    unknown: fc.uniqueArray(unknownKey, { maxLength: open ? 0 : 3 }),
    at: fc.array(fc.nat(6), { minLength: 3, maxLength: 3 }),
    values: fc.record(members),
  });
  return chosen.map(({ order, unknown, at, values }) => {
    const keys = [...order];
    for (const [i, key] of unknown.entries()) keys.splice(Math.min(at[i] ?? 0, keys.length), 0, key);
    const written = keys.map((key) => {
      const value = names.includes(key) ? values[key] : undefined;
      if (value) return { key, json: value.json, errors: value.errors };
      return { key, json: "1", errors: [" unknown"] };
    });
    const missing = names.filter((name) => !order.includes(name));
    return {
      json: `{${written.map(({ key, json }) => `${JSON.stringify(key)}:${json}`).join(",")}}`,
      errors: [
        ...written.flatMap(({ key, errors }) => errors.map((error) => `${pointer([key]).slice(1)}${error}`)),
        ...missing.map((name) => `/${name} required`),
      ],
    };
  });
}
const person = objectOf({ name: scalars.name, age: scalars.age, kind: scalars.kind, tags });
const notes = fc
  .uniqueArray(fc.tuple(fc.constantFrom("a", "10", "2", "b", "1"), fc.boolean()), { selector: ([key]) => key })
  .map((entries) => ({
    json: `{${entries.map(([key, right]) => `"${key}":${right ? '"x"' : "1"}`).join(",")}}`,
    errors: entries.flatMap(([key, right]) => (right ? [] : [`/${key} type`])),
  }));
const body = objectOf({ title: scalars.title, people: listOf(person), notes });

describe("validation errors", () => {
  it("are all there, in the order of the document, whatever is wrong where", () => {
    fc.assert(
      fc.property(body, ({ json, errors }) => {
        expect(bodyErrors(Body, json)).toEqual(errors.slice(0, 50).map((error) => `#${error}`));
      }),
      { numRuns: 400 },
    );
  });

  it("escape what a pointer escapes", () => {
    expect(pointer(["a/b", "m~n", "~1", "ü x", "%", 0])).toBe("#/a~1b/m~0n/~01/%C3%BC%20x/%25/0");
    expect(pointer([])).toBe("#");
    expect(pointer([""])).toBe("#/");
  });

  it("are at most 50, and a body of nothing but unknown members is answered in no time", () => {
    const text = JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i])));
    const started = performance.now();
    const errors = bodyErrors(Body, text);
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(errors).toHaveLength(50);
    expect(errors[49]).toBe("#/k49 unknown");
  });

  it("name the whole body when it is missing or of another kind", () => {
    expect(
      errorsOf(() => parseBody(Body, undefined)).map((error) => [error.code, "pointer" in error && error.pointer]),
    ).toEqual([["required", "#"]]);
    for (const text of ["[]", "1", "null", '"x"']) expect(bodyErrors(Body, text)).toEqual(["# type"]);
  });

  it("name the key of a record, the discriminator of a union, its unknown values", () => {
    expect(bodyErrors(Metadata, '{"good":"x","bad key":"y"}')).toEqual(["#/bad%20key pattern"]);
    const Union = z.discriminatedUnion("type", [
      z.strictObject({ type: z.literal("a"), x: z.number() }),
      z.strictObject({ type: z.literal("b") }),
    ]);
    expect(bodyErrors(z.array(Union), '[{"type":"a"},{"type":"c"},{},3,{"type":"b","x":1}]')).toEqual([
      "#/0/x required",
      "#/1/type enum",
      "#/2/type required",
      "#/3 type",
      "#/4/x unknown",
    ]);
  });

  it("name parameters, a doubled one too", () => {
    const Query = z.strictObject({ ...pageQuery, dry_run: QueryBoolean.optional() });
    const places = (value: Record<string, unknown>) =>
      errorsOf(() => parseParameters(Query, value)).map((error) =>
        "parameter" in error ? [error.parameter, error.code] : [],
      );
    expect(places({ limit: "0" })).toEqual([["limit", "min"]]);
    expect(places({ limit: "101" })).toEqual([["limit", "max"]]);
    expect(places({ limit: "1e1" })).toEqual([["limit", "pattern"]]);
    expect(places({ dry_run: "yes", nope: "1", limit: ["1", "2"] })).toEqual([
      ["dry_run", "enum"],
      ["nope", "unknown"],
      ["limit", "type"],
    ]);
    expect(parseParameters(Query, { dry_run: "1" })).toEqual({ limit: 20, dry_run: true });
    expect(parseParameters(Query, { dry_run: "false", limit: "100" })).toEqual({ limit: 100, dry_run: false });
  });
});
