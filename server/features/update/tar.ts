import { AppError } from "../../kernel/errors.ts";

/** Archives of tar (POSIX.1-2017, pax: ustar and its extended headers), piece by piece in both directions. */

const blockSize = 512;
const mostExtended = 16 * 1024;

export type TarEntry = { path: string; type: "file" | "link"; size: number; target: string | null };

export const damaged = (what: string, cause?: unknown): AppError =>
  new AppError("validation-failed", { detail: `This is no complete update: ${what}.`, cause });

/** Takes exact numbers of bytes from a stream of pieces. */
class Source {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  async #some(most: number): Promise<Uint8Array | null> {
    while (this.#rest.length === 0) {
      const next = await this.#pieces.next();
      if (next.done) return null;
      this.#rest = next.value;
    }
    const taken = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(taken.length);
    return taken;
  }

  async *take(count: number): AsyncGenerator<Uint8Array> {
    for (let left = count; left > 0; ) {
      const piece = await this.#some(left);
      if (piece === null) throw damaged("it ends too early");
      left -= piece.length;
      yield piece;
    }
  }

  async exactly(count: number): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    for await (const piece of this.take(count)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /** @throws AppError when more than `most` bytes follow, or other ones than zeros */
  async onlyZeros(most: number): Promise<void> {
    let seen = 0;
    for (let piece = await this.#some(blockSize); piece !== null; piece = await this.#some(blockSize)) {
      seen += piece.length;
      if (seen > most || piece.some((byte) => byte !== 0)) throw damaged("something follows its end");
    }
  }

  async close(): Promise<void> {
    await this.#pieces.return?.();
  }
}

/**
 * Reads regular files and symbolic links; anything else is refused. The body of an entry can be read until the next is asked for.
 * @throws AppError `validation-failed` on whatever is no such archive, whole to its last block
 */
export async function* readTar(
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<TarEntry & { body: AsyncGenerator<Uint8Array> }> {
  const source = new Source(pieces);
  let extended: { path?: string; linkpath?: string } = {};
  try {
    for (;;) {
      const header = await source.exactly(blockSize);
      if (header.every((byte) => byte === 0)) return await source.onlyZeros(64 * blockSize);
      const { type, size, ...names } = readHeader(header);
      const padding = (blockSize - (size % blockSize)) % blockSize;
      if (type === "x") {
        if (size > mostExtended) throw damaged("a header is too long");
        extended = readExtended(await source.exactly(size));
        await source.exactly(padding);
        continue;
      }
      if (type !== "0" && type !== "2") throw damaged("it holds something else than files and links");
      if (type === "2" && size !== 0) throw damaged("a link has a length");
      const body = source.take(size);
      const path = extended.path ?? names.path;
      const target = type === "2" ? (extended.linkpath ?? names.target) : null;
      extended = {};
      yield { path, type: type === "2" ? "link" : "file", size, target, body };
      for await (const _ of body);
      await source.exactly(padding);
    }
  } finally {
    await source.close();
  }
}

function readHeader(block: Buffer): { path: string; type: string; size: number; target: string } {
  const text = (from: number, to: number) => {
    const field = block.subarray(from, to);
    const end = field.indexOf(0);
    return field.subarray(0, end < 0 ? field.length : end).toString("utf8");
  };
  const number = (from: number, to: number) => {
    const digits = text(from, to).trim();
    if (!/^[0-7]{1,11}$/.test(digits)) throw damaged("a header cannot be read");
    return Number.parseInt(digits, 8);
  };
  if (text(257, 263) !== "ustar" || number(148, 156) !== checksum(block)) throw damaged("a header cannot be read");
  const prefix = text(345, 500);
  const name = text(0, 100);
  return {
    path: prefix === "" ? name : `${prefix}/${name}`,
    type: block[156] === 0 ? "0" : text(156, 157),
    size: number(124, 136),
    target: text(157, 257),
  };
}

function checksum(block: Buffer): number {
  let sum = 8 * 0x20;
  for (const [index, byte] of block.entries()) if (index < 148 || index >= 156) sum += byte;
  return sum;
}

/** Records of the form `LENGTH KEY=VALUE\n`. */
function readExtended(bytes: Buffer): { path?: string; linkpath?: string } {
  const found: { path?: string; linkpath?: string } = {};
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const length = space < 0 ? Number.NaN : Number(bytes.subarray(at, space).toString("latin1"));
    if (!Number.isSafeInteger(length) || length <= space - at || at + length > bytes.length)
      throw damaged("a header cannot be read");
    const record = bytes.subarray(space + 1, at + length - 1).toString("utf8");
    const equals = record.indexOf("=");
    const key = record.slice(0, equals);
    if (key === "path" || key === "linkpath") found[key] = record.slice(equals + 1);
    at += length;
  }
  return found;
}

/** One entry with its headers and padding. Neither owner nor time stands in it: the same files give the same bytes. */
export async function* writeTarEntry(
  entry: Omit<TarEntry, "type"> & { executable: boolean },
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const { path, target, size, executable } = entry;
  const long = [path, target].some((text) => text !== null && Buffer.byteLength(text) > 100);
  if (long) {
    const records = Buffer.from(record("path", path) + (target === null ? "" : record("linkpath", target)));
    yield header({ path: "pax", type: "x", size: records.length, target: "", mode: 0o644 });
    yield padded(records);
  }
  const type = target === null ? "0" : "2";
  const short = long ? { path: "long", target: "" } : { path, target: target ?? "" };
  yield header({ ...short, type, size, mode: executable ? 0o755 : 0o644 });
  yield* body;
  yield Buffer.alloc((blockSize - (size % blockSize)) % blockSize);
}

export const tarEnd = (): Uint8Array => Buffer.alloc(2 * blockSize);

function record(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (rest + String(length).length !== length) length += 1;
  return `${length} ${key}=${value}\n`;
}

const padded = (bytes: Buffer) =>
  Buffer.concat([bytes, Buffer.alloc((blockSize - (bytes.length % blockSize)) % blockSize)]);

function header(about: { path: string; target: string; type: string; size: number; mode: number }): Buffer {
  const block = Buffer.alloc(blockSize);
  const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, "0")}\0`;
  block.write(about.path, 0);
  block.write(octal(about.mode, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(about.size, 12), 124);
  block.write(octal(0, 12), 136);
  block.write(about.type, 156);
  block.write(about.target, 157);
  block.write("ustar\0" + "00", 257, "latin1");
  block.write(`${checksum(block).toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}
