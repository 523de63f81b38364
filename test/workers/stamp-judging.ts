/** Stamps and seals a page and asks renderers that share no code with us, or with each other, what it shows. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "../../workers/inspect.ts";
import type { Box, Drawing } from "../../workers/protocol.ts";
import { seal } from "../../workers/seal/seal.ts";
import { stamp } from "../../workers/stamp.ts";
import type { Authority } from "../harness/authority.ts";
import { whole } from "../harness/pdfs.ts";
import { solidPng } from "../harness/pictures.ts";
import type { StampFixture } from "./stamp-fixtures.ts";

/** The first page of the file at `pdf` as a greymap (PGM, P5) written to `out`. */
export type Renderer = { name: string; draw: (pdf: string, out: string) => void };

/** Renderers complain of broken content and draw what they understood, or nothing. */
export const run = (command: string, ...args: string[]): void => {
  spawnSync(command, args, { stdio: "ignore" });
};

export const poppler: Renderer = {
  name: "poppler",
  draw: (pdf, out) => run("pdftoppm", "-r", "72", "-cropbox", "-gray", "-singlefile", pdf, out.replace(/\.pgm$/, "")),
};
export const mupdf: Renderer = {
  name: "mupdf",
  draw: (pdf, out) => run("mutool", "draw", "-q", "-r", "72", "-c", "gray", "-F", "pgm", "-o", out, pdf, "1"),
};
type Greymap = { width: number; height: number; pixels: Uint8Array };

function greymap(file: string): Greymap | null {
  const image = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  const header = /^P5\s+(?:#.*\s+)?(\d+)\s+(\d+)\s+255\s/.exec(image.toString("latin1", 0, 200));
  if (!header) return null;
  const [width, height] = [Number(header[1]), Number(header[2])];
  return { width, height, pixels: image.subarray(header[0].length) };
}

/** What is wrong with a fixture, nothing when all is well; and the files with their renderings, for whoever wants to look. */
type Judgement = { problems: string[]; files: Record<string, Uint8Array> };

/** Uploads, stamps twice (a black picture and a word, as two people would) and seals, then compares the pages before and after. */
export async function judgeStamp(
  fixture: StampFixture,
  renderers: readonly Renderer[],
  authority: Authority,
  at: string,
): Promise<Judgement> {
  const found = await inspect({ pdf: fixture.pdf, maxPages: 10 });
  const files: Record<string, Uint8Array> = {};
  const judged = (...problems: string[]): Judgement => ({ problems, files });
  if (!found.ok) return judged(...(fixture.outcome === "refused" ? [] : [`refused: ${found.error.message}`]));
  if (fixture.outcome === "refused") return judged("not refused");
  const [page] = found.value.pages;
  if (!page) throw new Error("no page");
  const base = found.value.pdf ?? fixture.pdf;
  const box: Box = { page: 1, x: page.width / 2 - 60, y: page.height / 2 - 30, width: 120, height: 60 };
  const black: Drawing = { kind: "image", image: solidPng(2, 2, [0, 0, 0]), ...box, width: 60 };
  const word: Drawing = { kind: "text", text: "Signed", size: 16, ...box, x: box.x + 60, width: 60 };
  const codes = found.value.warnings.map(({ code }) => code);
  let pdf: Uint8Array = base;
  for (const drawing of [black, word]) {
    const stamped = await stamp({ pdf, drawings: [drawing], watermark: null, at });
    if (!stamped.ok) return judged(`not stamped: ${stamped.error.message}`);
    codes.push(...stamped.value.warnings.map(({ code }) => code));
    pdf = whole(pdf, stamped.value.tail);
  }
  pdf = await sealed(pdf, authority, at);
  const warned = codes.filter((code) => code === "annotation-in-front").length >= 2;
  if (fixture.outcome === "warned") return judged(...(warned ? [] : ["no warning"]));
  const problems = warned ? ["an unfounded warning"] : [];
  const folder = mkdtempSync(join(tmpdir(), "signet-stamps-"));
  try {
    for (const { name, draw } of renderers) {
      const drawn = [fixture.like ?? base, pdf].map((bytes, index) => {
        const [input, out] = [join(folder, `${index}.pdf`), join(folder, `${name}-${index}.pgm`)];
        writeFileSync(input, bytes);
        draw(input, out);
        if (existsSync(out)) files[`${name}-${index}.pgm`] = readFileSync(out);
        return greymap(out);
      });
      problems.push(...compared(drawn, box, page.width).map((problem) => `${name}: ${problem}`));
    }
    Object.assign(files, { "before.pdf": base, "after.pdf": pdf });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return judged(...problems);
}

async function sealed(pdf: Uint8Array, authority: Authority, at: string): Promise<Uint8Array> {
  const about = { at, name: "Acme", reason: "Completed", location: null, fieldName: "Signet.Seal.1" };
  const given = { ...about, pdf, pages: null, certificates: authority.seal.certificates };
  const result = await seal({ ...given, key: "ec-p256", level: "B-B" }, authority.ports());
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return whole(pdf, result.value.tail);
}

/** `box` in points of a page that is `pageWidth` points wide. */
function compared([first, after]: (Greymap | null)[], box: Box, pageWidth: number): string[] {
  if (!after) return ["nothing drawn"];
  // What a renderer could not draw at all may look as it likes.
  const before = first ?? after;
  if (before.width !== after.width || before.height !== after.height) return ["the page's size changed"];
  const scale = after.width / pageWidth;
  const problems: string[] = [];
  let [changed, outside, dark, picture, ink] = [0, 0, 0, 0, 0];
  for (let y = 0; y < after.height; y++) {
    for (let x = 0; x < after.width; x++) {
      const [grey, was] = [after.pixels[y * after.width + x] ?? 0, before.pixels[y * after.width + x] ?? 0];
      const [left, top] = [x / scale - box.x, y / scale - box.y];
      if (left < -2 || top < -2 || left > box.width + 2 || top > box.height + 2) {
        outside++;
        if (Math.abs(grey - was) > 48) changed++;
      } else if (left > 3 && top > 3 && left < box.width / 2 - 3 && top < box.height - 3) {
        picture++;
        if (grey < 24) dark++;
      } else if (left > box.width / 2 + 2 && grey < 100) ink++;
    }
  }
  if (dark < picture * 0.98) problems.push(`the picture shows ${Math.round((100 * dark) / picture)} %`);
  if (ink < 60 * Math.min(1, scale) ** 2) problems.push(`the word shows ${ink} pixels`);
  if (changed > outside * 0.001) problems.push(`${changed} other pixels changed`);
  return problems;
}
