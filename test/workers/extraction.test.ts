import { describe, expect, it } from "vitest";
import { stamp } from "../../workers/stamp.ts";
import { samplePdf, whole } from "../harness/pdfs.ts";
import { faultsOf, mutoolTextOf, render, textOf } from "../harness/rendering.ts";

/** Without the page's own line, and the marks of direction that poppler puts around what runs from right to left. */
const plain = (text: string): string =>
  text
    .replace(/Page \d+/, "")
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069\f]/g, "")
    .normalize("NFC")
    .trim();

async function drawn(texts: readonly string[], kind: "text" | "script" = "text"): Promise<Uint8Array> {
  const pdf = await samplePdf({ pages: texts.length });
  const drawings = texts.map((text, index) => {
    const box = { page: index + 1, x: 50, y: 50, width: 480, height: 40 };
    return kind === "text" ? { kind, text, ...box } : { kind, text, font: "Caveat", ...box };
  });
  const result = await stamp({ pdf, drawings, watermark: null, at: "2026-01-01T00:00:00.000Z" });
  if (!result.ok) throw new Error(result.error.message);
  const file = whole(pdf, result.value.tail);
  expect(faultsOf(file)).toBe("");
  return file;
}

/** One line a page, so that each reader has nothing to sort. */
const readable = {
  arabic: ["يوسف بن عبد الرحمن", "شركة الاختبار", "محمد پژمان چگونه گفت", "لا إله ئ ؤ آ أ"],
  hebrew: ["ישראל כהן"],
  devanagari: ["हिन्दी श्रीमती क्षत्रिय"],
  thai: ["สมชาย ใจดี น้ำ"],
  han: ["王小明", "繁體中文 陳大文", "山田太郎 あいう"],
  hangul: ["한글 김철수"],
  others: ["Дмитрий Щербаков", "Ελένη Παπαδοπούλου", "Nguyễn Văn Ngọc Ế", "Zoe\u0308 a\u0323\u0302", "fi ffi office"],
};

describe("text that was drawn", () => {
  it.each(Object.entries(readable))("is read back as it was written: %s", async (_, texts) => {
    for (const kind of ["text", "script"] as const) {
      const pdf = await drawn(texts, kind);
      const written = texts.map((text) => text.normalize("NFC"));
      expect(texts.map((_, index) => plain(textOf(pdf, index + 1)))).toEqual(written);
      for (const page of texts.keys()) {
        const image = render(pdf, page + 1);
        let ink = 0;
        for (let y = 50; y < 90; y++) for (let x = 50; x < 530; x++) if (image.at(x, y) < 128) ink++;
        expect(ink).toBeGreaterThan(40);
      }
    }
  });

  it("is the same for a reader that shares no code with the first, where letters have one glyph each", async () => {
    const texts = [...readable.han, ...readable.hangul, ...readable.others.slice(0, 2), "fi ffi office"];
    const pages = mutoolTextOf(await drawn(texts)).split("\f");
    expect(texts.map((_, index) => plain(pages[index] ?? ""))).toEqual(texts);
  });

  it("names what no font has by its code point", async () => {
    expect(plain(textOf(await drawn(["fine \u{1f600} \u{1f44d}"])))).toBe("fine \u{1f600} \u{1f44d}");
    expect(plain(textOf(await drawn(["ok \u{12000}"])))).toBe("ok [U+12000]");
  });
});
