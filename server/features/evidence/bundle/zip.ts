import type { ArchiveFault } from "../words.ts";

/**
 * ZIP archives (APPNOTE.TXT 6.3) as evidence bundles need them. Isomorphic. Files are stored, not compressed: what weighs
 * are PDFs and pictures, which do not get smaller, and the same content always gives the same bytes.
 */

export type ZipEntry = { name: string; bytes: Uint8Array };

/** The archive is damaged, or uses what bundles do not: the code says what. */
export class ZipError extends Error {
  override name = "ZipError";
  readonly fault: ArchiveFault;
  constructor(fault: ArchiveFault) {
    super(`the archive cannot be read: ${fault}`);
    this.fault = fault;
  }
}

const utf8 = new TextEncoder();
const local = 0x04034b50;
const central = 0x02014b50;
const end = 0x06054b50;
const descriptor = 0x08074b50;
/** Names are UTF-8 (APPNOTE §4.4.4). */
const utf8Names = 0x0800;
const maxNumber = 0xffffffff;

/**
 * The archive in parts, so that large files are not copied.
 * @param at when the files say that they were written, in UTC
 */
export function zipParts(entries: readonly ZipEntry[], at: string): Uint8Array[] {
  const writer = new ZipWriter(at);
  return [
    ...entries.flatMap(({ name, bytes }) => [writer.head(name, bytes.length, crc32(bytes)), bytes]),
    ...writer.end(),
  ];
}

/** What is read a piece at a time, as often as it is asked. */
type Stored = { size: number; pieces(): AsyncIterable<Uint8Array> };

/** An entry whose content is fetched when its turn has come: small, or stored, which is read once for its sum before. */
export type ZipSource =
  | { name: string; content: () => Promise<Uint8Array> }
  | { name: string; open: (look: (piece: Uint8Array) => void) => Promise<Stored> };

const pieceLength = 256 * 1024;

/**
 * The same archive piece by piece: of what is stored, a piece at a time is held.
 * @param sum CRC-32 of what follows that of the bytes before, by the platform's own code where it has some
 */
export async function* zipPieces(
  sources: Iterable<ZipSource>,
  at: string,
  sum: (bytes: Uint8Array, before?: number) => number = crc32,
): AsyncGenerator<Uint8Array> {
  const writer = new ZipWriter(at);
  for (const source of sources) {
    if ("open" in source) {
      let checksum = 0;
      const stored = await source.open((piece) => {
        checksum = sum(piece, checksum);
      });
      yield writer.head(source.name, stored.size, checksum);
      yield* stored.pieces();
      continue;
    }
    const bytes = await source.content();
    yield writer.head(source.name, bytes.length, sum(bytes));
    for (let from = 0; from < bytes.length; from += pieceLength) yield bytes.subarray(from, from + pieceLength);
  }
  yield* writer.end();
}

/** Makes the heads of the entries, and the directory behind them. */
class ZipWriter {
  readonly #time: { date: number; time: number };
  readonly #directory: Uint8Array[] = [];
  #offset = 0;

  constructor(at: string) {
    this.#time = dosTime(at);
  }
  head(name: string, size: number, sum: number): Uint8Array {
    const { date, time } = this.#time;
    const path = utf8.encode(name);
    const common = [u16(20), u16(utf8Names), u16(0), u16(time), u16(date), u32(sum), u32(size)];
    const lengths = [u32(size), u16(path.length), u16(0)];
    const head = joined(u32(local), ...common, ...lengths, path);
    // Made by Unix, so that the mode 0644 in the upper half of the external attributes counts.
    const attributes = [u16(0), u16(0), u16(0), u32(0o100644 * 0x10000), u32(this.#offset)];
    this.#directory.push(joined(u32(central), u16(0x0314), ...common, ...lengths, ...attributes, path));
    this.#offset += head.length + size;
    return head;
  }
  /** @throws ZipError when there was more than the format holds */
  end(): Uint8Array[] {
    const size = this.#directory.reduce((sum, part) => sum + part.length, 0);
    if (this.#offset + size > maxNumber || this.#directory.length > 0xffff) throw new ZipError("too-large");
    const count = u16(this.#directory.length);
    const tail = joined(u32(end), u16(0), u16(0), count, count, u32(size), u32(this.#offset), u16(0));
    return [...this.#directory, tail];
  }
}

/** How a compressed entry is opened again: somebody may have packed the bundle anew. */
export type Inflate = (bytes: Uint8Array, size: number) => Promise<Uint8Array>;

const maxEntries = 2000;
const maxTotal = 1024 * 1024 * 1024;

/** What the directory says of an entry. */
type Listed = {
  name: string;
  raw: Uint8Array;
  flags: number;
  method: number;
  sum: number;
  packed: number;
  size: number;
  head: number;
};

/** Bit 0 of the flags: encrypted. Bit 3: sizes and sum stand behind the content. */
const encryptedFlag = 1;
const laterFlag = 8;
/** Extra fields that give an entry another size or name (APPNOTE §4.5.3, §4.6.9). */
const misleadingExtras = [0x0001, 0x7075];

/**
 * The files of an archive by name. Folders are left out, but for those in which no file lies: they are given as empty files,
 * for the name of one is all that there is of it, and somebody has to look at it. Only archives that every program reads alike: one directory at
 * the very end, the entries one behind the other from the first byte on, each saying of itself what the directory says.
 * @param inflate must not give more than `size` bytes
 * @throws ZipError
 */
export async function readZip(archive: Uint8Array, inflate: Inflate): Promise<Map<string, Uint8Array>> {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  const files = new Map<string, Uint8Array>();
  try {
    const { listed, start } = directoryOf(archive, view);
    const ordered = listed.flatMap(({ name }) => (name.endsWith("/") ? [] : [name])).sort();
    let reached = 0;
    for (const entry of [...listed].sort((a, b) => a.head - b.head)) {
      if (entry.head !== reached) throw new ZipError("ambiguous");
      const content = contentAt(archive, view, entry);
      reached = content.next;
      const isFolder = entry.name.endsWith("/");
      // What a folder carries some programs unpack, and others do not.
      if (isFolder && (entry.size !== 0 || !isNothing(entry, content.bytes))) throw new ZipError("ambiguous");
      if (isFolder && holdsFile(entry.name, ordered)) continue;
      files.set(entry.name, await opened(entry, content.bytes, inflate));
    }
    if (reached !== start) throw new ZipError("ambiguous");
    // In the order of the directory.
    return new Map(
      listed.flatMap(({ name }) => {
        const bytes = files.get(name);
        return bytes ? [[name, bytes]] : [];
      }),
    );
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) throw new ZipError("damaged");
    throw error;
  }
}

/** @param files names in order, so that a thousand long ones are not each compared with a thousand folders */
function holdsFile(folder: string, files: readonly string[]): boolean {
  let [low, high] = [0, files.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((files[middle] ?? "") < folder) low = middle + 1;
    else high = middle;
  }
  return files[low]?.startsWith(folder) ?? false;
}

/** No bytes, or the two into which Java's writer packs none (RFC 1951 §3.2.6: one last block, which is empty). */
const isNothing = ({ method }: Listed, bytes: Uint8Array): boolean =>
  bytes.length === 0 || (method === 8 && bytes.length === 2 && bytes[0] === 3 && bytes[1] === 0);

function directoryOf(archive: Uint8Array, view: DataView): { listed: Listed[]; start: number } {
  const tail = view.byteLength - 22;
  if (tail < 0) throw new ZipError("not-an-archive");
  // With a comment there would be two places to look for the end, and programs differ in which they take.
  if (view.getUint32(tail, true) !== end || view.getUint16(tail + 20, true) !== 0)
    throw new ZipError(view.getUint32(0, true) === local ? "ambiguous" : "not-an-archive");
  const [count, start] = [view.getUint16(tail + 10, true), view.getUint32(tail + 16, true)];
  const disks = [view.getUint16(tail + 4, true), view.getUint16(tail + 6, true)];
  if (disks.some((disk) => disk !== 0) || view.getUint16(tail + 8, true) !== count) throw new ZipError("ambiguous");
  if (start + view.getUint32(tail + 12, true) !== tail) throw new ZipError("ambiguous");
  if (count > maxEntries) throw new ZipError("too-large");
  const listed: Listed[] = [];
  const names = new Set<string>();
  let [at, total] = [start, 0];
  for (let index = 0; index < count; index += 1) {
    if (view.getUint32(at, true) !== central) throw new ZipError("damaged");
    const [nameLength, extraLength] = [view.getUint16(at + 28, true), view.getUint16(at + 30, true)];
    const raw = archive.subarray(at + 46, at + 46 + nameLength);
    const name = new TextDecoder("utf-8", { fatal: true }).decode(raw);
    const size = view.getUint32(at + 24, true);
    total += size;
    if (total > maxTotal) throw new ZipError("too-large");
    if (names.has(name)) throw new ZipError("twice");
    names.add(name);
    checkExtras(view, at + 46 + nameLength, extraLength);
    const [flags, method, sum] = [
      view.getUint16(at + 8, true),
      view.getUint16(at + 10, true),
      view.getUint32(at + 16, true),
    ];
    listed.push({
      name,
      raw,
      flags,
      method,
      sum,
      packed: view.getUint32(at + 20, true),
      size,
      head: view.getUint32(at + 42, true),
    });
    at += 46 + nameLength + extraLength + view.getUint16(at + 32, true);
  }
  if (at !== tail) throw new ZipError("ambiguous");
  return { listed, start };
}

function checkExtras(view: DataView, from: number, length: number): void {
  for (let at = from; at < from + length; at += 4 + view.getUint16(at + 2, true))
    if (misleadingExtras.includes(view.getUint16(at, true))) throw new ZipError("ambiguous");
}

/** The packed bytes, and where the next entry must begin. */
function contentAt(archive: Uint8Array, view: DataView, entry: Listed): { bytes: Uint8Array; next: number } {
  const { head, flags, method, sum, packed, size, raw } = entry;
  if ((flags & encryptedFlag) !== 0) throw new ZipError("encrypted");
  if (method !== 0 && method !== 8) throw new ZipError("compression");
  if (view.getUint32(head, true) !== local) throw new ZipError("damaged");
  const [nameLength, extraLength] = [view.getUint16(head + 26, true), view.getUint16(head + 28, true)];
  const name = archive.subarray(head + 30, head + 30 + nameLength);
  const own = [14, 18, 22].map((at) => view.getUint32(head + at, true));
  const listed = [sum, packed, size];
  const later = (flags & laterFlag) !== 0;
  // What stands behind can be found without the directory only behind a stream that says where it ends.
  if (later && method !== 8) throw new ZipError("ambiguous");
  const same = own.every((value, index) => value === listed[index] || (later && value === 0));
  const alike = view.getUint16(head + 6, true) === flags && view.getUint16(head + 8, true) === method;
  if (!same || !alike || !sameBytes(name, raw)) throw new ZipError("ambiguous");
  checkExtras(view, head + 30 + nameLength, extraLength);
  const start = head + 30 + nameLength + extraLength;
  if (start + packed > archive.length) throw new ZipError("damaged");
  const bytes = archive.subarray(start, start + packed);
  if (!later) return { bytes, next: start + packed };
  const signed = view.getUint32(start + packed, true) === descriptor ? 4 : 0;
  const behind = [0, 4, 8].map((at) => view.getUint32(start + packed + signed + at, true));
  if (behind.some((value, index) => value !== listed[index])) throw new ZipError("ambiguous");
  return { bytes, next: start + packed + signed + 12 };
}

async function opened({ method, packed, size, sum }: Listed, raw: Uint8Array, inflate: Inflate): Promise<Uint8Array> {
  if (method === 0 && packed !== size) throw new ZipError("damaged");
  // Each platform has its own word for a stream that is none.
  const bytes = method === 0 ? raw : await inflate(raw, size).catch(() => raise("damaged"));
  if (bytes.length !== size || crc32(bytes) !== sum) throw new ZipError("damaged");
  return bytes;
}

const raise = (fault: ArchiveFault): never => {
  throw new ZipError(fault);
};

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, index) => byte === b[index]);

function dosTime(at: string): { date: number; time: number } {
  const when = new Date(at);
  const year = Math.min(Math.max(when.getUTCFullYear() - 1980, 0), 127);
  return {
    date: (year << 9) | ((when.getUTCMonth() + 1) << 5) | when.getUTCDate(),
    time: (when.getUTCHours() << 11) | (when.getUTCMinutes() << 5) | (when.getUTCSeconds() >> 1),
  };
}

const u16 = (value: number): Uint8Array => Uint8Array.of(value & 0xff, (value >>> 8) & 0xff);
const u32 = (value: number): Uint8Array =>
  Uint8Array.of(value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, (value >>> 24) & 0xff);

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

function crc32(bytes: Uint8Array, before = 0): number {
  let sum = before ^ 0xffffffff;
  for (const byte of bytes) sum = (sum >>> 8) ^ (crcTable[(sum ^ byte) & 0xff] ?? 0);
  return (sum ^ 0xffffffff) >>> 0;
}
