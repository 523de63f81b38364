/**
 * The PDF object model (ISO 32000-1 §7.3). Integers and reals are both `number`; names and strings keep their bytes.
 */

export type PdfErrorCode =
  /** No %PDF- header at the start. */
  | "not-a-pdf"
  /** The structure contradicts itself, or a revision cannot be appended to it. */
  | "damaged"
  /** An /Encrypt dictionary is in force. */
  | "encrypted"
  /** A limit against hostile input was reached. */
  | "too-complex"
  /** A filter or feature that this reader does not decode. */
  | "unsupported";

/** What reading or extending a PDF may fail with; anything else that is thrown is a defect. */
export class PdfError extends Error {
  readonly code: PdfErrorCode;
  constructor(code: PdfErrorCode, message: string) {
    super(message);
    this.name = "PdfError";
    this.code = code;
  }
}

/** A name without its slash, one character a byte. */
export class PdfName {
  readonly value: string;
  constructor(value: string) {
    this.value = value;
  }
}

export class PdfString {
  readonly bytes: Uint8Array;
  /** Written as <hex> instead of (literal). */
  readonly hex: boolean;
  constructor(bytes: Uint8Array, hex = false) {
    this.bytes = bytes;
    this.hex = hex;
  }
}

export class PdfRef {
  readonly num: number;
  readonly gen: number;
  constructor(num: number, gen = 0) {
    this.num = num;
    this.gen = gen;
  }
}

/** Bytes that the serializer writes as they are: placeholders whose exact width matters. */
export class PdfRaw {
  readonly bytes: Uint8Array;
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

export class PdfDict {
  readonly map: Map<string, PdfObject>;
  constructor(entries: Iterable<readonly [string, PdfObject]> = []) {
    this.map = new Map(entries);
  }
  /** The value as written, references unresolved; undefined when absent. */
  get(key: string): PdfObject | undefined {
    return this.map.get(key);
  }
  set(key: string, value: PdfObject): this {
    this.map.set(key, value);
    return this;
  }
  delete(key: string): this {
    this.map.delete(key);
    return this;
  }
  has(key: string): boolean {
    return this.map.has(key);
  }
  /** A shallow copy: change this one, never an object that a file handed out. */
  clone(): PdfDict {
    return new PdfDict(this.map);
  }
}

export class PdfStream {
  readonly dict: PdfDict;
  /** The bytes as stored, filters not undone. */
  readonly raw: Uint8Array;
  /** False when the file gave no length or a wrong one: readers differ in where such a stream ends. */
  readonly hasTrueLength: boolean;
  constructor(dict: PdfDict, raw: Uint8Array, hasTrueLength = true) {
    this.dict = dict;
    this.raw = raw;
    this.hasTrueLength = hasTrueLength;
  }
}

export type PdfObject =
  | null
  | boolean
  | number
  | PdfName
  | PdfString
  | PdfRef
  | PdfRaw
  | PdfDict
  | PdfStream
  | PdfObject[];

export const name = (value: string): PdfName => new PdfName(value);

/** A dictionary from a plain object; `undefined` values are left out. */
export function dict(entries: Record<string, PdfObject | undefined>): PdfDict {
  const result = new PdfDict();
  for (const [key, value] of Object.entries(entries)) if (value !== undefined) result.set(key, value);
  return result;
}

export const isName = (object: PdfObject | undefined, value: string): boolean =>
  object instanceof PdfName && object.value === value;

/** A text string (ISO 32000-1 §7.9.2.2): ASCII as it is, everything else as UTF-16BE with a byte order mark. */
export function textString(text: string): PdfString {
  if (/^[\x20-\x7e]*$/.test(text)) return new PdfString(Buffer.from(text, "latin1"));
  return new PdfString(Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(text, "utf16le").swap16()]));
}

/** Reads a text string: UTF-16 and UTF-8 by their marks, else each byte a character. */
export function textOf(string: PdfString): string {
  const bytes = Buffer.from(string.bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) {
    const even = bytes.subarray(2, bytes.length - (bytes.length % 2));
    return Buffer.from(even).swap16().toString("utf16le");
  }
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes.subarray(2).toString("utf16le");
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return bytes.subarray(3).toString("utf8");
  return bytes.toString("latin1");
}

/** A PDF date in UTC (§7.9.4) from an ISO 8601 time. */
export function pdfDate(at: string): PdfString {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) throw new RangeError(`not a time: ${at}`);
  const iso = time.toISOString();
  const date = iso.slice(0, -14).replaceAll("-", "");
  const clock = iso.slice(-13, -5).replaceAll(":", "");
  return new PdfString(Buffer.from(`D:${date}${clock}+00'00'`, "latin1"));
}

/** Whatever objects can be looked up in: a file, or a revision under way on top of one. */
export abstract class ObjectSource {
  /** The object behind a reference; null when it is free, missing or itself null. */
  abstract get(ref: PdfRef): PdfObject;

  /** For whoever goes through the whole document, and so has all of its objects kept. */
  makeRoom(): void {}

  /** Follows references until something else; null for absent values and for chains that do not end. */
  resolve(object: PdfObject | undefined): PdfObject {
    let value = object ?? null;
    for (let hops = 0; value instanceof PdfRef; hops++) {
      if (hops === 32) return null;
      value = this.get(value);
    }
    return value;
  }
  /** The dictionary behind a value (a stream's own dictionary too), or null. */
  dict(object: PdfObject | undefined): PdfDict | null {
    const value = this.resolve(object);
    return value instanceof PdfDict ? value : value instanceof PdfStream ? value.dict : null;
  }
  stream(object: PdfObject | undefined): PdfStream | null {
    const value = this.resolve(object);
    return value instanceof PdfStream ? value : null;
  }
  array(object: PdfObject | undefined): PdfObject[] | null {
    const value = this.resolve(object);
    return Array.isArray(value) ? value : null;
  }
  number(object: PdfObject | undefined): number | null {
    const value = this.resolve(object);
    return typeof value === "number" ? value : null;
  }
  /** The text of a name, or null. */
  name(object: PdfObject | undefined): string | null {
    const value = this.resolve(object);
    return value instanceof PdfName ? value.value : null;
  }
  string(object: PdfObject | undefined): PdfString | null {
    const value = this.resolve(object);
    return value instanceof PdfString ? value : null;
  }
}
