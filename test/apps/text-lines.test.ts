import { readFileSync } from "node:fs";
import path from "node:path";
import { getDocument, Util } from "pdfjs-dist/legacy/build/pdf.mjs";
import { describe, expect, test } from "vitest";
import type { Draft } from "../../apps/dashboard/src/features/templates/model.ts";
import { colorsIn } from "../../apps/dashboard/src/features/templates/text-edit/colors.ts";
import {
  isLeftUnder,
  replaceLine,
  replacementOf,
  textsOn,
} from "../../apps/dashboard/src/features/templates/text-edit/replacing.ts";
import { linesOf, lookOf, type Run } from "../../apps/dashboard/src/features/templates/text-edit/text-lines.ts";
import { defaultSettings, Role } from "../../server/features/templates/contract.ts";
import { staticDrawings } from "../../server/features/templates/drawings.ts";
import { publishErrors } from "../../server/features/templates/publish-checks.ts";
import { stamp } from "../../workers/stamp.ts";
import { textOf } from "../harness/rendering.ts";

/** The text of real documents, made into lines that can be replaced. */

const root = path.resolve(import.meta.dirname, "../..");
const fixture = (file: string) => readFileSync(path.join(root, file));

/** What the page's own reader gives, without its canvas. */
async function readPage(bytes: Uint8Array, number: number) {
  const task = getDocument({ data: Uint8Array.from(bytes), useSystemFonts: false, verbosity: 0 });
  const page = await (await task.promise).getPage(number);
  const viewport = page.getViewport({ scale: 1 });
  const content = await page.getTextContent();
  const fonts = new Map(
    Object.entries(content.styles).map(([key, { fontFamily, ascent, descent }]) => [
      key,
      { name: "", family: fontFamily, ascent, descent },
    ]),
  );
  const runs = content.items.flatMap((item): Run[] => {
    if (!("str" in item)) return [];
    const matrix: number[] = Util.transform(viewport.transform, item.transform);
    return [{ text: item.str, isRtl: item.dir === "rtl", matrix, width: item.width, font: item.fontName }];
  });
  await task.destroy();
  return { runs, fonts, lines: linesOf(runs, fonts, viewport.width), width: viewport.width };
}

describe("lines", () => {
  test("of a contract: columns stand for themselves, and each line has its place and size", async () => {
    const { lines } = await readPage(fixture("apps/dashboard/src/sample/agreement-en.pdf"), 1);
    const texts = lines.map(({ text }) => text);
    expect(texts.slice(0, 6)).toEqual([
      "S A M P L E",
      "Consulting agreement",
      "This agreement is between the client and the consultant named below. It takes effect on the",
      "day on which the last of them signs.",
      "CLIENT",
      "CONSULTANT",
    ]);
    const [, title, , , client] = lines;
    expect(title).toMatchObject({ size: 25, isRtl: false });
    expect([title?.x, title?.width].map((value) => Math.round(value ?? 0))).toEqual([64, 279]);
    // A text may be as wide as the way to the next column.
    expect(Math.round((client?.x ?? 0) + (client?.room ?? 0))).toBe(307);
  });

  test("of a lecture set by TeX: many runs and fonts make one line each", async () => {
    const { lines } = await readPage(fixture("test/fixtures/pdf/lecture.pdf"), 1);
    const texts = lines.map(({ text }) => text);
    expect(texts).toContain("Druckfassung der Vorlesung Logik für Informatiker vom 27. Oktober 2006");
    expect(texts[0]).toBe("Kapitel 1");
    expect(new Set(lines.map(({ baseline, x }) => `${Math.round(baseline)} ${Math.round(x)}`)).size).toBe(lines.length);
  });

  test("keep what is turned out, read right to left, and take doubled letters for one", () => {
    const run = (text: string, x: number, y: number, members: Partial<Run> = {}): Run => ({
      text,
      isRtl: false,
      matrix: [10, 0, 0, -10, x, y],
      width: text.length * 5,
      font: "f",
      ...members,
    });
    const lines = linesOf(
      [
        run("side", 10, 50, { matrix: [0, 10, 10, 0, 10, 50] }),
        run("Bold", 10, 100),
        run("Bold", 10.3, 100),
        run("שלום", 60, 200, { isRtl: true }),
        run("עולם", 37, 200, { isRtl: true }),
        run("H", 10, 300),
        run("ello", 15, 300.4),
        run("there", 38, 300),
        run("far", 90, 300),
      ],
      new Map([["f", { name: "", family: "sans-serif", ascent: 0.9, descent: -0.2 }]]),
      200,
    );
    expect(lines.map(({ text }) => text)).toEqual(["Bold", "שלום עולם", "Hello there", "far"]);
    expect(lines.map(({ room }) => room)).toEqual([186, 159, 76, 106]);
  });
});

test("the nearest face and style of a font are told by its name", () => {
  const look = (name: string, family = "sans-serif") => {
    const { face, isBold, isItalic } = lookOf({ name, family });
    return `${face}${isBold ? " bold" : ""}${isItalic ? " italic" : ""}`;
  };
  expect(look("ABCDEF+Helvetica-BoldOblique")).toBe("Noto Sans bold italic");
  expect(look("NimbusRomNo9L-Medi")).toBe("Noto Sans bold");
  expect(look("NimbusRomNo9L-ReguItal")).toBe("Noto Sans italic");
  expect(look("ABCDEF+CMBX10")).toBe("Noto Sans bold");
  expect(look("SFTI1000")).toBe("Noto Sans italic");
  expect(look("Courier-Bold")).toBe("Noto Sans Mono bold");
  expect(look("Calibri", "monospace")).toBe("Noto Sans Mono");
  expect(look("BrushScriptMT")).toBe("Caveat");
  expect(look("Arial-Medium")).toBe("Noto Sans");
});

describe("colours", () => {
  /** Rows of letters: b background, i ink, m a mixture, o another background. */
  const pixels = (rows: string[], palette: Record<string, number[]>) => {
    const data = rows
      .join("")
      .split("")
      .flatMap((key) => [...(palette[key] ?? []), 255]);
    return colorsIn(Uint8ClampedArray.from(data), rows[0]?.length ?? 0, rows.length);
  };
  const palette = { b: [250, 240, 200], i: [16, 32, 48], m: [130, 130, 120], o: [0, 0, 0] };

  test("of a text on one colour", () => {
    expect(pixels(["bbbbbb", "bmiimb", "bmmmmb", "bbbbbb"], palette)).toEqual({
      background: "#faf0c8",
      ink: "#102030",
    });
  });

  test("of a text on several: white behind it", () => {
    expect(pixels(["bbbooo", "bbiooo", "bbbooo"], palette).background).toBe("#ffffff");
  });
});

test("what stays under a white-out is found, also where it resembles the new text", () => {
  const box = { x: 10, y: 90, width: 90, height: 12 };
  const run = (text: string, x = 10, width = 80): Run => {
    return { text, isRtl: false, matrix: [10, 0, 0, -10, x, 100], width, font: "f" };
  };
  const ours = run("Registered in Basel", 10, 95);
  expect(isLeftUnder(box, [ours], ["Registered in Basel"])).toBe(false);
  expect(isLeftUnder(box, [ours, run("Registered in Bern")], ["Registered in Basel"])).toBe(true);
  expect(isLeftUnder(box, [ours, run("Registered")], ["Registered in Basel"])).toBe(true);
  expect(isLeftUnder(box, [run("Regi", 10, 20), run("stered in Basel", 30, 60)], ["Registered in Basel"])).toBe(false);
  expect(
    isLeftUnder(
      box,
      [run("beside", 120), run("above")].map((one) => ({ ...one, matrix: [10, 0, 0, -10, 120, 60] })),
      [],
    ),
  ).toBe(false);
});

describe("a replaced line", () => {
  const draft: Draft = {
    name: "Lease",
    file: "tfl_1",
    items: [],
    roles: [Role.parse({ name: "Tenant" })],
    variables: [],
    settings: defaultSettings,
  };
  const colors = { background: "#ffffff", ink: "#1a2424" };

  test("is a white-out and a text, changed together and taken back", async () => {
    const { lines } = await readPage(fixture("apps/dashboard/src/sample/agreement-en.pdf"), 1);
    const [, line] = lines;
    if (!line) throw new Error("there is no line");
    const how = { font: { name: "Times-Bold", family: "serif", ascent: 0.8, descent: -0.2 }, colors };
    expect(replaceLine(draft, 1, line, line.text, how)).toBe(draft);
    const once = replaceLine(draft, 1, line, "Lease", how);
    expect(once.items.map(({ type }) => type)).toEqual(["whiteout", "text"]);
    expect(once.items[1]).toMatchObject({
      original: "Consulting agreement",
      weight: "bold",
      size: 25,
      color: "#1a2424",
    });
    expect(replacementOf(once, 1, line)?.text).toBe("Lease");
    expect(replacementOf(once, 2, line)).toBeUndefined();
    const twice = replaceLine(once, 1, line, "Contract", how);
    expect(twice.items).toHaveLength(2);
    expect(twice.items[1]).toMatchObject({ text: "Contract", original: "Consulting agreement" });
    expect(replaceLine(twice, 1, line, "Consulting agreement", how).items).toEqual([]);
  });

  test.each(["apps/dashboard/src/sample/agreement-en.pdf", "test/fixtures/pdf/lecture.pdf"])(
    "takes the place of the old one where the service draws it: %s",
    async (file) => {
      const pdf = fixture(file);
      const { lines, fonts, runs } = await readPage(pdf, 1);
      const chosen = [lines[1], lines[2], lines[3]].filter((line) => line !== undefined);
      const edited = chosen.reduce(
        (now, line, index) => replaceLine(now, 1, line, `Zebra ${index}`, { font: fonts.get(line.font), colors }),
        draft,
      );
      const content = { mode: "overlay" as const, file: "tfl_1", items: [...edited.items] };
      const definition = { ...edited, content, roles: [...edited.roles], variables: [] };
      expect(publishErrors(definition, [{ width: 612, height: 842 }])).toEqual([]);
      const drawings = staticDrawings(content, [], {}, "en");
      const drawn = await stamp({ pdf, drawings, watermark: null, at: "2026-11-26T00:00:00.000Z" });
      if (!drawn.ok) throw new Error(drawn.error.message);
      expect(drawn.value.warnings).toEqual([]);
      const whole = Buffer.concat([pdf, drawn.value.tail]);
      const text = textOf(whole, 1);
      for (const [index, line] of chosen.entries()) {
        expect(text).toContain(`Zebra ${index}`);
        expect(text).not.toContain(line.text);
      }
      // Nothing is left under the first, as the editor finds out; in the original it was.
      const [cover] = edited.items;
      if (!cover) throw new Error("there is no white-out");
      const texts = cover.type === "whiteout" ? textsOn(edited, cover) : [];
      expect(texts).toEqual(["Zebra 0"]);
      expect(isLeftUnder(cover, (await readPage(whole, 1)).runs, texts)).toBe(false);
      expect(isLeftUnder(cover, runs, texts)).toBe(true);
    },
  );
});
