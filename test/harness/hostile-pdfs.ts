/** Small PDFs that mean harm, written by hand: numbered objects with a sound cross-reference table. */
import { deflateSync } from "node:zlib";

/** `objects` by number; numbers that are left out are free. */
export function handmade(objects: Readonly<Record<number, string>>): Buffer {
  let out = "%PDF-1.7\n";
  const offsets = new Map<number, number>();
  for (const [num, body] of Object.entries(objects)) {
    offsets.set(Number(num), out.length);
    out += `${num} 0 obj\n${body}\nendobj\n`;
  }
  const size = [...offsets.keys()].reduce((most, num) => Math.max(most, num), 0) + 1;
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

type Row = readonly [type: 0 | 1 | 2, first: number, second: number];

/**
 * Objects by number, with a cross-reference stream: on their own (with the generation in `generations`), or one a deflated
 * object stream, numbered from `packed.from` on. `header` replaces what such a stream says before its object.
 */
export function packedFile(
  plain: Readonly<Record<number, string>>,
  packed: { from: number; objects: Readonly<Record<number, string>>; header?: string; index?: number },
  generations: Readonly<Record<number, number>> = {},
): Buffer {
  let out = Buffer.from("%PDF-1.7\n");
  const rows = new Map<number, Row>([[0, [0, 0, 0]]]);
  const put = (num: number, body: Buffer): void => {
    const gen = generations[num] ?? 0;
    rows.set(num, [1, out.length, gen]);
    out = Buffer.concat([out, Buffer.from(`${num} ${gen} obj\n`), body, Buffer.from("\nendobj\n")]);
  };
  for (const [num, body] of Object.entries(plain)) put(Number(num), Buffer.from(body, "latin1"));
  const deflated = (entries: string, data: Buffer): Buffer => {
    const raw = deflateSync(data);
    const head = Buffer.from(`<<${entries}/Filter/FlateDecode/Length ${raw.length}>>\nstream\n`);
    return Buffer.concat([head, raw, Buffer.from("\nendstream")]);
  };
  let next = packed.from;
  for (const [num, body] of Object.entries(packed.objects)) {
    const header = packed.header ?? `${num} 0 `;
    rows.set(Number(num), [2, next, packed.index ?? 0]);
    const entries = `/Type/ObjStm/N ${header.trim().split(" ").length / 2}/First ${header.length}`;
    put(next++, deflated(entries, Buffer.from(header + body, "latin1")));
  }
  const at = out.length;
  rows.set(next, [1, at, 0]);
  const table = Buffer.alloc((next + 1) * 8);
  for (const [num, [type, first, second]] of rows) {
    table.writeUInt8(type, num * 8);
    table.writeUIntBE(first, num * 8 + 1, 4);
    table.writeUIntBE(second, num * 8 + 5, 3);
  }
  put(next, deflated(`/Type/XRef/W[1 4 3]/Size ${next + 1}/Root 1 0 R`, table));
  return Buffer.concat([out, Buffer.from(`startxref\n${at}\n%%EOF\n`)]);
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
