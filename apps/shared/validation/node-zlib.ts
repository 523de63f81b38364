/** Stands for `node:zlib` where PDFs are validated in a browser: inflating, at once and within a limit. */

export const constants = { Z_SYNC_FLUSH: 2 };

class ZlibError extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}
const damaged = (): ZlibError => new ZlibError("Z_DATA_ERROR");

const lengthBase = [
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
];
const lengthBits = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const distanceBase = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
  8193, 12289, 16385, 24577,
];
const distanceBits = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13];
const lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** Thrown where the data ends: what was decoded until then is the answer. */
const cutShort = Symbol("cut short");

/**
 * Undoes zlib compression (RFC 1950, RFC 1951). Data that is cut short yields what it holds, as zlib does with
 * Z_SYNC_FLUSH; the checksum at the end is compared where it is there.
 * @throws ZlibError `ERR_BUFFER_TOO_LARGE` above the limit, `Z_DATA_ERROR`
 */
export function inflateSync(data: Uint8Array, { maxOutputLength }: { maxOutputLength: number }): Uint8Array {
  const [method, flags] = data;
  if (method !== undefined && (method & 15) !== 8) throw damaged();
  if (method !== undefined && flags !== undefined && ((method * 256 + flags) % 31 !== 0 || flags & 32)) throw damaged();
  const state = new Inflation(data, maxOutputLength);
  try {
    while (!state.block());
    const sum = state.trailer();
    if (sum !== null && sum !== adler32(state.result())) throw damaged();
  } catch (error) {
    if (error !== cutShort) throw error;
  }
  return state.result();
}

type Tree = { counts: Uint16Array; symbols: Uint16Array };

class Inflation {
  readonly #data: Uint8Array;
  readonly #limit: number;
  #at = 2;
  #hold = 0;
  #held = 0;
  #out: Uint8Array<ArrayBuffer>;
  #length = 0;

  constructor(data: Uint8Array, limit: number) {
    this.#data = data;
    this.#limit = limit;
    this.#out = new Uint8Array(Math.min(limit, Math.max(1024, data.length * 4)));
  }
  result(): Uint8Array {
    return this.#out.subarray(0, this.#length);
  }
  #bits(count: number): number {
    while (this.#held < count) {
      const byte = this.#data[this.#at++];
      if (byte === undefined) throw cutShort;
      this.#hold |= byte << this.#held;
      this.#held += 8;
    }
    const value = this.#hold & ((1 << count) - 1);
    this.#hold >>>= count;
    this.#held -= count;
    return value;
  }
  #symbol({ counts, symbols }: Tree): number {
    let [code, first, index] = [0, 0, 0];
    for (let length = 1; length <= 15; length += 1) {
      code |= this.#bits(1);
      const count = counts[length] ?? 0;
      if (code - count < first) return symbols[index + code - first] ?? 0;
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    throw damaged();
  }
  #put(byte: number): void {
    if (this.#length === this.#out.length) {
      if (this.#length >= this.#limit) throw new ZlibError("ERR_BUFFER_TOO_LARGE");
      const larger = new Uint8Array(Math.min(this.#limit, this.#out.length * 2));
      larger.set(this.#out);
      this.#out = larger;
    }
    this.#out[this.#length++] = byte;
  }
  /** @returns whether it was the last */
  block(): boolean {
    const last = this.#bits(1) === 1;
    const kind = this.#bits(2);
    if (kind === 0) this.#stored();
    else if (kind === 1) this.#codes(fixedLengths, fixedDistances);
    else if (kind === 2) this.#codes(...this.#trees());
    else throw damaged();
    return last;
  }
  #stored(): void {
    [this.#hold, this.#held] = [0, 0];
    const length = this.#bits(16);
    if (this.#bits(16) !== (~length & 0xffff)) throw damaged();
    for (let left = length; left > 0; left -= 1) this.#put(this.#bits(8));
  }
  #trees(): [Tree, Tree] {
    const [literals, distances, codes] = [this.#bits(5) + 257, this.#bits(5) + 1, this.#bits(4) + 4];
    if (literals > 286 || distances > 30) throw damaged();
    const own = new Array<number>(19).fill(0);
    for (const symbol of lengthOrder.slice(0, codes)) own[symbol] = this.#bits(3);
    const tree = treeOf(own);
    const lengths: number[] = [];
    while (lengths.length < literals + distances) {
      const symbol = this.#symbol(tree);
      if (symbol < 16) lengths.push(symbol);
      else if (symbol === 16) {
        const before = lengths.at(-1);
        if (before === undefined) throw damaged();
        lengths.push(...new Array<number>(3 + this.#bits(2)).fill(before));
      } else lengths.push(...new Array<number>(symbol === 17 ? 3 + this.#bits(3) : 11 + this.#bits(7)).fill(0));
    }
    if (lengths.length > literals + distances || lengths[256] === 0) throw damaged();
    return [treeOf(lengths.slice(0, literals)), treeOf(lengths.slice(literals))];
  }
  #codes(lengths: Tree, distances: Tree): void {
    for (;;) {
      const symbol = this.#symbol(lengths);
      if (symbol === 256) return;
      if (symbol < 256) {
        this.#put(symbol);
        continue;
      }
      const [base, extra] = [lengthBase[symbol - 257], lengthBits[symbol - 257]];
      if (base === undefined || extra === undefined) throw damaged();
      const length = base + this.#bits(extra);
      const place = this.#symbol(distances);
      const [nearest, more] = [distanceBase[place], distanceBits[place]];
      if (nearest === undefined || more === undefined) throw damaged();
      const distance = nearest + this.#bits(more);
      if (distance > this.#length) throw damaged();
      for (let left = length; left > 0; left -= 1) this.#put(this.#out[this.#length - distance] ?? 0);
    }
  }
  /** The Adler-32 behind the last block; null where the data ends before it does. */
  trailer(): number | null {
    // Whole bytes that were read ahead belong to it.
    this.#at -= this.#held >> 3;
    if (this.#at + 4 > this.#data.length) return null;
    return new DataView(this.#data.buffer, this.#data.byteOffset + this.#at).getUint32(0);
  }
}

function treeOf(lengths: readonly number[]): Tree {
  const counts = new Uint16Array(16);
  for (const length of lengths) counts[length] = (counts[length] ?? 0) + 1;
  counts[0] = 0;
  const offsets = new Uint16Array(17);
  let left = 1;
  for (let length = 1; length <= 15; length += 1) {
    left = left * 2 - (counts[length] ?? 0);
    if (left < 0) throw damaged();
    offsets[length + 1] = (offsets[length] ?? 0) + (counts[length] ?? 0);
  }
  const symbols = new Uint16Array(lengths.length);
  lengths.forEach((length, symbol) => {
    if (length === 0) return;
    const at = offsets[length] ?? 0;
    symbols[at] = symbol;
    offsets[length] = at + 1;
  });
  return { counts, symbols };
}

const fixedLengths = treeOf(Array.from({ length: 288 }, (_, n) => (n < 144 ? 8 : n < 256 ? 9 : n < 280 ? 7 : 8)));
const fixedDistances = treeOf(new Array<number>(30).fill(5));

function adler32(bytes: Uint8Array): number {
  let [a, b] = [1, 0];
  for (const byte of bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return b * 65536 + a;
}

/** Compressing is for what is written; nothing is written where things are checked. */
export function deflateSync(): never {
  throw new Error("nothing is compressed here");
}
