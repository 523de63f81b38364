import Papa from "papaparse";

/** CSV in and out. Loaded only when there is a file: the parser is not part of the page. */

export type Table = {
  headers: string[];
  /** As many cells as there are headers; further ones of a row are in `extra`. */
  rows: { number: number; cells: string[]; extra: number }[];
};

export type Separator = "," | ";" | "\t";
const separators: readonly Separator[] = [",", ";", "\t"];

/**
 * The text of a file as spreadsheets write it: UTF-8 and UTF-16 by their marks, UTF-8 without one, else Windows-1252,
 * in which every sequence of bytes is a text.
 */
export function decode(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** The separator that stands most often in the first record, outside of quotes: headers rarely hold one themselves. */
export function separatorOf(text: string): Separator {
  const counts = new Map(separators.map((separator): [Separator, number] => [separator, 0]));
  let quoted = false;
  for (const character of text) {
    if (character === '"') quoted = !quoted;
    else if (!quoted && (character === "\n" || character === "\r")) break;
    else if (!quoted) {
      const separator = separators.find((one) => one === character);
      if (separator !== undefined) counts.set(separator, (counts.get(separator) ?? 0) + 1);
    }
  }
  let best: Separator = ",";
  for (const [separator, count] of counts) if (count > (counts.get(best) ?? 0)) best = separator;
  return best;
}

/** Spreadsheets run a cell that begins like this as a formula. */
const formula = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
const guarded = /^'+[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
const plainNumber = /^-?\d+(?:[.,]\d+)?$/;

/** Makes a cell a text for spreadsheets: what someone typed into a form never runs on somebody else's desk. */
function guard(cell: string): string {
  const runs = formula.test(cell) && !plainNumber.test(cell);
  return runs || guarded.test(cell) ? `'${cell}` : cell;
}

function unguard(cell: string): string {
  return guarded.test(cell) ? cell.slice(1) : cell;
}

/**
 * Reads a whole table; rows keep the numbers that a spreadsheet shows, 2 for the first below the headers. `broken` is the
 * first row with a quote that does not close where its cell ends: it may have swallowed the rows behind it.
 */
export function readCsv(text: string): Table & { separator: Separator; broken: number | null } {
  // Excel's own hint stands above the headers, and spreadsheets do not show it.
  const hint = /^\uFEFF?sep=([,;\t])(?:\r\n|\r|\n)/i.exec(text);
  const body = text.slice(hint?.[0].length ?? 0).replace(/^\uFEFF/, "");
  const separator = separators.find((one) => one === hint?.[1]) ?? separatorOf(body);
  const { data, errors } = Papa.parse<string[]>(body, { delimiter: separator, skipEmptyLines: false });
  // A line break at the end of the file begins no row.
  const last = data.at(-1);
  const ended = /[\r\n]$/.test(body) && last?.length === 1 && last[0] === "";
  const records = (ended ? data.slice(0, -1) : data).map((record) => record.map(unguard));
  const headers = (records[0] ?? []).map((header) => header);
  const rows = records.slice(1).map((record, index) => ({
    number: index + 2,
    cells: headers.map((_, column) => record[column] ?? ""),
    extra: record.slice(headers.length).filter((cell) => cell.trim() !== "").length,
  }));
  const quotes = errors.filter(({ type }) => type === "Quotes").map(({ row }) => (row ?? 0) + 1);
  return { headers, rows, separator, broken: quotes.length > 0 ? Math.min(...quotes) : null };
}

/** Writes a table that spreadsheets read as text in UTF-8; `readCsv` gives back exactly what was written. */
export function writeCsv(headers: readonly string[], rows: readonly (readonly string[])[]): string {
  const data = [headers, ...rows].map((row) => row.map(guard));
  const alone = headers.length === 1;
  const quotes = (value: unknown) =>
    typeof value === "string" && ((alone && value === "") || /[,;\t"\r\n]|^\s|\s$|^\uFEFF/.test(value));
  return `\uFEFF${Papa.unparse(data, { delimiter: ",", newline: "\r\n", quotes })}\r\n`;
}
