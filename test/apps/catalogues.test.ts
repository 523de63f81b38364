import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";

/** The words of the pages: every language says the same things, with the same blanks, and nothing is said that nobody asks for. */

const apps = path.resolve(import.meta.dirname, "../../apps");
const folder = path.join(apps, "shared/catalogue");

type Words = Map<string, string>;

function flat(value: unknown, prefix = ""): [string, string][] {
  if (typeof value === "string") return [[prefix, value]];
  if (typeof value !== "object" || value === null) throw new Error(`${prefix} is neither text nor a group`);
  return Object.entries(value).flatMap(([name, inner]) => flat(inner, prefix === "" ? name : `${prefix}.${name}`));
}

const read = (language: string, file: string): Words =>
  new Map(flat(JSON.parse(readFileSync(path.join(folder, language, file), "utf8"))));
const blanks = (text: string) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name).sort();
/** A key without its plural form: languages differ in how many they have. */
const stem = (key: string) => key.replace(/_(zero|one|two|few|many|other)$/, "");

const others = readdirSync(folder).filter((language) => language !== "en");
const pairs = others.flatMap((language) =>
  readdirSync(path.join(folder, language)).map((file): [string, string] => [language, file]),
);

describe("catalogues", () => {
  test.each(pairs)("%s/%s says what the English one says", (language, file) => {
    const english = read("en", file);
    const words = read(language, file);
    expect([...new Set([...words.keys()].map(stem))].sort()).toEqual(
      [...new Set([...english.keys()].map(stem))].sort(),
    );
    for (const [key, text] of words) {
      const original = english.get(key) ?? english.get(`${stem(key)}_other`) ?? "";
      expect(text.trim(), key).not.toBe("");
      // "one" may say the number in words.
      const [own, given] = [blanks(text), blanks(original)];
      if (/_one$/.test(key)) expect([...own, "count"]).toEqual(expect.arrayContaining(given));
      else expect(own, key).toEqual(given);
    }
  });

  test.each(pairs)("%s/%s has the plural forms of its language", (language, file) => {
    const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
    const words = read(language, file);
    for (const key of words.keys()) {
      if (stem(key) === key) continue;
      for (const form of forms) expect([...words.keys()], `${stem(key)}_${form}`).toContain(`${stem(key)}_${form}`);
    }
  });

  test.each(readdirSync(path.join(folder, "en")))("en/%s has no empty words", (file) => {
    for (const [key, text] of read("en", file)) expect(text.trim(), key).not.toBe("");
  });

  // That every key in the code exists is checked by the compiler, through the types of i18n.ts.
  test.each(readdirSync(path.join(folder, "en")))("every word of en/%s is asked for somewhere", (file) => {
    const unused = [...new Set([...read("en", file).keys()].map(stem))].filter((key) => !isUsed(key));
    expect(unused).toEqual([]);
  });
});

const sources = readdirSync(apps, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => readFileSync(path.join(apps, name), "utf8"))
  .join("\n");

/** Literally, or as one of those that a template literal makes: `role.${role}` asks for each role.… */
function isUsed(key: string): boolean {
  if (sources.includes(`"${key}"`)) return true;
  const parts = key.split(".");
  // `${kind}.text`: the group is computed.
  if (parts.length > 1 && sources.includes(`}.${parts.slice(1).join(".")}\``)) return true;
  const computed = parts.map((_, at) => parts.slice(0, at).join(".")).filter((start) => start !== "");
  if (computed.some((start) => sources.includes(`\`${start}.\${`))) return true;
  // `aside.point${n}`: within the last part.
  const last = parts.at(-1) ?? "";
  const before = key.slice(0, key.length - last.length);
  return Array.from({ length: last.length }, (_, at) => before + last.slice(0, at)).some(
    (start) => start.length > before.length && sources.includes(`\`${start}\${`),
  );
}
