/** DER (ITU-T X.690): just enough to write and read CMS, timestamps and certificates. */

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** The bytes are not the DER that was expected. */
export class DerError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DerError";
  }
}

// Writing

export function encode(tag: number, ...contents: Uint8Array[]): Buffer {
  let length = 0;
  for (const part of contents) length += part.length;
  let lengthBytes = 0;
  if (length >= 0x80) for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) lengthBytes++;
  const out = Buffer.allocUnsafe(2 + lengthBytes + length);
  out[0] = tag;
  out[1] = lengthBytes === 0 ? length : 0x80 | lengthBytes;
  for (let at = 1 + lengthBytes, rest = length; at > 1; at--, rest = Math.floor(rest / 256)) out[at] = rest & 0xff;
  let at = 2 + lengthBytes;
  for (const part of contents) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

export const sequence = (...parts: Uint8Array[]): Buffer => encode(TAG.sequence, ...parts);
/** SET OF, its elements in the order that DER demands (§11.6). */
export const setOf = (...parts: Uint8Array[]): Buffer => encode(TAG.set, ...parts.toSorted(Buffer.compare));
export const octetString = (bytes: Uint8Array): Buffer => encode(TAG.octetString, bytes);
/** Context-specific and constructed: [n] with content. */
export const context = (n: number, ...parts: Uint8Array[]): Buffer => encode(0xa0 | n, ...parts);
export const nullValue = (): Buffer => encode(TAG.null);
export const boolean = (value: boolean): Buffer => encode(TAG.boolean, Buffer.from([value ? 0xff : 0]));

export function integer(value: number | bigint): Buffer {
  let big = BigInt(value);
  if (big < 0n) throw new DerError("negative integer");
  const bytes: number[] = [];
  do {
    bytes.unshift(Number(big & 0xffn));
    big >>= 8n;
  } while (big > 0n);
  if ((bytes[0] ?? 0) & 0x80) bytes.unshift(0);
  return encode(TAG.integer, Buffer.from(bytes));
}

/** The few identifiers that are written, encoded once. */
const knownOids = new Map<string, Buffer>();

export function oid(dotted: string): Buffer {
  const known = knownOids.get(dotted);
  if (known) return known;
  // Arcs under 2.25 are UUIDs of 128 bits (X.667).
  const [first = 0n, second = 0n, ...rest] = dotted.split(".").map(BigInt);
  const bytes: number[] = [];
  for (const arc of [first * 40n + second, ...rest]) {
    const septets = [Number(arc & 0x7fn)];
    for (let left = arc >> 7n; left > 0n; left >>= 7n) septets.unshift(Number(left & 0x7fn) | 0x80);
    bytes.push(...septets);
  }
  const encoded = encode(TAG.oid, Buffer.from(bytes));
  knownOids.set(dotted, encoded);
  return encoded;
}

/** GeneralizedTime in UTC with milliseconds, without trailing zeros (X.690 §11.7). */
export function generalizedTime(at: string): Buffer {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) throw new RangeError(`not a time: ${at}`);
  const [whole = "", fraction = ""] = time
    .toISOString()
    .replace(/[-:TZ]/g, "")
    .split(".");
  const digits = fraction.replace(/0+$/, "");
  return encode(TAG.generalizedTime, Buffer.from(`${whole}${digits ? `.${digits}` : ""}Z`, "latin1"));
}

// Reading

const MAX_OID_LENGTH = 64;
/** The same few stand in every signature. */
const readOids = new Map<string, string>();
const MAX_READ_OIDS = 256;

/** One element within a larger buffer; nothing is copied. */
export class DerNode {
  readonly bytes: Uint8Array;
  readonly tag: number;
  readonly start: number;
  readonly contentStart: number;
  readonly end: number;

  constructor(bytes: Uint8Array, tag: number, start: number, contentStart: number, end: number) {
    this.bytes = bytes;
    this.tag = tag;
    this.start = start;
    this.contentStart = contentStart;
    this.end = end;
  }
  /** Tag, length and content. */
  get raw(): Buffer {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset + this.start, this.end - this.start);
  }
  get content(): Buffer {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset + this.contentStart, this.end - this.contentStart);
  }
  /** The elements within; @throws DerError unless constructed. */
  children(): DerNode[] {
    if ((this.tag & 0x20) === 0) throw new DerError("not a constructed element");
    const nodes: DerNode[] = [];
    for (let at = this.contentStart; at < this.end; ) {
      const node = decodeAt(this.bytes, at, this.end);
      nodes.push(node);
      at = node.end;
    }
    return nodes;
  }
  expect(tag: number): this {
    if (this.tag !== tag) throw new DerError(`expected tag ${tag}, found ${this.tag}`);
    return this;
  }
  oid(): string {
    const content = this.expect(TAG.oid).content;
    if (content.length > MAX_OID_LENGTH) throw new DerError("object identifier too large");
    const hex = content.toString("hex");
    const known = readOids.get(hex);
    if (known !== undefined) return known;
    const arcs: bigint[] = [];
    let value = 0n;
    for (const byte of content) {
      value = (value << 7n) | BigInt(byte & 0x7f);
      if (byte & 0x80) continue;
      const root = value < 80n ? value / 40n : 2n;
      if (arcs.length === 0) arcs.push(root, value - 40n * root);
      else arcs.push(value);
      value = 0n;
    }
    const dotted = arcs.join(".");
    if (readOids.size < MAX_READ_OIDS) readOids.set(hex, dotted);
    return dotted;
  }
  integer(): bigint {
    const content = this.expect(TAG.integer).content;
    if (content.length === 0) throw new DerError("empty integer");
    return BigInt.asIntN(content.length * 8, BigInt(`0x${content.toString("hex")}`));
  }
  /** ISO 8601 with milliseconds. */
  time(): string {
    const text = this.expect(TAG.generalizedTime).content.toString("latin1");
    const match = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.(\d+))?Z$/.exec(text);
    if (!match) throw new DerError("bad time");
    const [, year, month, day, hour, minute, second, fraction = ""] = match;
    const at = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}.${`${fraction}000`.slice(0, 3)}Z`);
    if (Number.isNaN(at.getTime())) throw new DerError("bad time");
    return at.toISOString();
  }
}

function decodeAt(bytes: Uint8Array, at: number, limit: number): DerNode {
  const tag = bytes[at];
  const first = bytes[at + 1];
  if (tag === undefined || first === undefined || at + 2 > limit) throw new DerError("truncated");
  if ((tag & 0x1f) === 0x1f) throw new DerError("high tag numbers are not used here");
  let length = first;
  let content = at + 2;
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 4) throw new DerError("indefinite or oversized length");
    length = 0;
    for (let i = 0; i < count; i++) length = length * 256 + (bytes[content + i] ?? 0);
    content += count;
    if (length < 0x80 || length < 256 ** (count - 1)) throw new DerError("length is not minimal");
  }
  if (content + length > limit) throw new DerError("truncated");
  return new DerNode(bytes, tag, at, content, content + length);
}

/** The element at the start of `bytes`; what follows it is the caller's business. @throws DerError */
export const decode = (bytes: Uint8Array): DerNode => decodeAt(bytes, 0, bytes.length);

/** The one element that `bytes` consist of. @throws DerError when anything follows it. */
export function decodeWhole(bytes: Uint8Array): DerNode {
  const node = decode(bytes);
  if (node.end !== bytes.length) throw new DerError("bytes after the end");
  return node;
}
