/** Which characters a font file can draw: its `cmap` table (OpenType 1.9, chapter cmap), read without loading the font. */
import { closeSync, openSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type FontFamily, type FontStyle, fontFamilies } from "../fonts.ts";

const require = createRequire(import.meta.url);

/** The folder that holds one style of a family and nothing else that is a font. */
export function fontFolder(family: FontFamily, style: FontStyle): string {
  return join(dirname(require.resolve(`@expo-google-fonts/${family.folder}/package.json`)), style);
}

/** Sorted pairs [first, last] of code points. */
type Ranges = Uint32Array;
const cache = new Map<string, Ranges>();

/** Whether the regular style of `family` has a glyph for a code point; false for families that are not shipped. */
export function covers(family: string, codePoint: number): boolean {
  const ranges = rangesOf(family);
  let low = 0;
  let high = ranges.length / 2 - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (codePoint < (ranges[2 * middle] ?? 0)) high = middle - 1;
    else if (codePoint > (ranges[2 * middle + 1] ?? 0)) low = middle + 1;
    else return true;
  }
  return false;
}

function rangesOf(name: string): Ranges {
  const known = cache.get(name);
  if (known) return known;
  const family = fontFamilies.find((candidate) => candidate.family === name);
  const ranges = family
    ? readCoverage(join(fontFolder(family, "400Regular"), `${family.file}_400Regular.ttf`))
    : new Uint32Array();
  cache.set(name, ranges);
  return ranges;
}

function readCoverage(path: string): Ranges {
  const file = openSync(path, "r");
  const read = (offset: number, length: number): DataView => {
    const bytes = new Uint8Array(length);
    readSync(file, bytes, 0, length, offset);
    return new DataView(bytes.buffer);
  };
  try {
    const tables = read(12, 16 * read(0, 12).getUint16(4));
    for (let at = 0; at < tables.byteLength; at += 16) {
      // "cmap"
      if (tables.getUint32(at) === 0x636d6170)
        return readCmap(read(tables.getUint32(at + 8), tables.getUint32(at + 12)));
    }
    throw new Error(`${path} has no cmap table`);
  } finally {
    closeSync(file);
  }
}

function readCmap(table: DataView): Ranges {
  let format4 = 0;
  for (let i = 0, count = table.getUint16(2); i < count; i++) {
    const offset = table.getUint32(8 + 8 * i);
    const format = table.getUint16(offset);
    if (format === 12) return readFormat12(table, offset);
    if (format === 4) format4 = offset;
  }
  return readFormat4(table, format4);
}

function readFormat12(table: DataView, offset: number): Ranges {
  const groups = table.getUint32(offset + 12);
  const ranges = new Uint32Array(groups * 2);
  for (let i = 0; i < groups; i++) {
    ranges[2 * i] = table.getUint32(offset + 16 + 12 * i);
    ranges[2 * i + 1] = table.getUint32(offset + 20 + 12 * i);
  }
  return ranges;
}

function readFormat4(table: DataView, offset: number): Ranges {
  const segments = table.getUint16(offset + 6) / 2;
  const ranges: number[] = [];
  for (let i = 0; i < segments; i++) {
    const end = table.getUint16(offset + 14 + 2 * i);
    const start = table.getUint16(offset + 16 + 2 * (segments + i));
    // The last segment only marks the end.
    if (start !== 0xffff) ranges.push(start, end);
  }
  return Uint32Array.from(ranges);
}
