/**
 * Marked content (ISO 32000-1 §14.6) that forms, patterns, glyphs and soft masks leave open: in MuPDF, poppler and Ghostscript a
 * layer that began in one of them goes on behind it.
 */
import { decoded } from "./content-data.ts";
import { scanContent } from "./content-scan.ts";
import { type PdfDict, PdfError, type PdfObject, type PdfStream } from "./objects.ts";
import type { Budget } from "./parser.ts";
import type { PdfFile } from "./reader.ts";

/** Whether marked content may be open behind what a page draws with; `unknown` when that is too much to be read. */
type Marks = "none" | "open" | "unknown";
/** What the file's pages draw with, as far as it was looked at. */
export type Drawn = {
  /** Of its own: what the pages' content needs is not spent on what most of them never draw. */
  budget: Budget;
  /** Bytes of one stream, decoded. */
  largest: number;
  streams: Set<PdfStream>;
  /** By what is listed in them. */
  lists: Map<string, Set<PdfDict>>;
  /** Of all of it: what one page draws with, others may. */
  marks: Marks;
};

const BEGINNINGS_OF_MARKS = ["BMC", "BDC"];

/** Nothing looked at yet, and what may be decoded for it: `total` bytes, of one stream at most `largest`. */
export const nothingDrawn = (largest: number, total: number): Drawn => ({
  budget: { objects: 0, scan: 0, inflate: total },
  largest,
  streams: new Set(),
  lists: new Map(),
  marks: "none",
});

/** As `marksOfDrawn`, but never fails because of what is in the file: what cannot be read is unknown. */
export function marksAsFarAsRead(file: PdfFile, resources: PdfDict | null, drawn: Drawn): Marks {
  try {
    return marksOfDrawn(file, resources, drawn);
  } catch (error) {
    if (!(error instanceof PdfError)) throw error;
    drawn.marks = "unknown";
    return "unknown";
  }
}

/**
 * Of all that content with these resources may draw, with the resources of that, and of what was looked at for other pages.
 * @throws PdfError for objects that cannot be read
 */
export function marksOfDrawn(file: PdfFile, resources: PdfDict | null, drawn: Drawn): Marks {
  const waiting = [resources];
  while (waiting.length > 0 && drawn.marks !== "open") {
    const { streams, fonts } = drawnWith(file, waiting.pop() ?? null, drawn);
    for (const font of fonts) waiting.push(file.dict(font.get("Resources")));
    for (const stream of streams) {
      if (drawn.streams.has(stream)) continue;
      drawn.streams.add(stream);
      waiting.push(file.dict(stream.dict.get("Resources")));
      const marks = ownMarks(file, stream, drawn);
      if (marks !== "none") drawn.marks = marks;
      if (marks === "open") break;
    }
  }
  return drawn.marks;
}

function ownMarks(file: PdfFile, stream: PdfStream, { budget, largest }: Drawn): Marks {
  const bytes = decoded(file, stream, budget, largest);
  // What readers decode in different ways may hold anything.
  if (typeof bytes === "string") return bytes === "unclear" ? "open" : "unknown";
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (!BEGINNINGS_OF_MARKS.some((operator) => buffer.includes(operator, 0, "latin1"))) return "none";
  const ending = scanContent(bytes, budget);
  // Unlike a page's content it is not completed.
  if (typeof ending === "string" || ending.completed || ending.closing.includes("EMC")) return "open";
  return ending.unsureEnds > 0 ? "unknown" : "none";
}

/** Forms, patterns, soft masks and glyphs, from lists that were not looked at yet. */
function drawnWith(file: PdfFile, resources: PdfDict | null, { lists }: Drawn) {
  const listed = (owner: PdfDict | null, kind: string): PdfObject[] => {
    const list = file.dict(owner?.get(kind));
    const seen = lists.get(kind) ?? new Set();
    lists.set(kind, seen);
    if (!list || seen.has(list)) return [];
    seen.add(list);
    return [...list.map.values()];
  };
  const states = listed(resources, "ExtGState").flatMap((item) => file.dict(item) ?? []);
  const fontOf = (state: PdfDict): PdfObject => {
    const font = file.resolve(state.get("Font"));
    return Array.isArray(font) ? (font[0] ?? null) : null;
  };
  const fonts = [...listed(resources, "Font"), ...states.map(fontOf)].flatMap((item) => file.dict(item) ?? []);
  const items = [
    ...listed(resources, "XObject").filter((item) => file.name(file.stream(item)?.dict.get("Subtype")) === "Form"),
    ...listed(resources, "Pattern"),
    ...states.map((state) => file.dict(state.get("SMask"))?.get("G")),
    ...fonts.flatMap((font) => listed(font, "CharProcs")),
  ];
  return { streams: items.flatMap((item) => file.stream(item) ?? []), fonts };
}
