import "../server/node-version.ts";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describeSettings } from "../server/config.ts";

const readme = path.resolve(import.meta.dirname, "../README.md");
const between = /(<!-- settings -->\n)[\s\S]*?(<!-- \/settings -->)/;

/** The README with its table of settings made anew from the schema in `server/config.ts`. */
export function withSettingsTable(text: string): string {
  const rows = describeSettings().map(
    ({ key, variable, fallback, meaning }) =>
      `| \`${variable}\` | \`${key}\` | ${fallback ? `\`${fallback}\`` : ""} | ${meaning} |`,
  );
  return text.replace(
    between,
    (_, open: string, close: string) =>
      `${open}| variable | in signet.json | default | meaning |\n|---|---|---|---|\n${rows.join("\n")}\n${close}`,
  );
}

if (import.meta.main) writeFileSync(readme, withSettingsTable(readFileSync(readme, "utf8")));
