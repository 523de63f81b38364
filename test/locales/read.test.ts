import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isTag, openLocales } from "../../locales/read.ts";

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

test("what is no catalogue is refused", () => {
  write("de/view.json", { title: ["a"] });
  expect(() => openLocales(folder).words("de", "view")).toThrow(
    "de/view.json holds something else than groups of texts",
  );
  expect(() => openLocales(folder).words("en", "none")).toThrow("none.json");
});

test("a tag is one as Intl writes it", () => {
  expect(["de", "pt-BR", "zh-Hant", "xx"].filter(isTag)).toHaveLength(4);
  expect(["DE", "pt_BR", "pt-br", "e", "..", "", "en/../.."].filter(isTag)).toEqual([]);
});
