/** The lines of a page, made of the runs of text that its PDF is written in. Pure. Lengths in points, from the top left corner of the page as displayed. */

/** A run as pdfjs reads it, with its place on the page as displayed. */
export type Run = {
  text: string;
  isRtl: boolean;
  /** From text space to the page: `[a, b, c, d, x, y]`, y pointing down. */
  matrix: readonly number[];
  width: number;
  /** Key of `fonts`. */
  font: string;
};
export type FontLook = {
  /** Its name in the PDF, if it has one. */
  name: string;
  family: string;
  /** Of its size; what is nonsense is put right. */
  ascent: number;
  descent: number;
};

export type TextLine = {
  text: string;
  x: number;
  /** Its y. */
  baseline: number;
  width: number;
  size: number;
  /** Above and below the baseline, both positive. */
  ascent: number;
  descent: number;
  font: string;
  isRtl: boolean;
  /** How wide a text may be before it meets what follows on its line. */
  room: number;
};

/** Of its size: runs that are further apart stand for themselves, as in columns and forms. */
const wideGap = 1.5;
/** Of its size: from here on a gap is a blank. */
const blank = 0.15;
/** Between the end of a text and what follows, or the edge of the page. */
const margin = 4;

type Piece = { run: Run; x: number; y: number; size: number };

/** Lines that read from left to right or right to left as the page is displayed; what is turned stays out. */
export function linesOf(runs: readonly Run[], fonts: ReadonlyMap<string, FontLook>, pageWidth: number): TextLine[] {
  const pieces = runs.flatMap((run): Piece[] => {
    const [a = 0, b = 0, c = 0, d = 0, x = 0, y = 0] = run.matrix;
    const size = Math.hypot(c, d);
    const isUpright = Math.abs(b) < 0.01 * Math.abs(a) && a > 0 && d < 0;
    return run.text.trim() === "" || size < 1 || !isUpright ? [] : [{ run, x, y, size }];
  });
  const rows: Piece[][] = [];
  for (const piece of pieces.toSorted((one, other) => one.y - other.y || one.x - other.x)) {
    const row = rows.findLast((one) => one[0] !== undefined && Math.abs(one[0].y - piece.y) < 0.12 * piece.size);
    if (row) row.push(piece);
    else rows.push([piece]);
  }
  return rows.flatMap((row) => {
    const segments = segmentsOf(row.toSorted((one, other) => one.x - other.x));
    return segments.map((segment, index) => {
      const next = segments[index + 1]?.[0]?.x ?? pageWidth;
      return lineOf(segment, fonts, next - margin);
    });
  });
}

function segmentsOf(row: readonly Piece[]): Piece[][] {
  const segments: Piece[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const piece of row) {
    const last = segments.at(-1);
    // The same text a little beside itself is how some programs write bold letters.
    const isTwice = last?.some(
      (one) => one.run.text === piece.run.text && Math.abs(one.x - piece.x) < 0.1 * piece.size,
    );
    if (isTwice) continue;
    if (last && piece.x - end <= wideGap * piece.size) last.push(piece);
    else segments.push([piece]);
    end = Math.max(end, piece.x + piece.run.width);
  }
  return segments;
}

function lineOf(segment: readonly Piece[], fonts: ReadonlyMap<string, FontLook>, edge: number): TextLine {
  const main = segment.reduce((best, piece) => (piece.run.text.length > best.run.text.length ? piece : best));
  const isRtl = main.run.isRtl;
  const x = Math.min(...segment.map((piece) => piece.x));
  const end = Math.max(...segment.map((piece) => piece.x + piece.run.width));
  const { size, y: baseline } = main;
  const { ascent, descent } = extentOf(fonts.get(main.run.font));
  return {
    text: textOf(segment, isRtl),
    x,
    baseline,
    width: end - x,
    size,
    ascent: ascent * size,
    descent: descent * size,
    font: main.run.font,
    isRtl,
    room: Math.max(end, edge) - x,
  };
}

function textOf(segment: readonly Piece[], isRtl: boolean): string {
  const ordered = isRtl ? segment.toReversed() : segment;
  let text = "";
  let before: Piece | undefined;
  for (const piece of ordered) {
    if (before) {
      const [left, right] = isRtl ? [piece, before] : [before, piece];
      const gap = right.x - (left.x + left.run.width);
      const isJoined = /\s$/.test(text) || /^\s/.test(piece.run.text);
      if (gap > blank * piece.size && !isJoined) text += " ";
    }
    text += piece.run.text;
    before = piece;
  }
  return text.replace(/\s+/g, " ").trim();
}

/** The room of a line as the service takes it (workers/pdf/font-metrics.ts): what lies in it is what it can take out. */
function extentOf(font: FontLook | undefined): { ascent: number; descent: number } {
  const { ascent = 0, descent = 0 } = font ?? {};
  return {
    ascent: ascent > 0.2 ? Math.min(ascent, 1) : 0.75,
    descent: descent < 0 ? Math.min(-descent, 0.35) : 0.22,
  };
}

/** Which face of ours is nearest to a font, and how it is set. */
export function lookOf({ name, family }: Pick<FontLook, "name" | "family">): {
  face: "Noto Sans" | "Noto Sans Mono" | "Caveat";
  isBold: boolean;
  isItalic: boolean;
} {
  const own = name.replace(/^[A-Z]{6}\+/, "");
  const isMono = family === "monospace" || /mono|courier|consol|typewriter|^(cm|sf|lm)tt/i.test(own);
  const isScript = family === "cursive" || /script|handwrit|caveat|brush|chancery/i.test(own);
  return {
    face: isMono ? "Noto Sans Mono" : isScript ? "Caveat" : "Noto Sans",
    isBold: /bold|black|heavy|demi|medi($|ital)|^(cm|sf)(bx|sx)/i.test(own),
    isItalic: /ital|obli|slanted|^(cm|sf)(ti|si|sl|it|bxti)/i.test(own),
  };
}
