import { expect, it } from "vitest";
import { allPages } from "../../apps/shared/api/pages.ts";

it("a list that is shown whole is asked for until no page is left", async () => {
  const asked: object[] = [];
  const pages = [
    { data: [1, 2], nextCursor: "b" },
    { data: [3], nextCursor: "c" },
    { data: [], nextCursor: null },
  ];
  const all = await allPages(async (query) => {
    asked.push(query);
    return pages[asked.length - 1] ?? { data: [0], nextCursor: null };
  });
  expect(all).toEqual([1, 2, 3]);
  expect(asked).toEqual([{ limit: "100" }, { limit: "100", cursor: "b" }, { limit: "100", cursor: "c" }]);
});
