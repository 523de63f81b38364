import { expect, test } from "vitest";
import { type FindingCode, findingText, findingWords } from "../../../server/features/evidence/words.ts";

test("numbers and what is counted go together", () => {
  expect(findingText("path-fits", { index: 0, size: 1 })).toBe("The path leads from leaf 0 to the root over 1 leaf.");
  expect(findingText("path-fits", { index: 0, size: 2 })).toContain("over 2 leaves.");
  expect(findingText("audit-later", { count: 1 })).toBe(
    "1 more entry follows. Nothing proves it yet: do not rely on it.",
  );
  expect(findingText("audit-fits", { count: 1, fixed: 1 }, "de")).toContain("1 Eintrag, von dem das Blatt");
  expect(findingText("audit-fits", { count: 9, fixed: 8 }, "de")).toContain("9 Einträge, von denen das Blatt");
});

test("whatever stands behind a number is chosen, in each language", () => {
  for (const language of ["en", "de"] as const)
    for (const code of Object.keys(findingWords[language].findings) as FindingCode[])
      for (const number of [0, 1, 2])
        expect(findingText(code, { count: number, size: number }, language), code).not.toMatch(/[{|}]/);
});
