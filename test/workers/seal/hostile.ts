/** Small PDFs that mean harm, written by hand: numbered objects with a sound cross-reference table. */

/** `objects` by number; numbers that are left out are free. */
export function handmade(objects: Readonly<Record<number, string>>): Buffer {
  let out = "%PDF-1.7\n";
  const offsets = new Map<number, number>();
  for (const [num, body] of Object.entries(objects)) {
    offsets.set(Number(num), out.length);
    out += `${num} 0 obj\n${body}\nendobj\n`;
  }
  const size = Math.max(...offsets.keys()) + 1;
  const start = out.length;
  out += `xref\n0 ${size}\n0000000000 65535 f \n`;
  for (let num = 1; num < size; num++) {
    const at = offsets.get(num);
    out += at === undefined ? "0000000000 65535 f \n" : `${String(at).padStart(10, "0")} 00000 n \n`;
  }
  return Buffer.from(`${out}trailer\n<</Size ${size}/Root 1 0 R>>\nstartxref\n${start}\n%%EOF\n`, "latin1");
}

export const stream = (data: string): string => `<</Length ${data.length}>>\nstream\n${data}\nendstream`;
export const shown = (text: string): string => stream(`BT /F1 30 Tf 40 600 Td (${text}) Tj ET`);

export const CLAUSE = "The buyer pays nothing if late";

/** A contract of two pages whose clause stands in object 6; `change` replaces objects. */
export function contract(change: Readonly<Record<number, string>> = {}): Buffer {
  return handmade({
    1: "<</Type/Catalog/Pages 2 0 R>>",
    2: "<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2/MediaBox[0 0 612 792]/Resources<</Font<</F1 7 0 R>>>>>>",
    3: "<</Type/Page/Parent 2 0 R/Contents 5 0 R>>",
    4: "<</Type/Page/Parent 2 0 R/Contents 6 0 R>>",
    5: shown("Cover page"),
    6: shown(CLAUSE),
    7: "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ...change,
  });
}

/** Streams from object `first` on, each of whose length stands in the next. */
export function lengthChain(first: number, count: number): Record<number, string> {
  const chain: Record<number, string> = {};
  for (let index = 0; index < count; index++) {
    const length = index === count - 1 ? "1" : `${first + index + 1} 0 R`;
    chain[first + index] = `<</Length ${length}>>\nstream\nx\nendstream`;
  }
  return chain;
}
