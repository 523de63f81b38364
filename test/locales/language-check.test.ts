import { cpSync, linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { beginLanguage } from "../../locales/add.ts";
import { formatMessage } from "../../locales/message.ts";
import { openLocales } from "../../locales/read.ts";
import { faultsOf, fittedTo } from "../../locales/shape.ts";
import { messagesIn } from "../../locales/translate.ts";
import { translationFaults, unusedMessages } from "../../scripts/language-check.ts";
import { runCli } from "../../server/cli.ts";
import { pseudoMessage, pseudoWords } from "../harness/pseudo.ts";

const pages = "{n, plural, one {# page of {title}} other {# pages of {title}}}";

describe("a message as a translation", () => {
  test.each([
    ["itself", pages, pages, "de", []],
    [
      "with the forms of its language",
      "{n, plural, one {# {title}} few {# {title}} many {# {title}} other {# {title}}}",
      pages,
      "pl",
      [],
    ],
    [
      "with too few forms",
      "{n, plural, one {# {title}} other {# {title}}}",
      pages,
      "pl",
      ['lacks the form "few" of {n}', 'lacks the form "many" of {n}'],
    ],
    [
      "with a form too many",
      "{n, plural, one {# {title}} few {#} other {# {title}}}",
      pages,
      "de",
      ['has the form "few" of {n}, which the language has not'],
    ],
    [
      "without a number that it needs",
      "{n, plural, one {page} other {# pages}}",
      "{n, plural, one {page} other {#}}",
      "fr",
      [
        'leaves the number out of the form "one" of {n}, which more than one number takes',
        'lacks the form "many" of {n}',
      ],
    ],
    ["without a placeholder", "Hallo", "Hello {name}", "de", ["lacks {name}"]],
    [
      "with one of another name",
      "Hallo {Name}",
      "Hello {name}",
      "de",
      ["lacks {name}", "has {Name}, which English has not"],
    ],
    [
      "with one of another kind",
      "{n} Seiten",
      "{n, plural, one {page} other {pages}}",
      "de",
      ["uses {n} as text, English as plural"],
    ],
    ["that is not closed", "Hallo {name", "Hello {name}", "de", [expect.stringContaining("is not well-formed")]],
    ["that is empty", " ", "Hello", "de", ["is empty"]],
  ])("%s", (_, message, english, language, faults) => {
    expect(faultsOf(message, english, language).sort()).toEqual([...faults].sort());
  });
});

test("an English message gets the plural forms of the language, and reads as before", () => {
  expect(fittedTo("Of {n, plural, =0 {none} one {# '{'page} other {# it's}}!", "pl")).toBe(
    "Of {n, plural, =0 {none} one {# '{'page} few {# it's} many {# it's} other {# it's}}!",
  );
  // French says "one" of 0, Russian of 21: what English says of one page is for 1 alone.
  const alone = "{n, plural, offset:1 one {the page} other {# pages}}";
  expect(fittedTo(alone, "ru")).toBe(
    "{n, plural, offset:1 =2 {the page} one {# pages} few {# pages} many {# pages} other {# pages}}",
  );
  expect(fittedTo(alone, "de")).toBe(alone);
  expect(fittedTo("{n, plural, one {page} other {# pages}}", "fr")).toBe(
    "{n, plural, =1 {page} one {# pages} many {# pages} other {# pages}}",
  );
  expect(fittedTo("{n, plural, one {# page} other {# pages}}", "fr")).toBe(
    "{n, plural, one {# page} many {# pages} other {# pages}}",
  );
  expect(fittedTo("{n, plural, one {# page} other {# pages}}", "ja")).toBe("{n, plural, other {# pages}}");
  expect(fittedTo("{kind, select, pdf {PDF} other {{n, plural, one {#} other {#s}}}}", "ja")).toBe(
    "{kind, select, pdf {PDF} other {{n, plural, other {#s}}}}",
  );
  const all = Object.values(openLocales().files("en")).flatMap((words) => [...messagesIn(words).values()]);
  expect(all.length).toBeGreaterThan(3000);
  expect(all.filter((message) => fittedTo(message, "en") !== message)).toEqual([]);
  expect(
    all.filter((message) => faultsOf(fittedTo(message, "ar"), message, "ar").some((fault) => !/leaves/.test(fault))),
  ).toEqual([]);
});

describe("what is wrong with a language is found", () => {
  let folder: string;
  beforeEach(() => {
    folder = copyOfLocales();
  });
  const change = (file: string, from: string, to: string) => {
    const text = readFileSync(path.join(folder, file), "utf8");
    expect(text).toContain(from);
    writeFileSync(path.join(folder, file), text.replace(from, to));
  };
  const faults = () => translationFaults(openLocales(folder));

  test("nothing, as it is", () => {
    expect(faults()).toEqual([]);
  });
  test("a message that is missing, and one that nobody has in English", () => {
    change("de/docs.json", '"search":', '"find":');
    expect(faults()).toEqual(["de/docs.json: search is missing", "de/docs.json: find: English has no such message"]);
  });
  test("a placeholder that was translated", () => {
    change("de/docs.json", "{count, plural", "{zahl, plural");
    expect(faults()).toEqual([
      "de/docs.json: results lacks {count}",
      "de/docs.json: results has {zahl}, which English has not",
    ]);
  });
  test("a catalogue that is missing, and one too many", () => {
    rmSync(path.join(folder, "de/docs.json"));
    writeFileSync(path.join(folder, "de/more.json"), "{}");
    expect(faults()).toEqual(["de/more.json: there is no such catalogue in English", "de/docs.json is missing"]);
  });
});

test("a message that nobody asks for is found; one whose key is put together counts as asked for", () => {
  const english = {
    part: { title: "a", role: { one: "b" }, point1: "c", left: "d", kinds: { x: { text: "e" } } },
    none: { a: "b" },
  };
  const sources = [
    { file: "apps/part/a.ts", text: `translator("part")("title"); t(\`role.\${role}\`); t(\`\${kind}.text\`)` },
    { file: "apps/other/a.ts", text: 't("left"); t("point1")' },
  ];
  expect(unusedMessages(english, sources)).toEqual([
    "en/part.json: nobody asks for point1",
    "en/part.json: nobody asks for left",
    "en/none.json: no source asks for this catalogue",
  ]);
});

describe("a language is added", () => {
  const call = async (...args: string[]) => {
    const said: string[] = [];
    const streams = { stdout: (text: string) => said.push(text), stderr: (text: string) => said.push(text) };
    const code = await runCli(
      ["language", ...args],
      { SIGNET_DATA_DIR: os.tmpdir() },
      {
        ...streams,
        stdin: (async function* () {})(),
        interactive: false,
        onSignal: () => undefined,
      },
    );
    return { code, said: said.join("") };
  };

  test("to a copy: complete, fitted to its plurals, and nothing of it is lost by calling again", async () => {
    const folder = copyOfLocales();
    const first = await call("pl", "--folder", folder);
    expect(first.code).toBe(0);
    expect(first.said).toContain("Polski (pl)");
    expect(first.said).toMatch(/(\d+) of \1 messages read as in English/);
    const { languages, words } = openLocales(folder);
    expect(languages).toEqual(["de", "en", "pl"]);
    // What is left is for the translator: numbers that English writes as words.
    const rest = translationFaults(openLocales(folder)).filter((fault) => !fault.includes("leaves the number out"));
    expect(rest).toEqual([]);
    expect(JSON.stringify(words("pl", "docs"))).toContain("one {# operation} few {# operations}");

    const file = path.join(folder, "pl/docs.json");
    const { search: _, ...others } = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...others, title: "Dokumentacja API", gone: "x" }));
    const again = await call("pl", "--folder", folder, "--json");
    const { catalogues } = JSON.parse(again.said);
    expect(catalogues.find(({ catalogue }: { catalogue: string }) => catalogue === "docs")).toMatchObject({
      added: 1,
      unknown: ["gone"],
    });
    const after = JSON.parse(readFileSync(file, "utf8"));
    expect(after).toMatchObject({ title: "Dokumentacja API", search: "Search operations", gone: "x" });
    expect(Object.keys(after).slice(0, 2)).toEqual(["title", "search"]);
  });

  test("a file that is broken is named, and nothing is written", async () => {
    const folder = copyOfLocales();
    const file = path.join(folder, "de/mail.json");
    writeFileSync(file, '{ "a": "b", }');
    const { code, said } = await call("de", "--folder", folder);
    expect(code).toBe(1);
    expect(said).toContain(`${file} is not JSON: `);
    expect(said).not.toContain("    at ");
    expect(readFileSync(file, "utf8")).toBe('{ "a": "b", }');
  });

  test("the service can read it whoever began it, and a second name for a file stays as it was", () => {
    const folder = copyOfLocales();
    const file = path.join(folder, "fr/mail.json");
    const kept = path.join(folder, "kept.json");
    const before = process.umask(0o077);
    onTestFinished(() => void process.umask(before));
    beginLanguage(folder, "fr");
    expect([path.dirname(file), file].map((place) => statSync(place).mode & 0o777)).toEqual([0o755, 0o644]);
    writeFileSync(file, "{}");
    linkSync(file, kept);
    beginLanguage(folder, "fr");
    expect(readFileSync(kept, "utf8")).toBe("{}");
    expect(readFileSync(file, "utf8")).not.toBe("{}");
    expect(readdirSync(path.dirname(file))).toEqual(readdirSync(path.join(folder, "en")));
  });

  test("a copy of German stays as it is", () => {
    const folder = copyOfLocales();
    const before = readFileSync(path.join(folder, "de/mail.json"), "utf8");
    expect(beginLanguage(folder, "de").map(({ added }) => added)).toEqual(beginLanguage(folder, "en-GB").map(() => 0));
    expect(readFileSync(path.join(folder, "de/mail.json"), "utf8")).toBe(before);
  });

  test.each([
    ["de_AT", "write de-AT"],
    ["PT-br", "write pt-BR"],
    ["../x", "is not the tag of a language"],
    ["de-backup", "is not the tag of a language"],
    ["en", "English is what"],
    ["xx", "nothing is known of a language xx"],
  ])("%s is refused", async (tag, why) => {
    const { code, said } = await call(tag, "--folder", path.join(os.tmpdir(), "none"));
    expect(code).toBe(2);
    expect(said).toContain(why);
  });
});

test("the pseudo language accents every letter, keeps what is filled in, and is longer", () => {
  expect(pseudoMessage("{n, plural, one {# page} other {# pages of {title}}}, don't")).toBe(
    "{n, plural, one {# þááǧéé} other {# þááǧééš óóƒ {title}}}, đóóñ'ţ",
  );
  const { files } = openLocales();
  for (const english of Object.values(files("en"))) {
    const [before, after] = [messagesIn(english), messagesIn(pseudoWords(english))];
    for (const [key, message] of after) expect(faultsOf(message, before.get(key) ?? "", "en"), key).toEqual([]);
  }
  const long = "The document is complete and every signature on it holds.";
  expect(formatMessage(pseudoMessage(long), {}, "en").length / long.length).toBeGreaterThan(1.3);
});

function copyOfLocales(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), "signet-locales-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const language of ["en", "de"])
    cpSync(path.join("locales", language), path.join(folder, language), { recursive: true });
  return folder;
}
