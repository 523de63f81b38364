import { expect, test } from "vitest";
import { openWords } from "../../server/pages/words.ts";

test("words that could not be prepared are prepared again when they are asked for the next time, and then kept", async () => {
  let turns = 0;
  const words = {
    get title(): string {
      turns += 1;
      if (turns === 1) throw new RangeError("no memory");
      return "Title";
    },
  };
  const { read } = openWords({
    languages: ["en"],
    catalogues: ["view"],
    words: () => words,
    files: () => ({}),
    version: () => "1",
  });
  await expect(read("en", "view")).rejects.toThrow("no memory");
  const served = await read("en", "view");
  expect(Buffer.from(served?.json ?? []).toString()).toBe('{"title":"Title"}');
  expect(await read("en", "view")).toBe(served);
  expect(turns).toBe(2);
});
