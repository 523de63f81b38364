import { readFileSync } from "node:fs";
import path from "node:path";

const table = path.resolve(import.meta.dirname, "../../apps/console/src/renderer/pages.ts");

/** The names of the console's pages in their order; the table itself is of React components, which only a bundler can load. */
export function pageNames(): string[] {
  const names = [...readFileSync(table, "utf8").matchAll(/\{ name: "([a-z-]+)"/g)].map(([, name]) => name ?? "");
  if (names.length === 0) throw new Error("no page was found in the table");
  return names;
}
