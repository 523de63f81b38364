import { expect, test } from "vitest";
import type Catalogue from "../../../locales/en/evidence.json";
import { locales } from "../../../locales/read.ts";
import { translatorOf } from "../../../locales/translate.ts";
import { evidenceWords } from "../../../server/features/evidence/verify-file.ts";
import {
  type FindingCode,
  type FindingValues,
  findingText,
  type SayEvidence,
} from "../../../server/features/evidence/words.ts";

const inGerman: SayEvidence = translatorOf<typeof Catalogue>(locales().words("de", "evidence"), "de");
const say = (code: FindingCode, values: FindingValues) => findingText(evidenceWords(), code, values);

test("numbers and what is counted go together", () => {
  expect(say("path-fits", { index: 0, size: 1 })).toBe("The path leads from leaf 0 to the root over 1 leaf.");
  expect(say("path-fits", { index: 0, size: 2 })).toContain("over 2 leaves.");
  expect(say("path-fits", { index: 0, size: 12345 })).toContain("over 12345 leaves.");
  expect(say("audit-later", { count: 1 })).toBe("1 more entry follows. Nothing proves it yet: do not rely on it.");
  expect(findingText(inGerman, "audit-fits", { count: 1, fixed: 1 })).toContain("1 Eintrag, von dem das Blatt");
  expect(findingText(inGerman, "audit-fits", { count: 9, fixed: 8 })).toContain("9 Einträge, von denen das Blatt");
});

test("problems, changes and archives are said by their codes, times as the reader has them, and nothing as a dash", () => {
  expect(say("pdf-wrong", { problems: ["damaged", "no-seal"] })).toBe(
    "The PDF is damaged. The PDF carries no seal of the trusted authorities.",
  );
  expect(say("revisions-allowed", { field: "Seal", changes: ["seal", "document-timestamp"] })).toBe(
    "Behind “Seal” only this was added, and it may be: further seals, time stamps.",
  );
  expect(say("archive-unreadable", { fault: "twice" })).toBe("The archive cannot be read: it holds a file twice.");
  expect(say("archive-unreadable", { reason: "{count}" })).toBe("The archive cannot be read: {count}.");
  const at = "2026-11-21T09:10:00.000Z";
  expect(findingText(evidenceWords(), "timestamp-holds", { authority: "A", at }, () => "then")).toBe(
    "A stamped it at then.",
  );
  expect(say("timestamp-holds", { authority: null, at: null })).toBe("– stamped it at –.");
});
