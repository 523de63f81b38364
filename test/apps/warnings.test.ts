import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { warningText } from "../../apps/dashboard/src/features/templates/warning-text.ts";
import { addWords, setLanguage } from "../../apps/shared/i18n.ts";
import { activeKinds } from "../../workers/pdf/active-content.ts";

/**
 * Each warning about a document is said in the reader's language. A code is any text to the types, so the codes are read from the
 * sources: whatever stands as `code` before a `message` in a file that makes warnings, and is none of a failure.
 */

const root = path.resolve(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(path.join(root, file), "utf8");
const makers = ["workers", "server/features/templates", "server/features/envelopes"]
  .flatMap((folder) => readdirSync(path.join(root, folder)).map((name) => `${folder}/${name}`))
  .filter((file) => file.endsWith(".ts") && /\bWarning\b/.test(read(file)));

/** Of `type …Code = "a" | "b"` in the workers' protocol. */
const failures = new Set(
  [...read("workers/protocol.ts").matchAll(/type \w+Code =([^;]*);/g)].flatMap(([, list = ""]) => texts(list)),
);

function texts(source: string): string[] {
  return [...source.matchAll(/"([a-z0-9-]+)"/g)].map(([, text = ""]) => text);
}

function codesIn(source: string): string[] {
  const literal = [...source.matchAll(/\bcode: ("[a-z0-9-]+"),\s+message\b/g)].flatMap(([, text = ""]) => texts(text));
  const named = [...source.matchAll(/\bcode: ([A-Z_]+),\s+message\b/g)].flatMap(([, name = ""]) =>
    texts(source.match(new RegExp(`const ${name} = (.*);`))?.[1] ?? ""),
  );
  // The typesetter's notes, by code.
  const notes = texts((source.match(/const NOTES[^{]*\{([^}]*)\}/)?.[1] ?? "").replaceAll(/: ".*"/g, ""));
  return [...literal, ...named, ...notes];
}

const emitted = new Set([
  ...makers.flatMap((file) => codesIn(read(file))).filter((code) => !failures.has(code)),
  ...activeKinds.flatMap((kind) => [kind, `${kind}-removed`]),
]);

test("the sources tell the codes in each of their ways", () => {
  // A literal, a constant, a note, one of the server's and one of a kind.
  for (const code of ["repaired", "missing-content", "text-clipped", "no-signature-field", "javascript-removed"])
    expect([...emitted]).toContain(code);
});

test.each(["en", "de"])("every warning of the service has words: %s", (language) => {
  const templates = JSON.parse(read(`locales/${language}/templates.json`));
  // Translations set the language of the page; there is none here.
  Object.assign(globalThis, { document: { documentElement: {} } });
  addWords(language, "templates", templates);
  setLanguage(language);
  const silent = [...emitted].filter((code) => warningText({ code, message: "?" }) !== templates.warning[code]);
  expect(silent).toEqual([]);
});
