import "../server/node-version.ts";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { type Locales, openLocales } from "../locales/read.ts";
import { faultsOf } from "../locales/shape.ts";
import { messagesIn, type Words } from "../locales/translate.ts";

/**
 * `npm run language-check`, which is part of `npm run check`: every language has the messages of English and no others, each is
 * well-formed, has the same placeholders and the plural forms of its language; and every message is asked for somewhere.
 */

const root = path.resolve(import.meta.dirname, "..");

/** Messages that are asked for in another way than by their keys: by catalogue, with the reason. */
const askedForOtherwise: Readonly<Record<string, { keys: RegExp; reason: string }>> = {
  problems: {
    keys: /./,
    reason: "a problem is found by its English sentence; test/contract/problem-words.test.ts knows them all",
  },
};

/** What is wrong with the translations, each on a line. */
export function translationFaults({ languages, files }: Locales): string[] {
  const english = files("en");
  return languages.flatMap((language) => {
    const own = files(language);
    const extra = Object.keys(own).filter((name) => !Object.hasOwn(english, name));
    return [
      ...extra.map((name) => `${language}/${name}.json: there is no such catalogue in English`),
      ...Object.entries(english).flatMap(([name, words]) =>
        own[name] === undefined
          ? [`${language}/${name}.json is missing`]
          : catalogueFaults(own[name], words, language).map((fault) => `${language}/${name}.json: ${fault}`),
      ),
    ];
  });
}

function catalogueFaults(own: Words, english: Words, language: string): string[] {
  const [texts, originals] = [messagesIn(own), messagesIn(english)];
  return [
    ...[...originals.keys()].filter((key) => !texts.has(key)).map((key) => `${key} is missing`),
    ...[...texts].flatMap(([key, text]) => {
      const original = originals.get(key);
      if (original === undefined) return [`${key}: English has no such message`];
      return faultsOf(text, original, language).map((fault) => `${key} ${fault}`);
    }),
  ];
}

/** A source file of the program. */
type Source = { file: string; text: string };

/** Messages that no source asks for, each on a line. */
export function unusedMessages(english: Readonly<Record<string, Words>>, sources: readonly Source[]): string[] {
  return Object.entries(english).flatMap(([name, words]) => {
    const text = sourcesOf(name, sources)
      .map((source) => source.text)
      .join("\n");
    if (text === "") return [`en/${name}.json: no source asks for this catalogue`];
    const starts = [...text.matchAll(/`([\w.-]*\w[\w.-]*)\$\{/g)].flatMap(([, start]) => start ?? []);
    const ends = [...text.matchAll(/`\$\{[^`{}]+\}((?:\.[\w-]+)+)`/g)].flatMap(([, end]) => end ?? []);
    const isAsked = (key: string): boolean =>
      text.includes(`"${key}"`) ||
      text.includes(`\`${key}\``) ||
      // `role.${role}` asks for each role.…, and `aside.point${n}` for each of the points.
      starts.some((start) => start.includes(".") && key.startsWith(start) && key.length > start.length) ||
      ends.some((end) => key.endsWith(end)) ||
      (askedForOtherwise[name]?.keys.test(key) ?? false);
    return [...messagesIn(words).keys()]
      .filter((key) => !isAsked(key))
      .map((key) => `en/${name}.json: nobody asks for ${key}`);
  });
}

/** The program is in parts: one that names a catalogue may speak from it anywhere, and so may what all pages share. */
function sourcesOf(catalogue: string, sources: readonly Source[]): Source[] {
  const names = new RegExp(`/en/${catalogue}\\.json"|"${catalogue}"`);
  const parts = new Set(sources.filter(({ text }) => names.test(text)).map(({ file }) => partOf(file)));
  return sources.filter(
    ({ file }) => parts.has(partOf(file)) || (parts.has("apps/shared") && file.startsWith("apps/")),
  );
}

const partOf = (file: string): string => /^(apps\/[^/]+|[^/]+)\//.exec(file)?.[1] ?? "";

function programSources(): Source[] {
  return ["apps", "server", "workers", "scripts"].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(tsx?|html|typ)$/.test(name))
      .map((name) => ({ file: `${folder}/${name}`, text: readFileSync(path.join(root, folder, name), "utf8") })),
  );
}

if (import.meta.main) {
  const locales = openLocales();
  const faults = [...translationFaults(locales), ...unusedMessages(locales.files("en"), programSources())];
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
  else console.log(`${locales.languages.join(", ")}: every message is there and asked for`);
}
