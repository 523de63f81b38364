import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { buildApps } from "../../scripts/build-apps.ts";
import { builtApps } from "../../server/pages/assets.ts";

/** How much script a browser loads before a page of the dashboard works: compressed as the server sends it, everything counted. */

const limit = 250_000;
const assets = path.join(builtApps, "assets");

beforeAll(async () => await buildApps(), 120_000);

/** The page's own scripts, and every module that they import in turn; what is loaded on demand is not followed. */
function graphOf(entries: readonly string[]): Set<string> {
  const found = new Set<string>();
  const follow = (name: string) => {
    if (found.has(name)) return;
    found.add(name);
    const source = readFileSync(path.join(assets, name), "utf8");
    for (const [, imported] of source.matchAll(/(?:\bfrom|\bimport)\s*["']\.\/([^"']+\.js)["']/g)) {
      if (imported !== undefined) follow(imported);
    }
  };
  for (const entry of entries) follow(entry);
  return found;
}

function bytesOf(name: string): number {
  const compressed = readdirSync(assets).includes(`${name}.br`) ? `${name}.br` : name;
  return readFileSync(path.join(assets, compressed)).byteLength;
}

/** The chunk of a page, of which the name is its file's. */
function chunkOf(page: string): string {
  const chunk = readdirSync(assets).find((name) => name.startsWith(`${page}-`) && name.endsWith(".js"));
  if (chunk === undefined) throw new Error(`${page} is not a chunk of its own.`);
  return chunk;
}

function entries(app = "dashboard"): string[] {
  const html = readFileSync(path.join(builtApps, app, "index.html"), "utf8");
  return [...html.matchAll(/"\/assets\/([^"]+\.js)"/g)].flatMap(([, name]) => (name === undefined ? [] : [name]));
}

const sum = (names: Iterable<string>) => [...names].reduce((total, name) => total + bytesOf(name), 0);

test.each([
  ["/sign-in", ["SignInPage"]],
  ["/", ["Workspace", "WelcomePage"]],
  ["/envelopes", ["Workspace", "EnvelopesPage"]],
  ["/templates", ["Workspace", "TemplatesPage"]],
])("the first load of %s stays under the limit", (address, pages) => {
  const loaded = sum(graphOf([...entries(), ...pages.map(chunkOf)]));
  console.log(`${address}: ${(loaded / 1000).toFixed(1)} kB of script`);
  expect(loaded).toBeGreaterThan(50_000);
  expect(loaded).toBeLessThan(limit);
});

test.each(["sign", "verify", "view", "docs"])("%s loads nothing of the dashboard", (app) => {
  const graph = graphOf(entries(app));
  const loaded = sum(graph);
  console.log(`${app}: ${(loaded / 1000).toFixed(1)} kB of script in ${graph.size} files`);
  expect(loaded).toBeLessThan(175_000);
  const all = [...graph].map((name) => readFileSync(path.join(assets, name), "utf8")).join("\n");
  for (const mark of ["__TSR_", "signet.send."]) expect(all).not.toContain(mark);
});

test("the sign-in loads nothing of the workspace, and words of no language", () => {
  const graph = graphOf(entries());
  for (const page of ["Workspace", "EnvelopesPage", "SendPage", "TemplatePage"])
    expect(graph).not.toContain(chunkOf(page));
  const all = [...graph].map((name) => readFileSync(path.join(assets, name), "utf8")).join("\n");
  for (const language of ["en", "de"]) {
    const { skipToContent } = JSON.parse(readFileSync(path.join("locales", language, "common.json"), "utf8"));
    const { aside } = JSON.parse(readFileSync(path.join("locales", language, "access.json"), "utf8"));
    for (const words of [skipToContent, aside.claim]) {
      expect(words).toMatch(/\w+ \w+/);
      expect(all).not.toContain(words);
    }
  }
});
