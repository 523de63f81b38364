import { PDFDocument } from "pdf-lib";
import { describe, expect, it } from "vitest";
import { measureTexts } from "../../workers/fit.ts";
import type { Drawing } from "../../workers/protocol.ts";
import { stamp } from "../../workers/stamp.ts";
import { whole } from "../harness/pdfs.ts";
import { faultsOf, render, wordsOf } from "../harness/rendering.ts";

const box = { page: 1, x: 50, y: 60, width: 120, height: 24 };

async function blank(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  document.addPage([400, 400]);
  return await document.save();
}

async function stamped(pdf: Uint8Array, drawings: Drawing[]) {
  const result = await stamp({ pdf, drawings, watermark: null, at: "2026-11-21T10:00:00.000Z" });
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  const out = whole(pdf, result.value.tail);
  expect(faultsOf(out)).toBe("");
  return { pdf: out, warnings: result.value.warnings };
}

async function fits(drawings: Drawing[]) {
  const result = await measureTexts({ drawings });
  if (!result.ok) throw new Error("nothing was measured");
  return result.value.fits;
}

describe("a text that is too long for its box", () => {
  const sentence = "A sentence that is much wider than its box ";

  it("wraps a line that is too long, then shrinks it, and says so", async () => {
    const { pdf, warnings } = await stamped(await blank(), [{ kind: "text", text: sentence, size: 12, ...box }]);
    expect(warnings).toMatchObject([{ code: "text-shrunk", page: 1 }]);
    const words = wordsOf(pdf, 1);
    expect(words.map(({ text }) => text).join(" ")).toBe(sentence.trim());
    expect(new Set(words.map(({ y }) => Math.round(y))).size).toBe(2);
    expect(words.every(({ x, right }) => x >= 49 && right <= 171)).toBe(true);
    const roomy = await stamped(await blank(), [{ kind: "text", text: sentence, size: 10, ...box, height: 40 }]);
    expect(roomy.warnings).toEqual([]);
  });

  it("cuts nothing that fits at any size, and tells of what is smaller than 6 points", async () => {
    const text = sentence.repeat(5).trim();
    const tiny = await stamped(await blank(), [{ kind: "text", text, size: 12, ...box }]);
    expect(tiny.warnings).toMatchObject([{ code: "text-tiny", page: 1 }]);
    expect(wordsOf(tiny.pdf, 1).map((word) => word.text)).toEqual(text.split(" "));
    expect(wordsOf(tiny.pdf, 1).every(({ x, right }) => x >= 49 && right <= 171)).toBe(true);
    const clipped = await stamped(await blank(), [{ kind: "text", text: sentence.repeat(90), size: 12, ...box }]);
    expect(clipped.warnings).toMatchObject([{ code: "text-clipped", page: 1 }]);
    const image = render(clipped.pdf, 1);
    expect(Array.from({ length: 24 }, (_, y) => image.at(175, 60 + y)).every((grey) => grey > 250)).toBe(true);
    expect(Array.from({ length: 120 }, (_, x) => image.at(50 + x, 90)).every((grey) => grey > 250)).toBe(true);
  });

  it("keeps what stands on a baseline on one line, and a size that was chosen smaller than 6 points", async () => {
    const text = "Twenty-eight characters here";
    const onLine = await stamped(await blank(), [{ kind: "text", text, size: 12, baseline: 18, ...box }]);
    expect(new Set(wordsOf(onLine.pdf, 1).map(({ y }) => Math.round(y))).size).toBe(1);
    const small = await stamped(await blank(), [{ kind: "text", text, size: 4, ...box }]);
    expect(small.warnings).toEqual([]);
  });

  it("tells beforehand what will be drawn: the size, and how many characters fit", async () => {
    const drawing = (text: string, more: object = {}) => ({ kind: "text" as const, text, size: 11, ...box, ...more });
    const long = "Donaudampfschifffahrtsgesellschaftskapitänsmütze";
    const texts = [
      drawing("Short"),
      drawing(sentence),
      drawing(sentence.repeat(20)),
      drawing(sentence.repeat(20), { multiline: true }),
      drawing(long, { width: 60, height: 40 }),
      drawing(long.repeat(9), { width: 60, height: 40 }),
      drawing("مرحبا بالعالم هذا نص طويل جدا لا يتسع في السطر الواحد من هذا الحقل ".repeat(5)),
      drawing("שלום עולם זה טקסט ארוך מאוד שלא נכנס לשדה הזה בשום אופן ".repeat(5)),
      drawing("你好世界这是一个很长的文本它不能放在一行里面因为它太长了".repeat(8)),
      drawing("สวัสดีชาวโลกนี่คือข้อความยาวมากที่ไม่พอดีกับช่อง".repeat(8)),
      drawing("12", { cells: 4 }),
    ];
    const told = await fits(texts);
    const expected = [true, true, false, false, true, false, false, false, false, false, null];
    expect(told.map((one) => one?.fits ?? null)).toEqual(expected);
    for (const [index, one] of told.entries()) {
      const text = texts[index];
      if (one?.fits !== false || text === undefined) continue;
      const chars = Array.from(new Intl.Segmenter("und").segment(text.text), ({ segment }) => segment);
      const room = one.room ?? 0;
      expect(room).toBeGreaterThan(10);
      const [most, over] = await fits([
        { ...text, text: chars.slice(0, room).join("") },
        { ...text, text: chars.slice(0, room + 8).join("") },
      ]);
      expect([index, most?.fits, over?.fits]).toEqual([index, true, false]);
      const { pdf, warnings } = await stamped(await blank(), [{ ...text, text: chars.slice(0, room).join("") }]);
      expect(warnings.map(({ code }) => code)).toEqual(["text-shrunk"]);
      const right = text.x + text.width + 1;
      expect(wordsOf(pdf, 1).every((word) => word.x >= text.x - 1 && word.right <= right)).toBe(true);
    }
  });

  it("answers for the longest text in the smallest box without setting it again and again", async () => {
    const text = "x".repeat(4000);
    const began = performance.now();
    await fits(
      Array.from({ length: 20 }, () => ({ kind: "text", text, size: 11, multiline: true, ...box, width: 30 })),
    );
    expect(performance.now() - began).toBeLessThan(5000);
  });
});
