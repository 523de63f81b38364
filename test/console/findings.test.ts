import { readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { acmeTroubleWords, findingWords } from "../../apps/console/src/renderer/finding-words.ts";
import { quoted } from "../../apps/console/src/renderer/quote.ts";
import { addWords, setLanguage } from "../../apps/shared/i18n.ts";
import { describeSettings } from "../../server/config.ts";
import { setupTexts } from "../../server/features/appliance/setup-texts.ts";
import { workCauses, workEnds } from "../../server/features/appliance/work-contract.ts";
import { finalTexts } from "../../server/features/envelopes/retry.ts";
import { findingTexts } from "../../server/features/health/finding-texts.ts";
import { finding } from "../../server/features/health/service.ts";
import { remedies } from "../../server/features/keys/unavailable.ts";
import { heldReasons } from "../../server/features/mail/contract.ts";
import { mailRemedies } from "../../server/features/mail/remedies.ts";
import { acmeTexts } from "../../server/features/tls/acme/texts.ts";
import { warningTexts } from "../../server/features/tls/warning-texts.ts";
import { problemKinds } from "../../server/kernel/problem.ts";

/** What the appliance finds is said in the language of the page: each of its codes has words in every catalogue. */

const read = (language: string) =>
  JSON.parse(readFileSync(path.resolve(import.meta.dirname, `../../locales/${language}/console.json`), "utf8"));
const catalogues = { en: read("en"), de: read("de") };

/** `{ a: { b: { detail } } }` as `{ "a.b": { detail } }`. */
function byCode(words: Record<string, unknown>, prefix = ""): [string, Record<string, string>][] {
  return Object.entries(words).flatMap(([name, inner]): [string, Record<string, string>][] => {
    if (typeof inner !== "object" || inner === null) throw new Error(`${prefix}${name} is no group`);
    const texts = Object.entries(inner);
    return texts.every(([, text]) => typeof text === "string")
      ? [[`${prefix}${name}`, Object.fromEntries(texts)]]
      : byCode(Object.fromEntries(texts), `${prefix}${name}.`);
  });
}
const blanks = (text: string) => [...text.matchAll(/\{\{?(\w+)\}/g)].map(([, name]) => name).sort();
/** The server's own texts mark what is filled in by two braces. */
const asMessages = (texts: unknown): unknown => JSON.parse(JSON.stringify(texts).replaceAll(/\{(\{\w+\})\}/g, "$1"));

describe.each(["en", "de"] as const)("in %s", (language) => {
  const words = catalogues[language];
  test.each([
    ["finding", findingTexts],
    ["acmeTrouble", acmeTexts],
    ["setupText", setupTexts],
  ])("every code of the server has words, and nothing else has: %s", (group, texts) => {
    const told = Object.fromEntries(byCode(words[group]));
    expect(Object.keys(told).sort()).toEqual(Object.keys(texts).sort());
    for (const [code, text] of Object.entries<Record<string, string>>(texts)) {
      expect(Object.keys(told[code] ?? {}), code).toEqual(Object.keys(text));
      for (const [part, original] of Object.entries(text))
        expect([code, blanks(told[code]?.[part] ?? "")]).toEqual([code, blanks(original)]);
    }
    // One wording of the English words, in the terminal and on the page.
    if (language === "en") expect(told).toEqual(asMessages(texts));
  });

  test.each<[string, Record<string, string>]>([
    ["tlsWarning", warningTexts],
    ["mailRemedy", mailRemedies],
    ["keyTrouble", remedies],
    ["settingMeaning", Object.fromEntries(describeSettings().map(({ key, meaning }) => [key, meaning]))],
    ["problem", Object.fromEntries(Object.entries(problemKinds).map(([code, { title }]) => [code, title]))],
  ])("every code of one text, too: %s", (group, texts) => {
    const told: Record<string, string> = words[group];
    expect(Object.keys(told).sort()).toEqual(Object.keys(texts).sort());
    for (const [code, text] of Object.entries(texts))
      expect([code, blanks(told[code] ?? "")]).toEqual([code, blanks(text)]);
    if (language === "en") expect(told).toEqual(asMessages(texts));
  });

  test("why a mail is held back", () => {
    expect(Object.keys(words.mail.heldFor)).toEqual(heldReasons);
  });

  test("work that is stuck, too", () => {
    expect(Object.keys(words.work.causes)).toEqual(workCauses);
    expect(Object.keys(words.work.ends)).toEqual(workEnds);
    expect(Object.keys(finalTexts)).toEqual(workEnds);
  });
});

describe("as the page says it", () => {
  beforeAll(() => {
    Object.assign(globalThis, { document: { documentElement: {} } });
    addWords("de", "console", catalogues.de);
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
