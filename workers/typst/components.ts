/**
 * Text that can be copied as it was written. Fonts for Arabic and Indic scripts draw one letter with several glyphs: a
 * base, and dots or marks that take no room of their own. The typesetter gives each of them the whole letter as its text,
 * so that readers find it twice. Here such glyphs are said to stand for nothing (/ActualText, ISO 32000-1 §14.9.4).
 */
import { deflateSync } from "node:zlib";
import { type Edit, type Operation, readOperations, spliced } from "../pdf/content-stream.ts";
import { fontMetrics } from "../pdf/font-metrics.ts";
import { name, PdfDict, PdfName, type PdfObject, PdfRef, PdfStream, PdfString, textOf } from "../pdf/objects.ts";
import { openPdf, type PdfFile } from "../pdf/reader.ts";
import { ByteWriter, writeObject } from "../pdf/serialize.ts";

/** Whether a glyph of a font, by its code, is a part of a letter that has its base elsewhere. */
type IsPart = (code: number) => boolean;
/** Marked content that is open (§14.6). */
type Marked = { begin: Operation; text: string | null; parts: boolean; others: boolean };

const MAX_CONTENT = 64 * 1024 * 1024;
/** Half the time of the usual level, and a page larger by a few hundred bytes. */
const DEFLATE_LEVEL = 3;
const SILENT = Buffer.from("/Span<</ActualText<FEFF>>>BDC");
/** More than marks and what draws nothing. */
const LETTER = /[^\p{M}\p{Default_Ignorable_Code_Point}]/u;
const IGNORABLE = /^\p{Default_Ignorable_Code_Point}+$/u;

/** @param pdf as the typesetter writes it: Identity-H fonts, one content stream a page, one cross-reference table */
export function silenceParts(pdf: Uint8Array): Uint8Array {
  const file = openPdf(pdf);
  const fonts = new Map<PdfDict, IsPart>();
  const streams = new Map<number, PdfStream>();
  for (const page of file.pages()) {
    const contents = page.dict.get("Contents");
    const stream = file.stream(contents);
    if (!stream || !(contents instanceof PdfRef)) continue;
    const named = file.dict(page.resources?.get("Font"));
    const bytes = file.decode(stream, MAX_CONTENT);
    const edits = editsOf(readOperations(bytes, budget()), (key) => {
      const font = file.dict(named?.get(key));
      if (!font) return () => false;
      const isPart = fonts.get(font) ?? partsOf(file, font);
      fonts.set(font, isPart);
      return isPart;
    });
    if (edits.length === 0) continue;
    const dict = stream.dict.clone().set("Filter", name("FlateDecode")).delete("DecodeParms");
    streams.set(contents.num, new PdfStream(dict, deflateSync(spliced(bytes, edits), { level: DEFLATE_LEVEL })));
  }
  return streams.size === 0 ? pdf : withStreams(pdf, file.startXref, streams);
}

const budget = () => ({ objects: 50_000_000, scan: MAX_CONTENT, inflate: MAX_CONTENT });

const TABLE_ROW = 20;

/** The file with other streams in the places of some, and its cross-reference table set right (ISO 32000-1 §7.5.4). */
function withStreams(pdf: Uint8Array, startXref: number, streams: ReadonlyMap<number, PdfStream>): Uint8Array {
  const tail = Buffer.from(pdf.buffer, pdf.byteOffset + startXref, pdf.byteLength - startXref).toString("latin1");
  const head = /^xref\n0 (\d+)\n/.exec(tail);
  if (!head) throw new Error("the typesetter writes another cross-reference table than is known");
  const rowsEnd = head[0].length + Number(head[1]) * TABLE_ROW;
  const offsets = Array.from({ length: Number(head[1]) }, (_, number) =>
    Number(tail.slice(head[0].length + number * TABLE_ROW, head[0].length + number * TABLE_ROW + 10)),
  );
  const inOrder = [...offsets.entries()].slice(1).sort(([, a], [, b]) => a - b);
  const out = new ByteWriter();
  out.bytes(pdf.subarray(0, inOrder[0]?.[1] ?? startXref));
  const moved: number[] = [];
  for (const [index, [number, offset]] of inOrder.entries()) {
    moved[number] = out.length;
    const stream = streams.get(number);
    if (!stream) out.bytes(pdf.subarray(offset, inOrder[index + 1]?.[1] ?? startXref));
    else {
      out.text(`${number} 0 obj\n`);
      writeObject(out, stream);
      out.text("\nendobj\n\n");
    }
  }
  const xref = out.length;
  const rows = moved.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).slice(1);
  const rest = tail.slice(rowsEnd).replace(/startxref\n\d+/, `startxref\n${xref}`);
  out.text(`${head[0]}0000000000 65535 f \n${rows.join("")}${rest}`);
  return Buffer.from(out.finish());
}

/** Glyphs without width whose text is a letter, or nothing that can be seen. */
function partsOf(file: PdfFile, font: PdfDict): IsPart {
  const { width, codeBytes } = fontMetrics(file, font, budget());
  const stream = file.stream(font.get("ToUnicode"));
  if (codeBytes !== 2 || !stream) return () => false;
  const map = Buffer.from(file.decode(stream, MAX_CONTENT)).toString("latin1");
  const parts = new Set<number>();
  for (const [, code = "", text = ""] of map.matchAll(/<([0-9A-Fa-f]{4})> <((?:[0-9A-Fa-f]{4})+)>/g)) {
    const [glyph, words] = [Number.parseInt(code, 16), Buffer.from(text, "hex").swap16().toString("utf16le")];
    if (width(glyph) === 0 && (LETTER.test(words) || IGNORABLE.test(words))) parts.add(glyph);
  }
  return (code) => parts.has(code);
}

function editsOf(operations: readonly Operation[], fontOf: (key: string) => IsPart): Edit[] {
  const edits: Edit[] = [];
  const open: Marked[] = [];
  let isPart: IsPart = () => false;
  for (const operation of operations) {
    const { operator, operands, start, end } = operation;
    const [first, second] = operands;
    if (operator === "Tf") isPart = first instanceof PdfName ? fontOf(first.value) : () => false;
    else if (operator === "BMC" || operator === "BDC") {
      const actual = second instanceof PdfDict ? second.get("ActualText") : undefined;
      const text = actual instanceof PdfString ? textOf(actual) : null;
      open.push({ begin: operation, text, parts: false, others: false });
    } else if (operator === "EMC") {
      const marked = open.pop();
      if (marked?.text && marked.parts && !marked.others)
        edits.push({ start: marked.begin.start, end: marked.begin.end, bytes: SILENT });
    } else if (operator === "Tj" || operator === "TJ") {
      const items = Array.isArray(first) ? first : [first ?? null];
      const runs = runsOf(items, isPart);
      const span = open.find(({ text }) => text !== null);
      if (span) {
        span.parts ||= runs.some(({ part }) => part);
        span.others ||= runs.some(({ part }) => !part);
      } else if (runs.some(({ part }) => part)) {
        const shown = runs.map(({ part, shown }) => (part ? `${SILENT}[${shown}]TJ EMC` : `[${shown}]TJ`));
        edits.push({ start, end, bytes: Buffer.from(shown.join("\n")) });
      }
    }
  }
  return edits;
}

type Run = { part: boolean; shown: string };

/** What a TJ shows, cut where letters and parts of letters meet; an adjustment belongs to what follows. */
function runsOf(items: readonly PdfObject[], isPart: IsPart): Run[] {
  const runs: Run[] = [];
  let adjustment = "";
  const add = (part: boolean, shown: string): void => {
    const last = runs.at(-1);
    if (last?.part === part) last.shown += adjustment + shown;
    else runs.push({ part, shown: adjustment + shown });
    adjustment = "";
  };
  for (const item of items) {
    if (typeof item === "number") adjustment += `${item} `;
    if (!(item instanceof PdfString)) continue;
    for (let at = 0; at + 1 < item.bytes.length; at += 2) {
      const code = (item.bytes[at] ?? 0) * 256 + (item.bytes[at + 1] ?? 0);
      add(isPart(code), `<${code.toString(16).padStart(4, "0")}>`);
    }
  }
  const last = runs.at(-1);
  if (last) last.shown += adjustment;
  return runs;
}
