import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { quickStartCommands, quickStartPackages } from "../../scripts/quick-start.ts";
import { withSettingsTable } from "../../scripts/settings-table.ts";
import { commandNames } from "../../server/commands/list.ts";
import { describeSettings } from "../../server/config.ts";

/** The README and the documents: their links lead somewhere, and what they name is there. */

const root = path.resolve(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(path.join(root, file), "utf8");
const readme = read("README.md");
const guides = ["README.md", ...globSync("docs/*.md", { cwd: root })];
const documents = [...guides, ...globSync("{docs/decisions,installer,installer/update}/*.md", { cwd: root })];

const fences = /^```.*\n[\s\S]*?^```/gm;
const spans = /`[^`\n]+`/g;
const prose = (text: string) => text.replaceAll(fences, "").replaceAll(spans, "");
/** What stands in code spans and blocks, each for itself. */
const code = (text: string) => [
  ...(text.match(fences) ?? []),
  ...(text.replaceAll(fences, "").match(spans) ?? []).map((span) => span.slice(1, -1)),
];

/** The anchors of a document, as GitHub makes them of its headings. */
function anchorsOf(file: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of read(file)
    .replaceAll(fences, "")
    .matchAll(/^#+ (.+)$/gm)) {
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-");
    let anchor = slug;
    for (let again = 1; anchors.has(anchor); again += 1) anchor = `${slug}-${again}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Links of a document to files and headings of the repository, as paths from its root. */
function linksOf(file: string): { target: string; anchor: string | null }[] {
  return [...prose(read(file)).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [place = "", anchor = null] = link.split("#");
    const target = place === "" ? file : path.relative(root, path.resolve(root, path.dirname(file), place));
    return [{ target, anchor }];
  });
}

test("the README is short", () => {
  expect(statSync(path.join(root, "README.md")).size).toBeLessThanOrEqual(8192);
});

test("every link and anchor of a document resolves", () => {
  const dead: string[] = [];
  let count = 0;
  for (const file of documents)
    for (const { target, anchor } of linksOf(file)) {
      count += 1;
      const isThere = existsSync(path.join(root, target));
      if (!isThere || (anchor !== null && !anchorsOf(target).has(anchor)))
        dead.push(`${file}: ${target}${anchor === null ? "" : `#${anchor}`}`);
    }
  expect(dead).toEqual([]);
  expect(count).toBeGreaterThan(50);
});

test("the README links to every document", () => {
  const linked = new Set(linksOf("README.md").map(({ target }) => target));
  expect(guides.filter((file) => file !== "README.md" && !linked.has(file))).toEqual([]);
});

test("every path that the architecture names exists", () => {
  const named = code(read("docs/architecture.md")).filter((name) => /^[^/\s].*\//.test(name) && !/\s/.test(name));
  expect(named.filter((name) => !existsSync(path.join(root, name)))).toEqual([]);
  expect(named.length).toBeGreaterThan(80);
});

test("every npm script that a document names exists, and the table in the README leaves none of the tests out", () => {
  const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(read("package.json")));
  const unknown = documents.flatMap((file) =>
    [...read(file).matchAll(/\bnpm run(?: -\S+)* ([a-z][a-z:-]*)/g)]
      .map(([, name = ""]) => name)
      .filter((name) => !Object.hasOwn(scripts, name))
      .map((name) => `${file}: ${name}`),
  );
  expect(unknown).toEqual([]);
  const tests = Object.keys(scripts).filter((name) => name.startsWith("test:"));
  expect(tests.filter((name) => !readme.includes(`npm run ${name}`))).toEqual([]);
});

test("every command of signet that a guide names exists", () => {
  const known = new Set<string>([...commandNames, "help"]);
  const unknown = guides.flatMap((file) =>
    code(read(file)).flatMap((text) =>
      [...text.matchAll(/(?:^|[ (])signet (?:-- )?([a-z][a-z-]*)/gm)]
        .map(([, name = ""]) => name)
        .filter((name) => !known.has(name))
        .map((name) => `${file}: ${name}`),
    ),
  );
  expect(unknown).toEqual([]);
});

test("the table of settings is the schema's (node scripts/settings-table.ts writes it)", () => {
  const text = read("docs/settings.md");
  expect(text).toBe(withSettingsTable(text));
  expect(describeSettings().filter(({ variable }) => !text.includes(`| \`${variable}\` |`))).toEqual([]);
});

test("every setting that a guide names exists", () => {
  const others = ["SIGNET_FREEZE", "SIGNET_URL", "SIGNET_API_KEY"];
  const known = new Set([...describeSettings().map(({ variable }) => variable), ...others]);
  const unknown = guides.flatMap((file) =>
    [...read(file).matchAll(/\bSIGNET_[A-Z0-9_]+\b/g)].map(([name]) => name).filter((name) => !known.has(name)),
  );
  expect(unknown).toEqual([]);
});

test("the README names what CI runs, and what test:fresh repeats", () => {
  const calls = read(".ci/run").match(/^npm (run|test) .+$/gm) ?? [];
  expect(calls).toContain("npm test -- --complete");
  expect(calls.filter((call) => !readme.includes(call))).toEqual([]);
  expect(quickStartCommands(readme)).toEqual(["npm ci && npm start", "npm ci && npm test"]);
  expect(quickStartPackages(readme)).toEqual(["python3", "make", "g++"]);
});
