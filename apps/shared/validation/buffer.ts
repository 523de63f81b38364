/**
 * What the validation of PDFs uses of Node's `Buffer`, over a plain Uint8Array. Set as the global of that name by
 * `platform.ts`, in pages and workers that validate.
 */

type Encoding = "latin1" | "hex" | "utf8" | "utf16le" | "ascii";

class Bytes extends Uint8Array {
  override toString(encoding: Encoding = "utf8"): string {
    if (encoding === "hex") return hexOf(this);
    if (encoding === "utf8") return new TextDecoder().decode(this);
    if (encoding === "utf16le") return new TextDecoder("utf-16le", { ignoreBOM: true }).decode(this);
    let text = "";
    for (let at = 0; at < this.length; at += 8192) text += String.fromCharCode(...this.subarray(at, at + 8192));
    return text;
  }
  equals(other: Uint8Array): boolean {
    return this.length === other.length && this.every((byte, index) => byte === other[index]);
  }
  override indexOf(search: number | string, from = 0): number {
    if (typeof search === "number") return super.indexOf(search, from);
    const word = latin1(search);
    for (let at = super.indexOf(word[0] ?? -1, from); at >= 0; at = super.indexOf(word[0] ?? -1, at + 1))
      if (word.every((byte, index) => this[at + index] === byte)) return at;
    return -1;
  }
  override lastIndexOf(search: number | string, from = this.length - 1): number {
    if (typeof search === "number") return super.lastIndexOf(search, from);
    const word = latin1(search);
    for (let at = Math.min(from, this.length - word.length); at >= 0; at -= 1)
      if (word.every((byte, index) => this[at + index] === byte)) return at;
    return -1;
  }
  swap16(): this {
    for (let at = 0; at + 1 < this.length; at += 2) {
      const low = this[at] ?? 0;
      this[at] = this[at + 1] ?? 0;
      this[at + 1] = low;
    }
    return this;
  }
  /** Latin-1, which is all that PDF syntax is written in. @returns bytes written */
  write(text: string, at: number): number {
    const bytes = latin1(text).subarray(0, this.length - at);
    this.set(bytes, at);
    return bytes.length;
  }
  copy(target: Uint8Array, targetStart = 0, start = 0, end = this.length): number {
    target.set(this.subarray(start, end), targetStart);
    return end - start;
  }
  writeUIntBE(value: number, at: number, length: number): number {
    for (let [index, rest] = [length - 1, value]; index >= 0; index -= 1, rest = Math.floor(rest / 256))
      this[at + index] = rest % 256;
    return at + length;
  }
  writeUInt8(value: number, at: number): number {
    return this.writeUIntBE(value, at, 1);
  }
  writeUInt16BE(value: number, at: number): number {
    return this.writeUIntBE(value, at, 2);
  }
}

const latin1 = (text: string): Bytes => {
  const bytes = new Bytes(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
};

function hexOf(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += (byte < 16 ? "0" : "") + byte.toString(16);
  return text;
}

/** As Node: what follows the first character that is no digit is left out. */
function fromHex(text: string): Bytes {
  const digits = /^([0-9a-f]{2})*/i.exec(text)?.[0] ?? "";
  const bytes = new Bytes(digits.length / 2);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = Number.parseInt(digits.slice(at * 2, at * 2 + 2), 16);
  return bytes;
}

function utf16(text: string): Bytes {
  const bytes = new Bytes(text.length * 2);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < text.length; at += 1) view.setUint16(at * 2, text.charCodeAt(at), true);
  return bytes;
}

function encoded(text: string, encoding: Encoding): Bytes {
  if (encoding === "hex") return fromHex(text);
  if (encoding === "utf16le") return utf16(text);
  return encoding === "utf8" ? new Bytes(new TextEncoder().encode(text)) : latin1(text);
}

/** A view on an ArrayBuffer, a copy of anything else. */
function from(source: string | ArrayLike<number> | ArrayBuffer, second?: Encoding | number, length?: number): Bytes {
  if (typeof source === "string") return encoded(source, typeof second === "string" ? second : "utf8");
  if (source instanceof ArrayBuffer) return new Bytes(source, Number(second ?? 0), length);
  return new Bytes(source);
}

function concat(parts: readonly Uint8Array[]): Bytes {
  const bytes = new Bytes(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function compare(a: Uint8Array, b: Uint8Array): number {
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return Math.sign(a.length - b.length);
}

const alloc = (length: number, fill = 0): Bytes => new Bytes(length).fill(fill);

export const WebBuffer = Object.assign(Bytes, { from, concat, compare, alloc, allocUnsafe: alloc });
