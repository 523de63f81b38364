/** Writes objects as PDF syntax (ISO 32000-1 §7.3), always the same bytes for the same object. */
import { PdfDict, PdfName, type PdfObject, PdfRaw, PdfRef, PdfStream, PdfString } from "./objects.ts";
import { isRegular } from "./parser.ts";

/** A growing buffer that knows how long it is. Text is gathered first: many small writes cost more than the bytes. */
export class ByteWriter {
  #buffer = Buffer.allocUnsafe(16 * 1024);
  #written = 0;
  #pending = "";

  get length(): number {
    return this.#written + this.#pending.length;
  }
  #room(bytes: number): void {
    if (this.#written + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#written + bytes));
    this.#buffer.copy(larger, 0, 0, this.#written);
    this.#buffer = larger;
  }
  #flush(): void {
    if (this.#pending === "") return;
    this.#room(this.#pending.length);
    this.#written += this.#buffer.write(this.#pending, this.#written, "latin1");
    this.#pending = "";
  }
  /** Each character is one byte; those above U+00FF are a defect of the caller. */
  text(text: string): this {
    this.#pending += text;
    return this;
  }
  bytes(bytes: Uint8Array): this {
    this.#flush();
    this.#room(bytes.length);
    this.#buffer.set(bytes, this.#written);
    this.#written += bytes.length;
    return this;
  }
  finish(): Buffer {
    this.#flush();
    return this.#buffer.subarray(0, this.#written);
  }
}

export function writeObject(out: ByteWriter, object: PdfObject): void {
  if (object === null) out.text("null");
  else if (typeof object === "boolean") out.text(object ? "true" : "false");
  else if (typeof object === "number") out.text(formatNumber(object));
  else if (object instanceof PdfName) out.text(formatName(object.value));
  else if (object instanceof PdfRef) out.text(`${object.num} ${object.gen} R`);
  else if (object instanceof PdfString) writeString(out, object);
  else if (object instanceof PdfRaw) out.bytes(object.bytes);
  else if (object instanceof PdfDict) writeDict(out, object);
  else if (object instanceof PdfStream) writeStream(out, object);
  else {
    out.text("[");
    object.forEach((item, index) => {
      if (index > 0) out.text(" ");
      writeObject(out, item);
    });
    out.text("]");
  }
}

function writeDict(out: ByteWriter, dict: PdfDict): void {
  out.text("<<");
  for (const [key, value] of dict.map) {
    out.text(`${formatName(key)} `);
    writeObject(out, value);
    out.text("\n");
  }
  out.text(">>");
}

function writeStream(out: ByteWriter, stream: PdfStream): void {
  writeDict(out, stream.dict.clone().set("Length", stream.raw.length));
  out.text("\nstream\n").bytes(stream.raw).text("\nendstream");
}

function writeString(out: ByteWriter, string: PdfString): void {
  if (string.hex) {
    out.text(`<${Buffer.from(string.bytes).toString("hex")}>`);
    return;
  }
  const escaped: number[] = [0x28];
  for (const byte of string.bytes) {
    if (byte === 13) escaped.push(0x5c, 0x72);
    else {
      if (byte === 0x28 || byte === 0x29 || byte === 0x5c) escaped.push(0x5c);
      escaped.push(byte);
    }
  }
  escaped.push(0x29);
  out.bytes(Uint8Array.from(escaped));
}

/** Fixed notation: PDF knows no exponents. Ten decimals are beyond what any reader keeps. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError("not a PDF number");
  if (Number.isInteger(value)) return Math.abs(value) < 1e21 ? String(value) : BigInt(value).toString();
  const fixed = value.toFixed(10).replace(/\.?0+$/, "");
  return fixed === "-0" ? "0" : fixed;
}

function formatName(value: string): string {
  let text = "/";
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    const plain = code > 0x20 && code < 0x7f && code !== 0x23 && isRegular(code);
    text += plain ? value[i] : `#${(code & 0xff).toString(16).padStart(2, "0")}`;
  }
  return text;
}
