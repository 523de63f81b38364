import { describe, expect, it } from "vitest";
import { AppError } from "../../../server/kernel/errors.ts";
import { parseJson } from "../../../server/kernel/json-body.ts";

const parse = (text: string | Uint8Array) => parseJson(typeof text === "string" ? Buffer.from(text) : text);
const codeOf = (text: string | Uint8Array) => {
  try {
    return { value: parse(text) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.code;
  }
};

describe("JSON bodies", () => {
  it("are read as RFC 8259 says, the last of doubled members counts", () => {
    expect(parse('{"a":[1,2.5e3,true,null,"\\u00e9\\ud83d\\ude00"]}')).toEqual({ a: [1, 2500, true, null, "é😀"] });
    expect(parse('{"a":1,"b":2,"a":3}')).toEqual({ a: 3, b: 2 });
    expect(parse(" \n\t[] \r")).toEqual([]);
  });

  it("are refused when they are no JSON, no UTF-8 or hold what no text may hold", () => {
    const bad = ["", " ", "{", "{'a':1}", '{"a":1,}', "[1,]", "nul", "NaN", "01", '"\t"', "{}{}", "[1]]", "\u0000"];
    for (const text of bad) expect(codeOf(text), text).toBe("malformed-request");
    for (const bytes of [
      [0x22, 0xff, 0x22],
      [0x22, 0xc0, 0x80, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
      [0x22, 0xe2, 0x82],
    ])
      expect(codeOf(Uint8Array.from(bytes))).toBe("malformed-request");
    for (const text of ['"\\ud800"', '{"\\udfff":1}', '["a\\u0000b"]', '{"a":{"\\u0000":1}}'])
      expect(codeOf(text), text).toBe("malformed-request");
  });

  it("may be nested 64 levels deep, brackets in strings aside, and a million brackets cost nothing", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect(codeOf(nested(64))).toEqual({ value: expect.anything() });
    expect(codeOf(nested(65))).toBe("malformed-request");
    expect(codeOf(`${'{"a":'.repeat(65)}1${"}".repeat(65)}`)).toBe("malformed-request");
    expect(codeOf(JSON.stringify('[{"\\'.repeat(100)))).toEqual({ value: expect.anything() });
    const started = performance.now();
    expect(codeOf("[".repeat(1_000_000))).toBe("malformed-request");
    expect(performance.now() - started).toBeLessThan(30_000);
  });

  it("keep __proto__ as a member like any other", () => {
    const value = parse('{"__proto__":{"admin":true}}');
    expect(Object.keys(value as object)).toEqual(["__proto__"]);
    expect(({} as Record<string, unknown>).admin).toBeUndefined();
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });
});
