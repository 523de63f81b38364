/** Content streams (ISO 32000-1 §7.8.2) as operations with their places in the bytes, so that single ones can be replaced. */
import { PdfDict, PdfError, PdfName, type PdfObject, PdfRef, PdfString } from "./objects.ts";
import { type Budget, isRegular, isSpace, Parser } from "./parser.ts";

export type Operation = {
  /** `BI` stands for a whole inline image; its dictionary is the only operand. */
  operator: string;
  operands: PdfObject[];
  /** First byte of the first operand. */
  start: number;
  /** Behind the operator (for an inline image: behind `EI`). */
  end: number;
};

/** Takes the place of the bytes from `start` up to `end`. */
export type Edit = { start: number; end: number; bytes: Uint8Array };

const MAX_OPERANDS = 64;
// Table A.1, without the parts of inline images, which become one operation.
const OPERATORS = new Set(
  (
    "b B b* B* BDC BMC BT BX c cm CS cs d d0 d1 Do DP EMC ET EX f F f* G g gs h i j J K k l m M MP n q Q re RG rg ri " +
    "s S SC sc SCN scn sh T* Tc Td TD Tf Tj TJ TL Tm Tr Ts Tw Tz v w W W* y ' \""
  ).split(" "),
);
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)$/;

/**
 * All operations in order. It is strict: what readers might take in different ways is refused, so that nobody sees
 * another page than was understood here.
 * @throws PdfError `damaged` or `too-complex`, never anything else.
 */
export function readOperations(bytes: Uint8Array, budget: Budget): Operation[] {
  const parser = new Parser(bytes, 0, budget);
  const operations: Operation[] = [];
  let operands: PdfObject[] = [];
  let start = -1;
  for (parser.skip(); parser.peek() !== -1; parser.skip()) {
    if (start < 0) start = parser.pos;
    const token = nextToken(parser, budget);
    if (typeof token === "object" && token !== null && "operator" in token) {
      const { operator } = token;
      if (operator === "BI") operands = [inlineImage(parser)];
      else if (!OPERATORS.has(operator)) parser.fail("unknown operator");
      operations.push({ operator, operands, start, end: parser.pos });
      operands = [];
      start = -1;
    } else if (operands.push(token) > MAX_OPERANDS) parser.fail("too many operands");
  }
  if (operands.length > 0) parser.fail("operands without an operator");
  return operations;
}

/** The bytes with the edits made; these must not overlap. */
export function spliced(bytes: Uint8Array, edits: readonly Edit[]): Uint8Array {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    if (edit.start < at) throw new RangeError("edits overlap");
    parts.push(bytes.subarray(at, edit.start), edit.bytes);
    at = edit.end;
  }
  return Buffer.concat([...parts, bytes.subarray(at)]);
}

function nextToken(parser: Parser, budget: Budget): PdfObject | { operator: string } {
  const byte = parser.peek();
  if (byte === 0x2f || byte === 0x28 || byte === 0x5b || byte === 0x3c) {
    const object = parser.object();
    return holdsRef(object) ? parser.fail("a reference") : object;
  }
  if (!isRegular(byte)) return parser.fail("unexpected delimiter");
  if (--budget.objects < 0) throw new PdfError("too-complex", "too many operations");
  let word = "";
  for (let next = byte; next !== -1 && isRegular(next); next = parser.peek()) {
    if (word.length === 40) parser.fail("a word too long");
    word += String.fromCharCode(next);
    parser.pos++;
  }
  if (word === "true") return true;
  if (word === "false") return false;
  if (word === "null") return null;
  if (byte <= 0x39 && byte !== 0x27 && byte !== 0x22) return NUMBER.test(word) ? Number(word) : parser.fail("a number");
  return { operator: word };
}

/** Content streams hold no references (§7.8.2). */
function holdsRef(object: PdfObject): boolean {
  if (Array.isArray(object)) return object.some(holdsRef);
  if (object instanceof PdfDict) return [...object.map.values()].some(holdsRef);
  return object instanceof PdfRef;
}

/** Reads behind `BI` (§8.9.7) and leaves the parser behind `EI`. */
function inlineImage(parser: Parser): PdfDict {
  const dict = new PdfDict();
  for (parser.skip(); !parser.keyword("ID"); parser.skip()) {
    const key = parser.object();
    if (!(key instanceof PdfName) || dict.map.size === MAX_OPERANDS) parser.fail("bad inline image");
    else dict.set(key.value, parser.object());
  }
  if (!isSpace(parser.peek())) parser.fail("bad inline image");
  const from = parser.pos + 1;
  const length = plainLength(dict);
  // White space before EI belongs to no image; what is compressed ends at the first EI behind which text follows.
  for (let at = length === null ? from : from + length; at < parser.end; at++) {
    parser.pos = at;
    const ends = at === from || isSpace(parser.bytes[at - 1] ?? 0);
    if ((ends || at === from + (length ?? -1)) && parser.keyword("EI") && plausible(parser)) return dict;
    if (length !== null && !isSpace(parser.bytes[at] ?? 0)) break;
  }
  return parser.fail("inline image does not end");
}

/** Bytes of an inline image that is not compressed; null when they cannot be known. */
export function plainLength(dict: PdfDict): number | null {
  const value = (short: string, long: string): PdfObject | undefined => dict.get(short) ?? dict.get(long);
  const filter = value("F", "Filter");
  if (filter !== undefined && filter !== null && !(Array.isArray(filter) && filter.length === 0)) return null;
  const [width, height] = [value("W", "Width"), value("H", "Height")];
  const mask = value("IM", "ImageMask") === true;
  const bits = mask ? 1 : value("BPC", "BitsPerComponent");
  const space = value("CS", "ColorSpace");
  const indexed = Array.isArray(space) && space[0] instanceof PdfName && /^I(ndexed)?$/.test(space[0].value);
  const components = mask || indexed ? 1 : space instanceof PdfName ? COMPONENTS[space.value] : undefined;
  if (typeof width !== "number" || typeof height !== "number" || typeof bits !== "number") return null;
  return components === undefined ? null : Math.ceil((width * bits * components) / 8) * height;
}

const COMPONENTS: Readonly<Record<string, number>> = {
  G: 1,
  DeviceGray: 1,
  RGB: 3,
  DeviceRGB: 3,
  CMYK: 4,
  DeviceCMYK: 4,
};

const plausible = (parser: Parser): boolean => isText(parser.bytes, parser.pos, parser.end);

/** Does the text of a content stream follow, or still an image's data? */
export function isText(bytes: Uint8Array, at: number, end = bytes.length): boolean {
  const next = bytes.subarray(at, Math.min(end, at + 16));
  return next.every((byte) => (byte >= 0x20 && byte < 0x7f) || byte === 10 || byte === 13 || byte === 9);
}

/** The strings of a show-text operand with the numbers between them; null for anything else. */
export function shownParts(operand: PdfObject | undefined): (PdfString | number)[] | null {
  if (operand instanceof PdfString) return [operand];
  if (!Array.isArray(operand)) return null;
  const parts = operand.filter((part) => part instanceof PdfString || typeof part === "number");
  return parts.length === operand.length ? parts : null;
}
