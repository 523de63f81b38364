import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { isTag, openLocales } from "../../locales/read.ts";
import { translatorOf } from "../../locales/translate.ts";
import { forbid } from "../harness/another-user.ts";

let folder: string;

const write = (file: string, words: unknown) => {
  mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
  writeFileSync(path.join(folder, file), JSON.stringify(words));
};

beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "signet-locales-"));
  write("en/mail.json", { subject: "Please sign", footer: { sent: "Sent for {name}" } });
  write("en/view.json", { title: "Documents" });
  write("pt-BR/mail.json", { subject: "Assine, por favor", other: "x" });
  write("en_GB/mail.json", {});
  write("not a language/mail.json", {});
  for (const name of ["de-backup", "old", "de-x-own"]) write(`${name}/mail.json`, {});
});
afterAll(() => rmSync(folder, { recursive: true }));

test("the languages are the folders that are named by a tag, the catalogues those of English", () => {
  const { languages, catalogues } = openLocales(folder);
  expect(languages).toEqual(["en", "pt-BR"]);
  expect(catalogues).toEqual(["mail", "view"]);
});

test("what a language lacks is English", () => {
  const { words } = openLocales(folder);
  expect(words("pt-BR", "mail")).toEqual({ subject: "Assine, por favor", footer: { sent: "Sent for {name}" } });
  expect(words("pt-BR", "view")).toEqual({ title: "Documents" });
});

test("a catalogue is read once", () => {
  const { words } = openLocales(folder);
  const first = words("en", "view");
  write("en/view.json", { title: "Changed" });
  expect(words("en", "view")).toBe(first);
  expect(openLocales(folder).words("en", "view")).toEqual({ title: "Changed" });
});

/** What was said on stderr in the rest of the test. */
function heard(): string[] {
  const said: string[] = [];
  const spy = vi.spyOn(console, "error").mockImplementation((line: string) => said.push(line));
  onTestFinished(() => spy.mockRestore());
  return said;
}

test("a mistake in a translation is named once, and English is used instead", () => {
  const said = heard();
  write("de/view.json", { title: ["a"] });
  writeFileSync(path.join(folder, "de/mail.json"), '{ "subject": "Bitte", }');
  const { languages, words, version } = openLocales(folder);
  expect(languages).toEqual(["de", "en", "pt-BR"]);
  for (let turn = 0; turn < 2; turn += 1) {
    expect(words("de", "view")).toEqual(words("en", "view"));
    expect(words("de", "mail")).toEqual(words("en", "mail"));
    expect(version()).toMatch(/^[\w-]{12}$/);
  }
  expect(said).toEqual([
    expect.stringContaining("de/view.json holds something else than groups of texts"),
    expect.stringContaining("de/mail.json is not JSON: "),
  ]);
  expect(() => openLocales(folder).files("de")).toThrow("de/mail.json is not JSON: ");
  rmSync(path.join(folder, "de"), { recursive: true });
});

test("English itself must be there", () => {
  expect(() => openLocales(folder).words("en", "none")).toThrow("none.json");
  expect(() => openLocales(path.join(folder, "pt-BR"))).toThrow("ENOENT");
});

test("a file that may not be read is said in English, a folder that may not be read is no language", () => {
  const said = heard();
  write("de/view.json", { title: "Dokumente" });
  chmodSync(folder, 0o755);
  const allowFile = forbid(path.join(folder, "de/view.json"));
  const { languages, words } = openLocales(folder);
  expect(languages).toContain("de");
  expect(words("de", "view")).toEqual(words("en", "view"));
  allowFile();
  const allow = forbid(path.join(folder, "de"));
  expect(openLocales(folder).languages).toEqual(["en", "pt-BR"]);
  allow();
  expect(said).toEqual([expect.stringMatching(/EACCES.*de\/view\.json/), expect.stringMatching(/EACCES.*\/de'/)]);
  rmSync(path.join(folder, "de"), { recursive: true });
});

test("the version is that of what is served, whatever happens to the files", () => {
  const first = openLocales(folder);
  const version = first.version();
  write("pt-BR/view.json", { title: "Documentos" });
  expect(first.version()).toBe(version);
  expect(first.words("pt-BR", "view")).toEqual(first.words("en", "view"));
  const second = openLocales(folder);
  expect(second.words("pt-BR", "view")).toEqual({ title: "Documentos" });
  expect(second.version()).not.toBe(version);
  // What nobody is served changes nothing.
  write("pt-BR/view.json", { title: "Documentos", none: "x" });
  expect(openLocales(folder).version()).toBe(second.version());
  rmSync(path.join(folder, "pt-BR/view.json"));
});

test("English that stands in for a language says its numbers as they are", () => {
  write("en/count.json", { pages: "{n, plural, one {A page} other {# pages}}" });
  for (const language of ["fr", "ru", "de"]) write(`${language}/mail.json`, {});
  const { words } = openLocales(folder);
  const said = (language: string, numbers: number[]) => {
    const t = translatorOf<{ pages: string }>(words(language, "count"), language);
    return numbers.map((n) => t("pages", { n }));
  };
  expect(said("fr", [0, 1, 2])).toEqual(["0 pages", "A page", "2 pages"]);
  expect(said("ru", [1, 2, 5, 21])).toEqual(["A page", "2 pages", "5 pages", "21 pages"]);
  expect(words("de", "count")).toEqual(words("en", "count"));
});

test("a tag is one as Intl writes it, of a language that is known", () => {
  expect(["de", "pt-BR", "zh-Hant", "en-XA"].filter(isTag)).toHaveLength(4);
  const none = [
    "DE",
    "pt_BR",
    "pt-br",
    "e",
    "..",
    "",
    "en/../..",
    "xx",
    "old",
    "de-backup",
    "de-x-own",
    "de-u-nu-latn",
  ];
  expect(none.filter(isTag)).toEqual([]);
});
