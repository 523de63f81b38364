import { isLiteralElement, parse } from "@formatjs/icu-messageformat-parser";
import { beforeAll, describe, expect, test } from "vitest";
import { acmeTroubleWords, findingWords } from "../../apps/console/src/renderer/finding-words.ts";
import { quoted } from "../../apps/console/src/renderer/quote.ts";
import { addWords, setLanguage } from "../../apps/shared/i18n.ts";
import { locales } from "../../locales/read.ts";
import { messageAt, type Words } from "../../locales/translate.ts";
import { describeSettings } from "../../server/config.ts";
import { setupParams } from "../../server/features/appliance/setup-params.ts";
import { workCauses, workEnds } from "../../server/features/appliance/work-contract.ts";
import { finalTexts } from "../../server/features/envelopes/retry.ts";
import { findingParams } from "../../server/features/health/finding-params.ts";
import { finding } from "../../server/features/health/service.ts";
import { keyTroubles } from "../../server/features/keys/unavailable.ts";
import { heldReasons } from "../../server/features/mail/contract.ts";
import { mailRemedies } from "../../server/features/mail/remedies.ts";
import { problemKinds } from "../../server/kernel/problem.ts";

/**
 * What the appliance finds is said in the language of the page, by its code. The compiler knows the codes from the English words;
 * what fills them in is told here, and whether every language has them by `npm run language-check`.
 */

const english = locales().words("en", "findings");
const blanks = (text: string) =>
  parse(text, { ignoreTag: true }).flatMap((element) =>
    "value" in element && !isLiteralElement(element) ? element.value : [],
  );

const groupAt = (words: Words, ...path: string[]): Words =>
  path.reduce((at: Words, name) => {
    const inner = at[name];
    if (typeof inner !== "object") throw new Error(`${path.join(".")} is no group`);
    return inner;
  }, words);

test.each<[string, Readonly<Record<string, readonly string[]>>]>([
  ["finding", findingParams],
  ["setupText", setupParams],
])("the words of every code take what it is told with, and nothing else: %s", (group, codes) => {
  for (const [code, params] of Object.entries(codes)) {
    const texts = ["detail", "action"].flatMap((part) => messageAt(english, `${group}.${code}.${part}`) ?? []);
    expect([code, [...new Set(texts.flatMap(blanks))].sort()]).toEqual([code, [...params].sort()]);
  }
});

test.each<[string, readonly string[]]>([
  ["keyTrouble", keyTroubles],
  ["mailRemedy", mailRemedies],
])("every code is one of the server's: %s", (group, codes) => {
  expect(Object.keys(groupAt(english, group)).sort()).toEqual([...codes].sort());
});

describe.each(["en", "de"] as const)("in %s", (language) => {
  const words = locales().words(language, "console");

  test.each<[string, Record<string, string>]>([
    ["settingMeaning", Object.fromEntries(describeSettings().map(({ key, meaning }) => [key, meaning]))],
    ["problem", Object.fromEntries(Object.entries(problemKinds).map(([code, { title }]) => [code, title]))],
  ])("every code of one text has words: %s", (group, texts) => {
    const told = groupAt(words, group);
    expect(Object.keys(told).sort()).toEqual(Object.keys(texts).sort());
    if (language === "en") expect(told).toEqual(texts);
  });

  test("why a mail is held back", () => {
    expect(Object.keys(groupAt(words, "mail", "heldFor"))).toEqual(heldReasons);
  });

  test("work that is stuck, too", () => {
    expect(Object.keys(groupAt(words, "work", "causes"))).toEqual(workCauses);
    expect(Object.keys(groupAt(words, "work", "ends"))).toEqual(workEnds);
    expect(Object.keys(finalTexts)).toEqual(workEnds);
  });
});

describe("as the page says it", () => {
  beforeAll(() => {
    Object.assign(globalThis, { document: { documentElement: {} } });
    for (const name of ["console", "findings"] as const) addWords("de", name, locales().words("de", name));
    setLanguage("de");
  });
  const gib = 1024 ** 3;

  test("sizes, ages and days are written as the language does", () => {
    const low = { freeBytes: 1.5 * gib, volumeBytes: 40 * gib, usedPercent: 96, folder: "/srv/signet" };
    const disk = finding("disk", "storage").wrong("disk.low", low);
    expect(disk).toMatchObject({ detail: "1.5 GiB free of 40.0 GiB, 96 % used" });
    expect(findingWords(disk)).toEqual({
      detail: "1,6\u00a0GB von 43\u00a0GB frei, 96 % belegt",
      action: expect.stringContaining("Datenträger von /srv/signet"),
    });
    const backup = finding("backup", "backup").wrong("backup.late", { ageHours: 50, interval: 24, folder: "/mnt" });
    expect(backup.detail).toContain("2 days old");
    expect(findingWords(backup).detail).toContain("ist 2 Tage alt; fällig ist eine alle 24 Stunden");
    const key = finding("key.seal", "keys").ok("key.ok", { day: "2030-05-01T10:00:00.000Z" });
    expect(key.detail).toBe("until 2030-05-01");
    expect(findingWords(key)).toEqual({ detail: "gültig bis 1. Mai 2030", action: null });
  });

  test("a finding about an authority says its trouble in the same language", () => {
    const trouble = { code: "no-address", params: { host: "ca.example" }, message: "in English", action: "look" };
    expect(acmeTroubleWords(trouble).message).toBe("ca.example hat hier keine Adresse.");
    const about = { failures: 2, message: "in English", details: " (a: b)", remedy: "look" };
    const one = finding("acme", "network").warning("acme.failing", {
      ...about,
      ...{ trouble: trouble.code, host: "ca.example" },
    });
    expect(one.detail).toBe("failed 2 × in a row: in English (a: b)");
    expect(findingWords(one)).toEqual({
      detail: "2 × in Folge gescheitert: ca.example hat hier keine Adresse. \u2068(a: b)\u2069",
      action: "Prüfen Sie den Namen und das DNS dieses Rechners.",
    });
  });

  test("what others said is quoted in it, and a code of a later version is told in the appliance's own words", () => {
    const cause = finding("check", "service").wrong("check.failed", { cause: "EIO: i/o error" });
    expect(quoted(findingWords(cause).detail)).toEqual([
      { text: expect.stringMatching(/: $/), said: false, at: 0 },
      { text: "EIO: i/o error", said: true, at: 1 },
    ]);
    const later = {
      ...finding("node", "machine").ok("node.ok", { version: "v24" }),
      code: "node.new",
      detail: "newer",
    };
    expect(quoted(findingWords(later).detail)).toEqual([{ text: "newer", said: true, at: 1 }]);
  });
});
