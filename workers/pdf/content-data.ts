/** The data of content streams (ISO 32000-1 §7.4, §7.8.2), as far as readers agree on it. */
import { decodeStream } from "./filters.ts";
import { type PdfDict, PdfError, PdfName, type PdfObject, type PdfStream } from "./objects.ts";
import type { Budget } from "./parser.ts";
import type { PdfFile } from "./reader.ts";

const MAX_FILTERS = 4;
const FILTERS = new Set(
  "FlateDecode Fl LZWDecode LZW ASCII85Decode A85 ASCIIHexDecode AHx RunLengthDecode RL".split(" "),
);
const isPredictor = (filter: PdfObject | undefined): boolean =>
  filter instanceof PdfName && /^(Fl(ateDecode)?|LZW(Decode)?)$/.test(filter.value);
/** The values of parameters of filters (ISO 32000-1 Table 8), the one that holds without any first. */
const AGREED: Readonly<Record<string, readonly PdfObject[]>> = {
  Predictor: [1, 2, 10, 11, 12, 13, 14, 15],
  EarlyChange: [1, 0],
  Colors: [1, 2, 3, 4],
  BitsPerComponent: [8, 1, 2, 4, 16],
};

/** A content stream as all readers decode it: `unclear` when they may differ, `too-large` above `room` (bytes) or the budget. */
export function decoded(
  file: PdfFile,
  stream: PdfStream,
  budget: Budget,
  room: number,
): Uint8Array | "too-large" | "unclear" {
  if (!isPlainlyStored(file, stream.dict)) return "unclear";
  if (room < 0 || budget.inflate <= 0) return "too-large";
  const faults = { unclear: false };
  try {
    const bytes = decodeStream(file, stream, budget, room, faults);
    // Decoded or not, it is looked at.
    if (bytes === stream.raw) budget.inflate -= bytes.length;
    return faults.unclear ? "unclear" : bytes;
  } catch (error) {
    if (error instanceof PdfError) return error.code === "too-complex" ? "too-large" : "unclear";
    throw error;
  }
}

/** Do all readers see the same filters, and filters for what is no picture? */
function isPlainlyStored(file: PdfFile, dict: PdfDict): boolean {
  // What these mean for an inline image some readers take them for here.
  if (dict.has("F") || dict.has("DP")) return false;
  const filter = file.resolve(dict.get("Filter"));
  if (filter === null) return true;
  const list = Array.isArray(filter) ? filter.map((item) => file.resolve(item)) : [filter];
  if (list.length > MAX_FILTERS || !list.every((item) => item instanceof PdfName && FILTERS.has(item.value)))
    return false;
  const sameShape = Array.isArray(file.resolve(dict.get("DecodeParms"))) === Array.isArray(filter);
  return parmsOf(file, dict).every(
    (parm, index) =>
      !parm || !changesDecoding(file, parm) || (sameShape && isPredictor(list[index]) && isAgreedOn(file, parm)),
  );
}

function parmsOf(file: PdfFile, dict: PdfDict): (PdfDict | null)[] {
  const parms = file.resolve(dict.get("DecodeParms"));
  return (Array.isArray(parms) ? parms : [parms]).map((item) => file.dict(item));
}

/** Is anything else decoded with these than without them? */
const changesDecoding = (file: PdfFile, parm: PdfDict): boolean =>
  ["Predictor", "EarlyChange"].some((key) => (file.resolve(parm.get(key)) ?? 1) !== 1);

/** Do readers decode the same with these, as far as is known? */
function isAgreedOn(file: PdfFile, parm: PdfDict): boolean {
  const columns = file.resolve(parm.get("Columns")) ?? 1;
  return (
    Number.isInteger(columns) &&
    Object.entries(AGREED).every(([key, values]) => values.includes(file.resolve(parm.get(key)) ?? values[0] ?? null))
  );
}

/** Written anew when it is drawn on, as it was decoded here: few readers were made with predictors of content in mind. */
export const isPredicted = (file: PdfFile, { dict }: PdfStream): boolean =>
  parmsOf(file, dict).some((parm) => parm && changesDecoding(file, parm));
