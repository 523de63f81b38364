/** Makes fields of a page's blanks, by the labels that stand beside them. Pure. */
import type { PdfPage } from "../pdf/reader.ts";
import type { ProposedField, ProposedType } from "../protocol.ts";
import type { Bounds } from "../whiteout.ts";
import { type Blank, type BlankKind, type Blanks, blanksOf, type Effort, type Surroundings } from "./blanks.ts";
import { boxOn, type Ids, lineOfText } from "./fields.ts";
import { partyOfLabel, plainLabel, typeOfLabel } from "./labels.ts";
import type { PageContent } from "./page-content.ts";
import type { Phrase, TextLine } from "./text-lines.ts";

/** What a blank seems to be; `party` is who its label says fills it in. */
export type LineField = {
  page: PdfPage;
  type: ProposedType;
  label: string | null;
  bounds: Bounds;
  cells: number | null;
  multiline: boolean;
  party: string | null;
};

const MAX_BLANKS = 400;
const MAX_LABEL = 80;
/** Points. */
const TEXT_HEIGHT = 16;
const LINE_STEP = 34;
/** Points: how far below a signature its name and date stand. */
const NEAR = 150;

type Labels = { left: Phrase | null; below: Phrase | null; above: Phrase | null; right: Phrase | null };

/** The fields of one page, from the top. */
export function lineFields(
  page: PdfPage,
  content: PageContent,
  lines: readonly TextLine[],
  effort: Effort,
): LineField[] {
  const { blanks, around, frames } = blanksOf(content, lines, effort);
  if (blanks.length > MAX_BLANKS) return [];
  const sorted = blanks.toSorted((a, b) => a.bounds.y1 - b.bounds.y1 || a.bounds.x0 - b.bounds.x0);
  const found: { blank: Blank; field: LineField }[] = [];
  for (const blank of sorted) {
    const labels = labelsOf(blank, around, sorted);
    const before = found.findLast(({ blank: other }) => continues(other, blank));
    if (before && !labels.left && !labels.below && !blank.inside) {
      if (["text_input", "full_name"].includes(before.field.type)) {
        before.field.type = "text_input";
        before.field.multiline = true;
        before.field.bounds = {
          ...before.field.bounds,
          x0: Math.min(before.field.bounds.x0, blank.bounds.x0),
          y1: blank.bounds.y1,
        };
        before.blank = { ...blank, bounds: { ...blank.bounds, x0: before.field.bounds.x0 } };
        continue;
      }
    }
    const field = fieldOf(page, blank, labels, { around, frames });
    if (field) found.push({ blank, field });
  }
  const fields = found.map(({ field }) => field);
  const signs = fields.some(({ type }) => type === "signature");
  for (const field of fields) {
    if (field.type === "date" && signs && isDayOfSigning(field.label)) field.type = "date_signed";
  }
  return fields;
}

const SIGNING_DAYS: ReadonlySet<string> = new Set([
  "date",
  "dated",
  "date signed",
  "signature date",
  "date of signature",
  "datum",
  "datum der unterschrift",
]);
const isDayOfSigning = (label: string | null): boolean => label !== null && SIGNING_DAYS.has(plainLabel(label));

const isLine = (kind: BlankKind): boolean => kind === "filler" || kind === "dots" || kind === "rule";

/** A second line of the same blank: below it, as wide, and as near as lines of writing are. */
function continues(above: Blank, { kind, bounds }: Blank): boolean {
  if (above.kind !== kind || !isLine(kind)) return false;
  const step = bounds.y1 - above.bounds.y1;
  const ends = Math.abs(bounds.x1 - above.bounds.x1) <= 8 && bounds.x0 <= above.bounds.x0 + 8;
  return step >= 8 && step <= LINE_STEP && ends;
}

/** The phrases beside a blank that may tell what it is for. */
function labelsOf(blank: Blank, { phrases }: Surroundings, all: readonly Blank[]): Labels {
  const { x0, y0, x1, y1 } = blank.bounds;
  const line = isLine(blank.kind);
  const labels: Labels = { left: null, below: null, above: null, right: null };
  const middle = (y0 + y1) / 2;
  for (const phrase of phrases) {
    const { bounds, down, size } = phrase;
    const level = line
      ? Math.abs(down - y1) <= 5
      : down > y0 - 1 && down - 0.7 * size < y1 && Math.abs(down - 0.35 * size - middle) <= Math.max(8, (y1 - y0) / 2);
    if (level && bounds.x1 <= x0 + 3 && x0 - bounds.x1 <= (blank.kind === "check" ? 14 : 90)) {
      const between = all.some(
        (other) =>
          other !== blank &&
          other.bounds.x0 >= bounds.x1 - 3 &&
          other.bounds.x1 <= x0 + 3 &&
          Math.abs(other.bounds.y1 - y1) < 8,
      );
      if (!between && (!labels.left || bounds.x1 > labels.left.bounds.x1)) labels.left = phrase;
    }
    if (level && bounds.x0 >= x1 - 3 && bounds.x0 - x1 <= 30 && (!labels.right || bounds.x0 < labels.right.bounds.x0))
      labels.right = phrase;
    const across = Math.min(bounds.x1, x1) - Math.max(bounds.x0, x0);
    const own = across >= 0.5 * (bounds.x1 - bounds.x0) && bounds.x0 >= x0 - 15 && bounds.x1 <= x1 + 40;
    const top = down - 0.75 * size;
    if (own && top >= y1 - 2 && top - y1 <= 12 && !/[:：]$/.test(phrase.text) && !leads(phrase, all)) {
      if (!labels.below || down < labels.below.down) labels.below = phrase;
    }
    const gap = y0 - (down + 0.2 * size);
    if (own && Math.abs(bounds.x0 - x0) <= 20 && gap >= -3 && gap <= (line ? 22 : 12)) {
      if (!labels.above || down > labels.above.down) labels.above = phrase;
    }
  }
  return labels;
}

/** Does a blank follow this phrase in its own line? Then it is the label of that one. */
const leads = ({ bounds, down }: Phrase, all: readonly Blank[]): boolean =>
  all.some(
    ({ kind, bounds: other }) =>
      kind !== "check" && Math.abs(other.y1 - down) <= 6 && other.x0 >= bounds.x1 - 3 && other.x0 - bounds.x1 <= 40,
  );

/** Whether a frame stands directly to the left or right of another, as the cells of a row do. */
const isBeside = (frame: Bounds, { x0, x1, y0, y1 }: Bounds): boolean =>
  Math.min(Math.abs(frame.x1 - x0), Math.abs(frame.x0 - x1)) <= 4 &&
  Math.min(frame.y1, y1) - Math.max(frame.y0, y0) > 0.5 * (y1 - y0);

/** Whether the middle of a phrase lies in a frame. */
function holdsPhrase({ x0, y0, x1, y1 }: Bounds, phrase: Phrase | null): boolean {
  if (!phrase) return false;
  const [x, y] = [(phrase.bounds.x0 + phrase.bounds.x1) / 2, phrase.down - 0.3 * phrase.size];
  return x > x0 && x < x1 && y > y0 && y < y1;
}

function fieldOf(
  page: PdfPage,
  blank: Blank,
  labels: Labels,
  { around, frames }: Omit<Blanks, "blanks">,
): LineField | null {
  const { kind, cells } = blank;
  if (kind === "check") {
    const label = labels.right ?? labels.left;
    return label && /\p{L}/u.test(label.text) ? made(page, blank, "checkbox", label.text) : null;
  }
  const label = chosenLabel(
    blank,
    labels,
    around,
    labels.left !== null && !frames.some((frame) => holdsPhrase(frame, labels.left) || isBeside(frame, blank.bounds)),
  );
  if (!label) return null;
  const type = kind === "comb" ? "text_input" : (typeIn(label) ?? "text_input");
  const field = made(page, blank, type, label);
  const height = field.bounds.y1 - field.bounds.y0;
  if (kind === "rule" && type !== "signature" && type !== "initials")
    field.bounds.y0 = field.bounds.y1 - Math.min(height, TEXT_HEIGHT);
  field.multiline = type === "text_input" && cells === null && (kind === "frame" || kind === "cell") && height >= 34;
  return field;
}

function made(page: PdfPage, { bounds, cells }: Blank, type: ProposedType, label: string): LineField {
  const party = type === "signature" || type === "initials" ? partyOfLabel(label) : null;
  return { page, type, label: shortened(label), bounds: { ...bounds }, cells, multiline: false, party };
}

/** The label that is meant for the blank; null for rules and frames that are only decoration. */
function chosenLabel(
  { kind, inside, bounds }: Blank,
  { left, below, above, right }: Labels,
  around: Surroundings,
  outside: boolean,
): string | null {
  if (inside) return inside.text;
  const width = bounds.x1 - bounds.x0;
  const leftText = left && lastWords(left.text);
  const nearLeft = left && (bounds.x0 - left.bounds.x1 <= 30 || /[:：]$/.test(left.text));
  switch (kind) {
    case "filler":
    case "dots":
      if (below && typeIn(below.text) && !(leftText && typeIn(leftText))) return below.text;
      // Numbers at the end of leading dots name nothing.
      if (leftText && (kind === "filler" ? /[\p{L}\p{N}]/u : WORD).test(leftText)) return leftText;
      if (below) return below.text;
      if (above && (typeIn(above.text) || /[:：]$/.test(above.text))) return above.text;
      // In the middle of a sentence, or on its own but no line across the page.
      return right && WORD.test(right.text) ? right.text : null;
    case "rule":
      if (below && isLabel(below, width) && (typeIn(below.text) || !nearLeft)) return below.text;
      if (leftText && nearLeft && left.text.length <= 60 && (WORD.test(leftText) || /^x$/i.test(leftText)))
        return leftText;
      if (above && /[:：]$/.test(above.text)) return above.text;
      return above && width < 320 && typeIn(above.text, true) ? above.text : null;
    case "cell":
      // Within a table the text to the left is a cell itself.
      if (!left || left.text.length > MAX_LABEL) return null;
      return /[:：]$/.test(left.text) || typeIn(left.text) || outside ? left.text : null;
    default:
      if (left && left.text.length <= MAX_LABEL && nearLeft) return left.text;
      if (above && isTitle(above, around)) return above.text;
      return below && typeIn(below.text) ? below.text : null;
  }
}

const WORD = /\p{L}{2}/u;

/** A few words on their own, not the end of a paragraph. */
function isTitle({ text, bounds, down, size }: Phrase, { phrases }: Surroundings): boolean {
  if (/[:：]$/.test(text) || typeIn(text, true)) return true;
  const before = phrases.some(
    (other) => down - other.down > 1 && down - other.down < 1.7 * size && Math.abs(other.bounds.x0 - bounds.x0) < 20,
  );
  return !before && text.length <= 40 && WORD.test(text) && /^[\p{Lu}\d]/u.test(text);
}

/** What stands below a rule is its label when it is short, and names something or is set small. */
const isLabel = ({ text, bounds, size }: Phrase, width: number): boolean =>
  text.length <= MAX_LABEL &&
  WORD.test(text) &&
  !/^[\d*†]+\s.{20}/.test(text) &&
  (typeIn(text) !== null ||
    (bounds.x1 - bounds.x0 < 0.9 * width && (size <= 9 || /^\(.*\)$/.test(text)) && width < 330));

/** Where a date and a place stand together, neither type fits. */
function typeIn(label: string, exactly = false): ProposedType | null {
  const type = typeOfLabel(label, exactly);
  return type === "date" && /\b(?:ort|place|city|location|uhrzeit|time)\b/i.test(label) ? "text_input" : type;
}

/** The last words before a blank: in running text the sentence does not matter. */
function lastWords(text: string): string {
  const clause = text.replace(/[:：\s]+$/, "");
  return clause.length <= 40 ? clause : clause.split(/\s+/).slice(-4).join(" ");
}

const shortened = (label: string): string => label.replace(/[:：*\s]+$/, "").slice(0, MAX_LABEL);

/** Roles of the parties that signatures name, when a document names several; null for every other field. */
export function partiesOf(fields: readonly LineField[]): (string | null)[] {
  const signing = fields.filter(({ party }) => party !== null);
  if (new Set(signing.map(({ party }) => party)).size < 2) return fields.map(() => null);
  return fields.map((field) => field.party ?? nearestParty(field, signing));
}

function nearestParty(field: LineField, signing: readonly LineField[]): string | null {
  const near = signing.filter(({ page, bounds }) => {
    if (page !== field.page) return false;
    const across = Math.min(bounds.x1, field.bounds.x1) - Math.max(bounds.x0, field.bounds.x0);
    const step = Math.abs(bounds.y1 - field.bounds.y1);
    const beside = step <= 10 && field.bounds.x0 - bounds.x1 >= 0 && field.bounds.x0 - bounds.x1 <= 160;
    return beside || (step <= NEAR && across > 0.3 * (field.bounds.x1 - field.bounds.x0));
  });
  const distance = ({ bounds }: LineField): number =>
    Math.abs(bounds.y1 - field.bounds.y1) + Math.abs(bounds.x0 - field.bounds.x0) / 4;
  return near.toSorted((a, b) => distance(a) - distance(b))[0]?.party ?? null;
}

/** The proposal of a line field; null when it has no room on its page. */
export function fieldOfLine(
  { page, type, label, bounds, cells, multiline }: LineField,
  role: string,
  ids: Ids,
): ProposedField | null {
  const box = boxOn(page, bounds);
  if (!box) return null;
  const shown = lineOfText(label, 200);
  return {
    id: ids.take(shown ?? type, type),
    type,
    role,
    ...box,
    ...(shown === undefined ? {} : { label: shown }),
    // A box that must be ticked would force the answer of a question.
    ...(type === "checkbox" ? { required: false } : {}),
    ...(multiline ? { multiline } : {}),
    ...(cells === null ? {} : { cells, maxLength: cells }),
  };
}
