/** Draws pages with poppler, which shares no code with us, and reads the pixels. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** One pixel a point; `at` takes points from the top left corner of the displayed page and gives 0 (black) to 255. */
export type Rendered = { width: number; height: number; at: (x: number, y: number) => number };

function withFile<T>(pdf: Uint8Array, use: (path: string, folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "signet-pdf-"));
  try {
    const path = join(folder, "in.pdf");
    writeFileSync(path, pdf);
    return use(path, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function render(pdf: Uint8Array, page: number): Rendered {
  return withFile(pdf, (path, folder) => {
    const range = ["-f", String(page), "-l", String(page), "-singlefile"];
    execFileSync("pdftoppm", ["-r", "72", "-cropbox", "-gray", ...range, path, join(folder, "out")], { stdio: "pipe" });
    const image = readFileSync(join(folder, "out.pgm"));
    const header = /^P5\s+(\d+)\s+(\d+)\s+255\s/.exec(image.toString("latin1", 0, 40));
    if (!header) throw new Error("pdftoppm wrote no greymap");
    const [width, height] = [Number(header[1]), Number(header[2])];
    const at = (x: number, y: number): number => image[header[0].length + Math.floor(y) * width + Math.floor(x)] ?? -1;
    return { width, height, at };
  });
}

/** The text of one page, or of all. */
export function textOf(pdf: Uint8Array, page?: number): string {
  const range = page === undefined ? [] : ["-f", String(page), "-l", String(page)];
  return withFile(pdf, (path) => execFileSync("pdftotext", [...range, path, "-"], { encoding: "utf8" }));
}

/** The same, as MuPDF reads it. */
export function mutoolTextOf(pdf: Uint8Array): string {
  const args = ["draw", "-q", "-F", "text"];
  return withFile(pdf, (path) => execFileSync("mutool", [...args, path], { encoding: "utf8", stdio: "pipe" }));
}

export type Word = { text: string; x: number; y: number; right: number; bottom: number };

/** The words of a page with their boxes, in points from the top left corner of the displayed page. */
export function wordsOf(pdf: Uint8Array, page: number): Word[] {
  return withFile(pdf, (path) => {
    const args = ["-bbox", "-cropbox", "-f", String(page), "-l", String(page), path, "-"];
    const xml = execFileSync("pdftotext", args, { encoding: "utf8" });
    const word = /<word xMin="([\d.-]+)" yMin="([\d.-]+)" xMax="([\d.-]+)" yMax="([\d.-]+)">([^<]*)<\/word>/g;
    return [...xml.matchAll(word)].map(([, x, y, right, bottom, text]) => {
      return { text: text ?? "", x: Number(x), y: Number(y), right: Number(right), bottom: Number(bottom) };
    });
  });
}

/** What qpdf finds wrong; empty for a sound file. */
export function faultsOf(pdf: Uint8Array): string {
  return withFile(pdf, (path) => {
    try {
      const out = execFileSync("qpdf", ["--check", path], { encoding: "utf8", stdio: "pipe" });
      return out.includes("No syntax or stream encoding errors found") ? "" : out;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  });
}

/** Runs qpdf over a file and gives the result. */
export function qpdf(pdf: Uint8Array, ...args: string[]): Uint8Array {
  return withFile(pdf, (path, folder) => {
    const out = join(folder, "out.pdf");
    execFileSync("qpdf", ["--allow-weak-crypto", path, ...args, out], { stdio: "pipe" });
    return readFileSync(out);
  });
}

/** The first JPEG picture in a PDF, as it is stored. */
export function firstPictureOf(pdf: Uint8Array): Buffer {
  return withFile(pdf, (path, folder) => {
    execFileSync("pdfimages", ["-j", path, join(folder, "picture")], { stdio: "pipe" });
    const name = readdirSync(folder)
      .sort()
      .find((entry) => entry.endsWith(".jpg"));
    if (!name) throw new Error("the PDF holds no JPEG");
    return readFileSync(join(folder, name));
  });
}
