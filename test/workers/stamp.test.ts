import { readFileSync } from "node:fs";
import { cmyk, degrees, PDFDocument, PDFName, PDFOperator, PDFOperatorNames } from "pdf-lib";
import { describe, expect, it } from "vitest";
import { openPdf } from "../../workers/pdf/reader.ts";
import type { Drawing } from "../../workers/protocol.ts";
import { stamp } from "../../workers/stamp.ts";
import { rawPdf, whole } from "../harness/pdfs.ts";
import { inkPng, pngOfRows, solidPng } from "../harness/pictures.ts";
import { faultsOf, firstPictureOf, type Rendered, render, textOf, wordsOf } from "../harness/rendering.ts";

const AT = "2026-11-21T10:00:00.000Z";
const lecture = readFileSync(new URL("../fixtures/pdf/lecture.pdf", import.meta.url));

async function stamped(pdf: Uint8Array, drawings: Drawing[], watermark: "TEST" | "PREVIEW" | null = null) {
  const result = await stamp({ pdf, drawings, watermark, at: AT });
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  const { tail, ...rest } = result.value;
  const out = { pdf: whole(pdf, tail), ...rest };
  expect(faultsOf(out.pdf)).toBe("");
  return out;
}

type Shape = { rotation: number; media: [number, number, number, number]; crop?: [number, number, number, number] };

/** One page whose content leaves the graphics state in disorder: a transformation, saves without restores. */
async function pageOf({ rotation, media, crop }: Shape, disorder: PDFOperator[] = []): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const page = document.addPage();
  page.setMediaBox(media[0], media[1], media[2] - media[0], media[3] - media[1]);
  if (crop) page.setCropBox(crop[0], crop[1], crop[2] - crop[0], crop[3] - crop[1]);
  page.setRotation(degrees(rotation));
  page.pushOperators(...disorder);
  return document.save({ useObjectStreams: rotation % 180 === 0 });
}

const op = (name: PDFOperatorNames, ...args: string[]) =>
  PDFOperator.of(
    name,
    args.map((arg) => ({ toString: () => arg }) as never),
  );

describe("where drawings land", () => {
  const shapes: [string, Omit<Shape, "rotation">][] = [
    ["plain page", { media: [0, 0, 300, 400] }],
    ["crop box with an offset", { media: [0, 0, 500, 600], crop: [100, 150, 400, 550] }],
    ["negative media box", { media: [-200, -300, 100, 100] }],
    ["crop box beyond the media box", { media: [10, 20, 310, 420], crop: [-50, -50, 900, 900] }],
  ];
  for (const [name, shape] of shapes) {
    it.each([0, 90, 180, 270])(`${name}, rotated by %d`, async (rotation) => {
      const pdf = await pageOf({ ...shape, rotation });
      const box = { page: 1, x: 40, y: 30, width: 60, height: 20 };
      const black = solidPng(30, 10, [0, 0, 0]);
      const { pdf: out } = await stamped(pdf, [
        { kind: "image", image: black, ...box },
        { kind: "whiteout", color: "#000000", ...box, y: 100 },
        { kind: "text", text: "Landing", size: 12, page: 1, x: 120, y: 60, width: 100, height: 20 },
      ]);
      const image = render(out, 1);
      expect([image.width, image.height]).toEqual(rotation % 180 === 0 ? [300, 400] : [400, 300]);
      for (const y of [30, 100]) {
        expect(image.at(41, y + 1)).toBeLessThan(40);
        expect(image.at(98, y + 18)).toBeLessThan(40);
        for (const [x, outside] of [
          [37, y + 10],
          [103, y + 10],
          [70, y - 3],
          [70, y + 23],
        ] as const) {
          expect(image.at(x, outside)).toBeGreaterThan(220);
        }
      }
      const word = wordsOf(out, 1).find((found) => found.text === "Landing");
      expect(word?.x).toBeCloseTo(120, 0);
      expect(word?.y).toBeGreaterThan(58);
      expect(word?.bottom).toBeLessThan(83);
    });
  }

  it("is not moved by what the page's own content leaves behind", async () => {
    const disorders = [
      [op(PDFOperatorNames.ConcatTransformationMatrix, "3", "0", "0", "3", "50", "50")],
      [
        op(PDFOperatorNames.PushGraphicsState),
        op(PDFOperatorNames.ConcatTransformationMatrix, "2", "1", "0", "2", "9", "9"),
      ],
      [
        op(PDFOperatorNames.PopGraphicsState),
        op(PDFOperatorNames.ConcatTransformationMatrix, "2", "0", "0", "2", "9", "9"),
      ],
    ];
    for (const disorder of disorders) {
      const pdf = await pageOf({ rotation: 0, media: [0, 0, 300, 400] }, disorder);
      const first = await stamped(pdf, [
        { kind: "whiteout", color: "#000000", page: 1, x: 40, y: 30, width: 60, height: 20 },
      ]);
      const second = await stamped(first.pdf, [{ kind: "dot", page: 1, x: 200, y: 300, width: 20, height: 20 }]);
      const image = render(second.pdf, 1);
      expect([image.at(42, 32), image.at(97, 47), image.at(210, 310)].every((grey) => grey < 40)).toBe(true);
      expect([image.at(36, 40), image.at(104, 40), image.at(196, 310)].every((grey) => grey > 220)).toBe(true);
    }
  });

  it("keeps the order of the drawings, text over a white-out over the page", async () => {
    const document = await PDFDocument.create();
    document.addPage([200, 200]).drawRectangle({ x: 0, y: 0, width: 200, height: 200, color: cmyk(0, 0, 0, 1) });
    const { pdf, warnings } = await stamped(await document.save(), [
      { kind: "whiteout", page: 1, x: 20, y: 20, width: 160, height: 60 },
      { kind: "image", image: solidPng(2, 2, [0, 0, 0]), page: 1, x: 30, y: 30, width: 40, height: 40 },
      { kind: "whiteout", page: 1, x: 40, y: 40, width: 20, height: 20 },
    ]);
    const image = render(pdf, 1);
    expect(image.at(10, 10)).toBeLessThan(60);
    expect(image.at(25, 50)).toBeGreaterThan(240);
    expect(image.at(35, 50)).toBeLessThan(20);
    expect(image.at(50, 50)).toBeGreaterThan(240);
    expect(warnings.map(({ code, count }) => [code, count])).toEqual([["text-under-whiteout", 1]]);
  });
});

describe("text", () => {
  const box = { page: 1, x: 50, y: 60, width: 120, height: 24 };
  const blank = () => pageOf({ rotation: 0, media: [0, 0, 400, 400] });

  it("aligns left, centre and right", async () => {
    const { pdf } = await stamped(await blank(), [
      { kind: "text", text: "Left", align: "left", ...box },
      { kind: "text", text: "Middle", align: "center", ...box, y: 100 },
      { kind: "text", text: "Right", align: "right", ...box, y: 140 },
    ]);
    const words = new Map(wordsOf(pdf, 1).map((word) => [word.text, word]));
    expect(words.get("Left")?.x).toBeCloseTo(50, 0);
    expect(((words.get("Middle")?.x ?? 0) + (words.get("Middle")?.right ?? 0)) / 2).toBeCloseTo(110, 0);
    expect(words.get("Right")?.right).toBeCloseTo(170, 0);
  });

  it("puts the first baseline where it is asked for", async () => {
    const { pdf } = await stamped(await blank(), [{ kind: "text", text: "HHHH", size: 20, baseline: 18, ...box }]);
    const image = render(pdf, 1);
    // Capital H has no depth: ink just above the baseline, none below.
    const ink = (y: number): number => Math.min(...Array.from({ length: 60 }, (_, x) => image.at(50 + x, y)));
    expect(ink(60 + 16)).toBeLessThan(100);
    expect(ink(60 + 19)).toBeGreaterThan(220);
  });

  it("does not warn of an empty field's label that its small box cannot show", async () => {
    const checkbox = { page: 1, x: 64, y: 60, width: 14, height: 14 };
    const label = "May be named as a reference";
    const { warnings } = await stamped(await blank(), [{ kind: "placeholder", label, ...checkbox }]);
    expect(warnings).toEqual([]);
  });

  it("wraps several lines inside the box", async () => {
    const text = "One two three four five six seven\nand a new line";
    const { pdf } = await stamped(await blank(), [
      { kind: "text", text, multiline: true, size: 10, padding: 3, ...box, height: 100 },
    ]);
    const words = wordsOf(pdf, 1);
    expect(words.every((word) => word.x >= 52.5 && word.right <= 168)).toBe(true);
    expect(new Set(words.map((word) => Math.round(word.y))).size).toBe(3);
  });

  it("sets one character a cell", async () => {
    const { pdf } = await stamped(await blank(), [{ kind: "text", text: "IW7", cells: 4, ...box }]);
    const image = render(pdf, 1);
    const ink = (cell: number): boolean => {
      const columns = Array.from({ length: 30 }, (_, x) => 50 + cell * 30 + x);
      return columns.some((x) => Array.from({ length: 24 }, (_, y) => image.at(x, 60 + y)).some((grey) => grey < 128));
    };
    expect([0, 1, 2, 3].map(ink)).toEqual([true, true, true, false]);
  });

  it("sets every script that a font is shipped for, and a visible substitute for the rest", async () => {
    const samples = [
      "Grüße Łódź Ελλάδα Привет",
      "שלום עולם",
      "مرحبا بالعالم",
      "नमस्ते",
      "สวัสดี",
      "你好世界",
      "こんにちは",
      "안녕하세요",
    ];
    const drawings = samples.map((text, index) => ({
      kind: "text" as const,
      text,
      ...box,
      width: 300,
      y: 20 + index * 30,
    }));
    const { pdf, warnings } = await stamped(await blank(), drawings);
    expect(warnings).toEqual([]);
    const found = textOf(pdf, 1).normalize("NFKC");
    for (const text of ["Grüße Łódź Ελλάδα Привет", "สวัสดี", "你好世界", "こんにちは", "안녕하세요"])
      expect(found).toContain(text);
    const odd = await stamped(await blank(), [{ kind: "text", text: "ok \u{12000}\u{12001}", ...box }]);
    expect(odd.warnings).toContainEqual(expect.objectContaining({ code: "missing-glyphs", page: 1, count: 2 }));
  });

  it("never takes text for markup", async () => {
    const text = '#panic("x") $x^2$ *bold* @ref \\ #sys.inputs [a] `raw` // no';
    const { pdf } = await stamped(await blank(), [
      { kind: "text", text, multiline: true, ...box, width: 300, height: 60 },
    ]);
    expect(textOf(pdf, 1).replace(/\s+/g, " ").trim()).toBe(text);
  });
});

describe("pictures and signatures", () => {
  it("keeps proportions and transparency", async () => {
    const pdf = await pageOf({ rotation: 0, media: [0, 0, 200, 200] }, []);
    const ink = inkPng(100, 40, 1);
    const { pdf: out } = await stamped(pdf, [
      { kind: "whiteout", color: "#cccccc", page: 1, x: 0, y: 0, width: 200, height: 200 },
      { kind: "image", image: ink, page: 1, x: 50, y: 20, width: 100, height: 160 },
      { kind: "image", image: ink, page: 1, x: 0, y: 0, width: 10, height: 10 },
    ]);
    const image = render(out, 1);
    const rows = Array.from({ length: 200 }, (_, y) =>
      Math.min(...Array.from({ length: 100 }, (__, x) => image.at(50 + x, y))),
    );
    const dark = rows.flatMap((grey, y) => (grey < 100 && y > 15 ? [y] : []));
    expect(Math.min(...dark)).toBeGreaterThan(80);
    expect(Math.max(...dark)).toBeLessThan(120);
    expect(image.at(60, 30)).toBe(204);
  });

  it("reads every kind of PNG", async () => {
    const pdf = await pageOf({ rotation: 0, media: [0, 0, 200, 200] });
    const grey = pngOfRows(8, 2, 1, 0, Uint8Array.of(0x0f, 0x0f));
    const deep = pngOfRows(1, 1, 16, 2, Uint8Array.of(0, 0, 0, 0, 0, 0));
    const greyAlpha = pngOfRows(2, 1, 8, 4, Uint8Array.of(0, 255, 0, 0));
    const images = [grey, deep, greyAlpha];
    const { pdf: out } = await stamped(
      pdf,
      images.map((image, index) => ({
        kind: "image" as const,
        image,
        page: 1,
        x: 0,
        y: index * 50,
        width: 40,
        height: 40,
      })),
    );
    const image = render(out, 1);
    expect(image.at(5, 20)).toBeLessThan(30);
    expect(image.at(35, 20)).toBeGreaterThan(220);
    expect(image.at(20, 70)).toBeLessThan(30);
    expect([image.at(8, 120), image.at(32, 120)]).toEqual([0, 255]);
  });

  it("draws a JPEG as it is", async () => {
    const photo = firstPictureOf(lecture);
    const pdf = await pageOf({ rotation: 0, media: [0, 0, 200, 200] });
    const { pdf: out } = await stamped(pdf, [
      { kind: "image", image: photo, page: 1, x: 20, y: 20, width: 160, height: 160 },
    ]);
    expect(Buffer.from(out).includes(photo)).toBe(true);
    const image = render(out, 1);
    const greys = Array.from({ length: 100 }, (_, x) => image.at(50 + x, 100));
    expect(new Set(greys).size).toBeGreaterThan(10);
    expect(image.at(100, 15)).toBe(255);
  });

  // Exif 2.3 §4.6.4: where a stored pixel (row, column) is seen, as (across, down), all from 0 to 1.
  const seen: ((row: number, column: number) => [number, number])[] = [
    (row, column) => [column, row],
    (row, column) => [1 - column, row],
    (row, column) => [1 - column, 1 - row],
    (row, column) => [column, 1 - row],
    (row, column) => [row, column],
    (row, column) => [1 - row, column],
    (row, column) => [1 - row, 1 - column],
    (row, column) => [row, 1 - column],
  ];
  it("turns a photo as its camera was held", async () => {
    const photo = firstPictureOf(lecture);
    const pdf = await pageOf({ rotation: 0, media: [0, 0, 200, 200] });
    const looks = [];
    for (let orientation = 1; orientation <= 8; orientation++) {
      const exif = Buffer.from(
        `ffe1001e${Buffer.from("Exif\0\0").toString("hex")}49492a00080000000100120103000100000000000000`,
        "hex",
      );
      exif[28] = orientation;
      const image = Buffer.concat([photo.subarray(0, 2), exif, photo.subarray(2)]);
      looks.push(
        render((await stamped(pdf, [{ kind: "image", image, page: 1, x: 0, y: 0, width: 200, height: 200 }])).pdf, 1),
      );
    }
    const [upright] = looks;
    const filled = Array.from({ length: 200 }, (_, y) => y).filter((y) => upright && upright.at(100, y) < 250);
    const half = ((filled.at(-1) ?? 0) - (filled[0] ?? 0) + 1) / 200 / 2;
    const errors = looks.map((look) => seen.map((_, guess) => difference(look, guess)));
    // Each picture is most like itself turned by its own rule.
    expect(errors.map((row) => row.indexOf(Math.min(...row)) + 1)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);

    function difference(look: Rendered, guess: number): number {
      const [w, h] = guess < 4 ? [0.5, half] : [half, 0.5];
      let error = 0;
      for (let row = 0.025; row < 1; row += 0.05) {
        for (let column = 0.025; column < 1; column += 0.05) {
          const [across = 0, down = 0] = seen[guess]?.(row, column) ?? [];
          const at = look.at(100 + (across - 0.5) * 400 * w, 100 + (down - 0.5) * 400 * h);
          error += Math.abs(at - (upright?.at(column * 200, 100 + (row - 0.5) * 400 * half) ?? 0));
        }
      }
      return error;
    }
  });

  it("refuses what is no sound picture, with the page", async () => {
    const good = inkPng(60, 30, 1);
    for (const bad of [
      Buffer.from("GIF89a"),
      good.subarray(0, good.length - 60),
      new Uint8Array(),
      Buffer.from("\xff\xd8\xff\xe0nonsense", "latin1"),
    ]) {
      const result = await stamp({
        pdf: lecture,
        drawings: [{ kind: "image", image: bad, page: 2, x: 0, y: 0, width: 10, height: 10 }],
        watermark: null,
        at: AT,
      });
      expect(result).toMatchObject({ ok: false, error: { code: "bad-image", detail: { page: 2 } } });
    }
  });

  it("draws a picture that an earlier version accepted, and refuses the same one where it is new", async () => {
    const image = Buffer.from(inkPng(60, 30, 1));
    // Within the checksum of the end.
    image.writeUInt8(image.readUInt8(image.length - 1) ^ 1, image.length - 1);
    const drawings: Drawing[] = [{ kind: "image", image, page: 1, x: 0, y: 0, width: 10, height: 10 }];
    const input = { pdf: lecture, drawings, watermark: null, at: AT };
    expect(await stamp(input)).toMatchObject({ ok: true });
    expect(await stamp({ ...input, newPictures: true })).toMatchObject({ ok: false, error: { code: "bad-image" } });
  });

  it("sets a typed signature to fill its box and never beyond", async () => {
    const box = { page: 1, x: 100, y: 100, width: 160, height: 50 };
    for (const font of ["Caveat", "Dancing Script", "Great Vibes", "Homemade Apple"]) {
      const pdf = await pageOf({ rotation: 0, media: [0, 0, 400, 300] });
      const image = render((await stamped(pdf, [{ kind: "script", text: "Jane Fügmann", font, ...box }])).pdf, 1);
      const dark: [number, number][] = [];
      for (let y = 0; y < 300; y++) for (let x = 0; x < 400; x++) if (image.at(x, y) < 160) dark.push([x, y]);
      const [xs, ys] = [dark.map(([x]) => x), dark.map(([, y]) => y)];
      expect(Math.min(...xs)).toBeGreaterThanOrEqual(99);
      expect(Math.max(...xs)).toBeLessThanOrEqual(260);
      expect(Math.min(...ys)).toBeGreaterThanOrEqual(99);
      expect(Math.max(...ys)).toBeLessThanOrEqual(150);
      expect(Math.max(...xs) - Math.min(...xs) > 100 || Math.max(...ys) - Math.min(...ys) > 38).toBe(true);
    }
    const unknown = await stamp({
      pdf: lecture,
      drawings: [{ kind: "script", text: "x", font: "Comic", ...box }],
      watermark: null,
      at: AT,
    });
    expect(unknown).toMatchObject({ ok: false, error: { code: "missing-font" } });
  });
});

describe("a real document", () => {
  it("takes three revisions on top of each other, each the beginning of the next", async () => {
    const first = await stamped(
      lecture,
      [{ kind: "text", text: "Tenant", page: 3, x: 50, y: 50, width: 100, height: 20 }],
      "TEST",
    );
    const second = await stamped(first.pdf, [
      { kind: "check", page: 3, x: 50, y: 80, width: 14, height: 14 },
      { kind: "script", text: "Jo", font: "Caveat", page: 8, x: 50, y: 700, width: 100, height: 40 },
    ]);
    const third = await stamped(second.pdf, [
      { kind: "placeholder", label: "Signature", page: 8, x: 250, y: 700, width: 100, height: 40 },
    ]);
    expect(third.pageCount).toBe(8);
    // The watermark's letters lie aslant, so its ink is looked for instead of its text.
    const [plain, marked] = [render(lecture, 8), render(third.pdf, 8)];
    expect(
      Array.from({ length: 400 }, (_, step) => 100 + step).some(
        (y) => plain.at(300, y) === 255 && marked.at(300, y) < 250,
      ),
    ).toBe(true);
    expect(textOf(third.pdf, 3)).toContain("Tenant");
    expect(textOf(third.pdf, 8)).toContain("Signature");
    expect(textOf(third.pdf, 1)).toContain("Syntax versus Semantik");
  });

  it("gives the same bytes for the same input", async () => {
    const drawings: Drawing[] = [{ kind: "text", text: "Same", page: 1, x: 50, y: 50, width: 100, height: 20 }];
    const [one, two] = [await stamped(lecture, drawings), await stamped(lecture, drawings)];
    expect(Buffer.from(one.pdf).equals(two.pdf)).toBe(true);
  });

  it("refuses a page that does not exist and bytes that are no PDF", async () => {
    const box = { x: 0, y: 0, width: 10, height: 10 };
    expect(
      await stamp({ pdf: lecture, drawings: [{ kind: "dot", page: 9, ...box }], watermark: null, at: AT }),
    ).toMatchObject({ ok: false, error: { code: "page-out-of-range" } });
    expect(await stamp({ pdf: Buffer.from("%PDF-1.7 nothing"), drawings: [], watermark: null, at: AT })).toMatchObject({
      ok: false,
      error: { code: "damaged" },
    });
  });
});

describe("pages that share their resources", () => {
  type Sharing = { resources: string; node?: string; objects?: Record<number, string> };
  const names = (count: number): string =>
    `<<${Array.from({ length: count }, (_, index) => `/I${index} 4 0 R`).join("")}>>`;
  // What each page says, what the node above says, and what they refer to.
  const ways: [string, (xObjects: string) => Sharing][] = [
    ["as one object", (xObjects) => ({ resources: "/Resources 5 0 R", objects: { 5: `<</XObject${xObjects}>>` } })],
    ["from the page tree", (xObjects) => ({ resources: "", node: `/Resources<</XObject${xObjects}>>` })],
    ["in part", (xObjects) => ({ resources: "/Resources<</XObject 5 0 R>>", objects: { 5: xObjects } })],
  ];

  function sharing(count: number, { resources, node = "", objects = {} }: Sharing, content = "/I1 Do"): Uint8Array {
    const pages = Array.from({ length: count }, (_, index) => 10 + index);
    const page = `<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 400]${resources}/Contents 3 0 R>>`;
    const kids = pages.map((num) => `${num} 0 R`).join(" ");
    return rawPdf({
      1: "<</Type/Catalog/Pages 2 0 R>>",
      2: `<</Type/Pages/Kids[${kids}]/Count ${count}${node}>>`,
      3: `<</Length ${content.length}>>stream\n${content}\nendstream`,
      4: "<</Type/XObject/Subtype/Form/BBox[0 0 1 1]/Length 0>>stream\n\nendstream",
      ...objects,
      ...Object.fromEntries(pages.map((num) => [num, page])),
    });
  }

  const box = { x: 100, y: 100, width: 100, height: 100 };
  const picture = (page: number, image: Uint8Array): Drawing => ({ kind: "image", image, page, ...box });

  it.each(ways)("%s each show their own drawings", async (_, way) => {
    const [black, grey] = [solidPng(10, 10, [0, 0, 0]), solidPng(10, 10, [128, 128, 128])];
    const { pdf: once } = await stamped(sharing(3, way(names(3))), [picture(1, black), picture(2, grey)]);
    const { pdf } = await stamped(once, [{ ...picture(2, black), y: 250 }]);
    const shades = [1, 2, 3].map((page) => [150, 300].map((y) => render(pdf, page).at(150, y)));
    expect(shades).toEqual([
      [0, 255],
      [128, 0],
      [255, 255],
    ]);
  });

  it.each(ways)("%s, thousands of them, can be drawn on again and again", async (_, way) => {
    const image = solidPng(10, 10, [0, 0, 0]);
    let pdf = sharing(500, way(names(4000)));
    const drawings = Array.from({ length: 500 }, (_, index) => picture(index + 1, image));
    for (let revision = 1; revision <= 3; revision++) {
      const result = await stamp({ pdf, drawings, watermark: null, at: AT });
      if (!result.ok) throw new Error(`revision ${revision}: ${result.error.code}`);
      expect(result.value.tail.length).toBeLessThan(1_000_000);
      pdf = whole(pdf, result.value.tail);
    }
  });

  it("cannot draw what others put on them a second time, by names that could be foreseen", async () => {
    const foreseen = Array.from({ length: 60 }, (_, num) => `/Stamp${num} Do`).join(" ");
    const shared = { resources: "/Resources 5 0 R", objects: { 5: `<</XObject${names(3)}>>` } };
    const before = sharing(2, shared, `q 300 0 0 100 0 0 cm ${foreseen} Q`);
    const drawings = [1, 2].map((page) => ({ ...picture(page, solidPng(10, 10, [0, 0, 0])), y: 100 * page }));
    const { pdf } = await stamped(before, drawings);
    // At the bottom of the pages is what their content could draw.
    const shades = [1, 2].map((page) => [150, 250, 350].map((y) => render(pdf, page).at(150, y)));
    expect(shades).toEqual([
      [0, 255, 255],
      [255, 0, 255],
    ]);
  });

  it("can be drawn on though the annotations are more than can be read", async () => {
    // Three times 2.2 million units beside 0.9 million that are needed.
    const junk = (units: number): string => `[${"[]".repeat(units / 3)}]`;
    const notes = [20, 21, 22].map((num) => [num, `<</Subtype/Text/Rect[0 0 9 9]/X${junk(2_200_000)}>>`]);
    const resources = "/Annots[20 0 R 21 0 R 22 0 R]/Resources<</XObject 5 0 R>>";
    const objects = { 5: `<</X${junk(900_000)}>>`, ...Object.fromEntries(notes) };
    const drawings = [1, 2].map((page) => picture(page, solidPng(10, 10, [0, 0, 0])));
    const pdf = sharing(2, { resources, objects });
    expect(await stamp({ pdf, drawings, watermark: null, at: AT })).toMatchObject({ ok: true });
  });

  it("of which earlier versions left a copy in every page can still be drawn on", async () => {
    // 2.8 million units: more than an upload's pages may need.
    const copy = `/Resources<</XObject${names(3)}/Copied[${"[]".repeat(1800)}]>>`;
    const pdf = sharing(500, { resources: copy });
    const result = await stamp({ pdf, drawings: [{ kind: "check", page: 1, ...box }], watermark: null, at: AT });
    expect(result.ok).toBe(true);
  });
});

it("drops a certification that the drawing would break, and keeps every byte under it", async () => {
  const document = await PDFDocument.create();
  document.addPage();
  document.catalog.set(PDFName.of("Perms"), document.context.obj({ DocMDP: document.context.obj({}) }));
  const certified = await document.save({ useObjectStreams: false });
  const { pdf } = await stamped(certified, [{ kind: "check", page: 1, x: 10, y: 10, width: 10, height: 10 }]);
  expect(openPdf(certified).catalog.has("Perms")).toBe(true);
  expect(openPdf(pdf).catalog.has("Perms")).toBe(false);
  expect(Buffer.compare(pdf.subarray(0, certified.length), certified)).toBe(0);
});
