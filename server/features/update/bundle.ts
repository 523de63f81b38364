import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { createGunzip } from "node:zlib";
import { AppError } from "../../kernel/errors.ts";
import {
  bytesOf,
  checkSignatures,
  type Manifest,
  mostManifestBytes,
  mostSignatureBytes,
  type PinnedKeys,
  readManifest,
} from "./manifest.ts";
import { damaged, readTar, type TarEntry } from "./tar.ts";

/**
 * An update is one .tar.gz: `manifest.json`, `signatures.json`, then every file of the release below `release/`, in the order
 * of the manifest. Nothing of it is used before the signatures of the manifest were found good, and no file but as it says.
 */
export const manifestName = "manifest.json";
export const signaturesName = "signatures.json";
export const releasePrefix = "release/";

export type BundleFacts = { manifest: Manifest; manifestSha256: string; signedBy: string[] };

export type BundleVisitor = {
  /** Once the signatures were found good; what it throws ends the reading. */
  manifest?: (facts: BundleFacts) => Promise<void>;
  /** Reads the body to its end; it throws there when the content is not what the manifest says. */
  file?: (file: Manifest["files"][number], body: AsyncIterable<Uint8Array>) => Promise<void>;
  link?: (link: Manifest["links"][number]) => Promise<void>;
  /** Share that was read, 0 to 1. */
  progress?: (share: number) => void;
};

/**
 * Reads a whole update, some kilobytes at a time.
 * @throws AppError `validation-failed` on whatever is not exactly what the holders of the pinned keys signed
 */
export async function readBundle(file: string, pinned: PinnedKeys, visit: BundleVisitor = {}): Promise<BundleFacts> {
  // A pipe that lies there would be waited for until somebody writes into it.
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (!(await handle.stat()).isFile()) throw new AppError("validation-failed", { detail: `${file} is no file.` });
    const packed = handle.createReadStream({ autoClose: false, highWaterMark: 256 * 1024 });
    const unpacked = createGunzip();
    packed.on("error", (error) => unpacked.destroy(error));
    packed.pipe(unpacked);
    try {
      return await readEntries(readTar(unpacked), pinned, visit);
    } catch (error) {
      throw isZlibError(error) ? damaged("it cannot be unpacked", error) : error;
    } finally {
      packed.destroy();
      unpacked.destroy();
    }
  } finally {
    await handle.close();
  }
}

const isZlibError = (error: unknown) =>
  error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("Z_");

type Entry = TarEntry & { body: AsyncIterable<Uint8Array> };

async function readEntries(
  entries: AsyncGenerator<Entry>,
  pinned: PinnedKeys,
  visit: BundleVisitor,
): Promise<BundleFacts> {
  const next = async (): Promise<Entry | null> => {
    const taken = await entries.next();
    return taken.done ? null : taken.value;
  };
  try {
    const text = await small(await next(), manifestName, mostManifestBytes);
    const signatures = await small(await next(), signaturesName, mostSignatureBytes);
    const signedBy = checkSignatures(text, signatures, pinned);
    const manifest = readManifest(text);
    const facts = { manifest, manifestSha256: createHash("sha256").update(text).digest("hex"), signedBy };
    await visit.manifest?.(facts);
    const total = Math.max(1, bytesOf(manifest));
    let read = 0;
    for (const spec of manifest.files) {
      const entry = await next();
      if (entry?.path !== releasePrefix + spec.path || entry.type !== "file" || entry.size !== spec.size)
        throw damaged(`${spec.path} is not where it has to be`);
      const reading = { whole: false };
      const body = checked(entry.body, spec, reading);
      if (visit.file) await visit.file(spec, body);
      for await (const _ of body);
      if (!reading.whole) throw new Error(`${spec.path} was not read to its end`);
      read += spec.size;
      visit.progress?.(read / total);
    }
    for (const spec of manifest.links) {
      const entry = await next();
      if (entry?.path !== releasePrefix + spec.path || entry.type !== "link" || entry.target !== spec.target)
        throw damaged(`${spec.path} is not where it has to be`);
      await visit.link?.(spec);
    }
    if ((await next()) !== null) throw damaged("it holds more than its manifest says");
    return facts;
  } finally {
    await entries.return(undefined);
  }
}

async function small(entry: Entry | null, name: string, most: number): Promise<Buffer> {
  if (entry?.path !== name || entry.type !== "file" || entry.size > most) throw damaged(`${name} is missing`);
  const pieces: Uint8Array[] = [];
  for await (const piece of entry.body) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function* checked(
  body: AsyncIterable<Uint8Array>,
  { path, sha256 }: Manifest["files"][number],
  reading: { whole: boolean },
): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  for await (const piece of body) {
    hash.update(piece);
    yield piece;
  }
  if (hash.digest("hex") !== sha256) throw damaged(`${path} is not what was signed`);
  reading.whole = true;
}
