import { describe, expect, it } from "vitest";
import { AppError } from "../../server/kernel/errors.ts";
import { parseJson } from "../../server/kernel/json-body.ts";

const parse = (text: string) => parseJson(new TextEncoder().encode(text));

describe("JSON bodies", () => {
  it("refuses what no text may hold, however it is spelled", () => {
    for (const text of ['{"a":"\\ud83d"}', '{"a":["\\uDE00x"]}', '{"\\udc00":1}', '{"a":"\\u0000"}']) {
      expect(() => parse(text)).toThrow(AppError);
    }
  });

  it("takes pairs of surrogates and backslashes that only look like escapes", () => {
    expect(parse('{"a":"\\ud83d\\ude00"}')).toEqual({ a: "😀" });
    expect(parse('{"a":"x\\\\ud83d"}')).toEqual({ a: "x\\ud83d" });
  });
});
