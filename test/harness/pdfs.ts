/** PDFs to test with: plain ones by pdf-lib, and their variants by qpdf. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { degrees, PDFDocument, StandardFonts } from "pdf-lib";

export type Variant = "table" | "stream" | "linearized" | "linearized-stream" | "hybrid";

export type SampleOptions = {
  pages?: number;
  objectStreams?: boolean;
  rotate?: number;
  form?: boolean;
  ballast?: number;
};

/** A document of `pages` pages with a line of text each; `ballast` adds that many random bytes. */
export async function samplePdf(options: SampleOptions = {}): Promise<Uint8Array> {
  const doc = await PDFDocument.create();
  const font = await doc.embedFont(StandardFonts.Helvetica);
  for (let n = 1; n <= (options.pages ?? 1); n++) {
    const page = doc.addPage([595, 842]);
    page.drawText(`Page ${n}`, { x: 50, y: 780, size: 20, font });
    if (options.rotate) page.setRotation(degrees(options.rotate));
  }
  if (options.form) {
    const field = doc.getForm().createTextField("existing.field");
    field.setText("kept");
    field.addToPage(doc.getPage(0), { x: 50, y: 600, width: 200, height: 20 });
  }
  if (options.ballast) await doc.attach(randomBytes(options.ballast), "ballast.bin");
  const at = new Date("2026-01-01T00:00:00Z");
  doc.setCreationDate(at);
  doc.setModificationDate(at);
  return doc.save({ useObjectStreams: options.objectStreams ?? false });
}

/** A file with revisions behind it. */
export function whole(base: Uint8Array, ...tails: Uint8Array[]): Uint8Array {
  return Buffer.concat([base, ...tails]);
}

/** Runs `use` with the path of a file that holds `bytes`, in a folder that is removed afterwards. */
export function withFile<T>(bytes: Uint8Array, use: (path: string, folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "signet-pdf-"));
  try {
    const path = join(folder, "in.pdf");
    writeFileSync(path, bytes);
    return use(path, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function qpdf(bytes: Uint8Array, ...args: string[]): Uint8Array {
  return withFile(bytes, (path, folder) => {
    const out = join(folder, "out.pdf");
    execFileSync("qpdf", [...args, path, out]);
    return readFileSync(out);
  });
}

export async function variant(kind: Variant, options: SampleOptions = {}): Promise<Uint8Array> {
  const plain = await samplePdf(options);
  switch (kind) {
    case "table":
      return plain;
    case "stream":
      return qpdf(plain, "--object-streams=generate");
    case "linearized":
      return qpdf(plain, "--linearize", "--object-streams=disable");
    case "linearized-stream":
      return qpdf(plain, "--linearize", "--object-streams=generate");
    case "hybrid":
      return hybrid(plain);
  }
}

/** Turns a table file into a hybrid one: a revision whose new object only a cross-reference stream knows. */
function hybrid(plain: Uint8Array): Uint8Array {
  const text = Buffer.from(plain).toString("latin1");
  const prev = Number(/startxref\s+(\d+)\s+%%EOF\s*$/.exec(text)?.[1]);
  const trailer = text.slice(text.lastIndexOf("trailer"));
  const size = Number(/\/Size (\d+)/.exec(trailer)?.[1]);
  const root = /\/Root (\d+ \d+ R)/.exec(trailer)?.[1];
  let tail = "\n";
  const at = (): number => text.length + tail.length;
  const packed = `${size} 0 (hidden text)`;
  const first = packed.indexOf("(");
  const streamAt = at();
  tail += `${size + 1} 0 obj\n<</Type/ObjStm/N 1/First ${first}/Length ${packed.length}>>\nstream\n${packed}\nendstream\nendobj\n`;
  const xrefStreamAt = at();
  const row = (type: number, a: number, b: number): string =>
    [type, (a >> 16) & 255, (a >> 8) & 255, a & 255, b].map((n) => n.toString(16).padStart(2, "0")).join("");
  const rows = Buffer.from(row(2, size + 1, 0) + row(1, streamAt, 0) + row(1, xrefStreamAt, 0), "hex").toString(
    "latin1",
  );
  tail += `${size + 2} 0 obj\n<</Type/XRef/Size ${size + 3}/W[1 3 1]/Index[${size} 3]/Length ${rows.length}>>\nstream\n${rows}\nendstream\nendobj\n`;
  const xrefAt = at();
  const free = `0000000000 00000 f \n`;
  tail += `xref\n0 1\n0000000000 65535 f \n${size} 3\n${free.repeat(3)}`;
  tail += `trailer\n<</Size ${size + 3}/Root ${root}/Prev ${prev}/XRefStm ${xrefStreamAt}>>\nstartxref\n${xrefAt}\n%%EOF\n`;
  return Buffer.concat([plain, Buffer.from(tail, "latin1")]);
}

/** The object number that only the hybrid's cross-reference stream knows. */
export function hiddenObject(hybridFile: Uint8Array): number {
  return Number(/(\d+) 0 \(hidden text\)/.exec(Buffer.from(hybridFile).toString("latin1"))?.[1]);
}

/** Writes numbered objects, a table and a trailer: for files that no library would write. */
export function rawPdf(objects: Record<number, string>, root = 1): Uint8Array {
  let text = "%PDF-1.7\n";
  const offsets = new Map<number, number>();
  for (const [num, body] of Object.entries(objects)) {
    offsets.set(Number(num), text.length);
    text += `${num} 0 obj\n${body}\nendobj\n`;
  }
  const size = Math.max(...offsets.keys()) + 1;
  const at = text.length;
  text += `xref\n0 ${size}\n0000000000 65535 f \n`;
  for (let num = 1; num < size; num++) {
    const offset = offsets.get(num);
    text += offset === undefined ? "0000000000 00000 f \n" : `${String(offset).padStart(10, "0")} 00000 n \n`;
  }
  text += `trailer\n<</Size ${size}/Root ${root} 0 R>>\nstartxref\n${at}\n%%EOF\n`;
  return Buffer.from(text, "latin1");
}
