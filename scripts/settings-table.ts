import "../server/node-version.ts";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describeSettings } from "../server/config.ts";

const settings = path.resolve(import.meta.dirname, "../docs/settings.md");
const between = /(<!-- settings -->\n)[\s\S]*?(<!-- \/settings -->)/;

/** The text of `docs/settings.md` with its table made anew from the schema in `server/config.ts`. */
export function withSettingsTable(text: string): string {
  const rows = describeSettings().map(
    ({ key, variable, fallback, meaning }) =>
      `| \`${variable}\` | \`${key}\` | ${fallback ? `\`${fallback}\`` : ""} | ${meaning} |`,
  );
  return text.replace(
    between,
    (_, open: string, close: string) =>
      `${open}| Variable | In signet.json | Default | Meaning |\n|---|---|---|---|\n${rows.join("\n")}\n${close}`,
  );
}

if (import.meta.main) writeFileSync(settings, withSettingsTable(readFileSync(settings, "utf8")));
