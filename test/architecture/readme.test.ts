import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { withSettingsTable } from "../../scripts/settings-table.ts";

test("the README's table of settings is the schema's (node scripts/settings-table.ts writes it)", () => {
  const readme = readFileSync("README.md", "utf8");
  expect(readme).toBe(withSettingsTable(readme));
});
