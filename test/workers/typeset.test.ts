import { PDFDocument } from "pdf-lib";
import { describe, expect, it } from "vitest";
import { fontFamilies, signatureFonts, textFonts } from "../../workers/fonts.ts";
import { widthBound } from "../../workers/overlay.ts";
import { stamp } from "../../workers/stamp.ts";
import { typeset } from "../../workers/typeset.ts";
import { covers } from "../../workers/typst/coverage.ts";
import { prepareText } from "../../workers/typst/text.ts";
import { samplePdf, whole } from "../harness/pdfs.ts";
import { wordsOf } from "../harness/rendering.ts";

describe("fonts", () => {
  it("cover what they are shipped for", () => {
    const point = (char: string): number => char.codePointAt(0) ?? 0;
    expect(covers("Noto Sans", point("ß")) && covers("Noto Sans", point("Ж"))).toBe(true);
    expect(covers("Noto Sans", point("中"))).toBe(false);
    expect(
      covers("Noto Sans SC", point("中")) && covers("Noto Sans JP", point("あ")) && covers("Noto Sans KR", point("한")),
    ).toBe(true);
    expect(covers("No Such Font", 65)).toBe(false);
    for (const name of [...signatureFonts, ...textFonts])
      expect(fontFamilies.some(({ family }) => family === name)).toBe(true);
  });

  it("are chosen by the characters, few of them", () => {
    expect(prepareText("Plain text").fonts).toEqual(["Noto Sans"]);
    expect(prepareText("漢字").fonts).toEqual(["Noto Sans", "Noto Sans SC"]);
    expect(prepareText("漢字かな").fonts).toEqual(["Noto Sans", "Noto Sans JP"]);
    expect(prepareText("漢字 한글").fonts).toEqual(["Noto Sans", "Noto Sans KR"]);
    expect(prepareText("Łódź", ["Great Vibes"]).fonts).toEqual(["Great Vibes", "Noto Sans"]);
    expect(prepareText("(שלום)")).toMatchObject({ fonts: ["Noto Sans", "Noto Sans Hebrew"], dir: "rtl" });
  });
});

describe("text", () => {
  it("loses what cannot be drawn and nothing else", () => {
    expect(prepareText("a\u0000b\u0007c\ufeffd\ud800e").text).toBe("abcd\ufffde");
    expect(prepareText("one\r\ntwo\rthree\u2028four").text).toBe("one\ntwo\nthree\nfour");
    expect(prepareText("a   b").text).toBe("a\u00a0\u00a0 b");
    expect(prepareText("\u{12000}x\u{12000}")).toMatchObject({ text: "[U+12000]x[U+12000]", missing: 2 });
    expect(prepareText("x".repeat(30), [], true).text.replaceAll("\u200b", "")).toBe("x".repeat(30));
  });

  it("is never wider than the bound that spares its measuring", async () => {
    const chars = Array.from({ length: 0x180 - 0x20 }, (_, index) => String.fromCodePoint(index + 0x20)).filter(
      (char) => /[^\p{Cc}\s\u00ad]/u.test(char),
    );
    const document = await PDFDocument.create();
    for (let page = 0; page < 4; page++) document.addPage([600, 842]);
    const pdf = await document.save();
    const styles = [{}, { weight: "bold" as const }, { italic: true }, { weight: "bold" as const, italic: true }];
    const drawings = styles.flatMap((style, page) =>
      chars.map((char, index) => {
        const place = {
          page: page + 1,
          x: 20 + (index % 10) * 55,
          y: 20 + Math.floor(index / 10) * 22,
          width: 54,
          height: 20,
        };
        return { kind: "text" as const, text: char, size: 10, ...style, ...place };
      }),
    );
    const result = await stamp({ pdf, drawings, watermark: null, at: "2026-01-01T00:00:00.000Z" });
    if (!result.ok) throw new Error(result.error.message);
    const drawn = whole(pdf, result.value.tail);
    let seen = 0;
    for (let page = 1; page <= 4; page++) {
      for (const word of wordsOf(drawn, page)) {
        const char = word.text.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"');
        if ([...char].length !== 1) continue;
        seen++;
        expect([char, word.right - word.x <= 10 * (widthBound(char) ?? 0) + 0.01]).toEqual([char, true]);
      }
    }
    expect(seen).toBeGreaterThan(4 * 200);
  });
});

describe("the typesetter", () => {
  it("keeps its memory", async () => {
    const pdf = await samplePdf({ pages: 3 });
    const run = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) {
        const drawings = [1, 2, 3].map((page) => ({
          kind: "text" as const,
          text: `Text ${i} on ${page}`,
          page,
          x: 50,
          y: 50,
          width: 90,
          height: 20,
        }));
        await stamp({ pdf, drawings, watermark: "TEST", at: "2026-01-01T00:00:00.000Z" });
      }
    };
    await run(60);
    const before = process.memoryUsage().rss;
    await run(100);
    expect((process.memoryUsage().rss - before) / 100).toBeLessThan(1_000_000);
  });

  it("says which template failed", async () => {
    await expect(typeset({ template: "overlay.typ", data: { pages: [{}] }, fonts: new Set() })).rejects.toThrow(
      "overlay.typ",
    );
  });
});
