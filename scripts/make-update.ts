import "../server/node-version.ts";
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { lstat, mkdir, readdir, readFile, readlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { createGzip } from "node:zlib";
import { manifestName, releasePrefix, signaturesName } from "../server/features/update/bundle.ts";
import {
  keyIdOf,
  type Manifest,
  readManifest,
  type Signature,
  Signatures,
  signedBytes,
} from "../server/features/update/manifest.ts";
import { readReleaseKeys, releaseKeysFile } from "../server/features/update/release-keys.ts";
import { tarEnd, writeTarEntry } from "../server/features/update/tar.ts";

/** Makes a signed update from the folder of a release; see installer/update/README.md. */

const usage = `make-update keys --out FOLDER                          two key pairs, and ${releaseKeysFile} that pins both
make-update manifest --release FOLDER --out FILE [--minimum VERSION] [--platform linux-x64] [--node bin/node|-] [--main server/main.ts]
make-update sign --manifest FILE --key FILE --out FILE   a signature, where the key is
make-update pack --release FOLDER --manifest FILE --signature FILE … --out FILE`;

export type ManifestOptions = {
  release: string;
  minimumVersion?: string | undefined;
  platform?: string | undefined;
  /** Within the release; null for the Node that runs the update. */
  node?: string | null | undefined;
  main?: string | undefined;
  createdAt: string;
};

/** Describes every file and link below the folder. @throws Error when it cannot be updated to, or from */
export async function makeManifest(options: ManifestOptions): Promise<Buffer> {
  const { release } = options;
  await readReleaseKeys(release);
  const about: unknown = JSON.parse(await readFile(path.join(release, "package.json"), "utf8"));
  const version = about !== null && typeof about === "object" && "version" in about ? about.version : undefined;
  const files: Manifest["files"] = [];
  const links: Manifest["links"] = [];
  const names = await readdir(release, { recursive: true, encoding: "utf8" });
  for (const name of names.sort()) {
    const file = path.join(release, name);
    const found = await lstat(file);
    const within = name.replaceAll(path.sep, "/");
    if (found.isSymbolicLink()) links.push({ path: within, target: await readlink(file) });
    else if (found.isFile()) {
      const sha256 = await hashOf(file);
      files.push({ path: within, size: found.size, sha256, executable: (found.mode & 0o100) !== 0 });
    } else if (!found.isDirectory()) throw new Error(`${file} is neither file, folder nor link`);
  }
  const text = Buffer.from(
    `${JSON.stringify({
      format: "signet-update/1",
      version,
      minimumVersion: options.minimumVersion ?? "0.0.0",
      platform: options.platform ?? `${process.platform}-${process.arch}`,
      createdAt: options.createdAt,
      program: { node: options.node === undefined ? "bin/node" : options.node, main: options.main ?? "server/main.ts" },
      files,
      links,
    })}\n`,
  );
  readManifest(text);
  return text;
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

/** @param key Ed25519 */
export function signManifest(manifest: Uint8Array, key: KeyObject): Signature {
  const publicKeyPem = createPublicKey(key).export({ type: "spki", format: "pem" }).toString();
  return { keyId: keyIdOf(publicKeyPem), signature: sign(null, signedBytes(manifest), key).toString("base64") };
}

/** Writes the update. Whether the files are those of the manifest is seen by whoever reads it: `signet update verify`. */
export async function packUpdate(
  release: string,
  manifest: Uint8Array,
  signatures: readonly Signature[],
  out: string,
): Promise<void> {
  const { files, links } = readManifest(manifest);
  async function* archive(): AsyncGenerator<Uint8Array> {
    const text = Buffer.from(`${JSON.stringify({ signatures })}\n`);
    for (const [name, bytes] of [
      [manifestName, manifest],
      [signaturesName, text],
    ] as const)
      yield* writeTarEntry({ path: name, size: bytes.length, target: null, executable: false }, Readable.from([bytes]));
    for (const { path: name, size, executable } of files) {
      const entry = { path: releasePrefix + name, size, target: null, executable };
      yield* writeTarEntry(entry, createReadStream(path.join(release, name)));
    }
    for (const { path: name, target } of links) {
      const entry = { path: releasePrefix + name, size: 0, target, executable: false };
      yield* writeTarEntry(entry, Readable.from([]));
    }
    yield tarEnd();
  }
  await pipeline(Readable.from(archive()), createGzip({ level: 6 }), createWriteStream(out));
}

/** Two key pairs: the private halves belong into two people's hands, `release-keys.json` into every release. */
async function makeKeys(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const keys: { publicKeyPem: string }[] = [];
  for (const name of ["first", "second"]) {
    const pair = generateKeyPairSync("ed25519");
    const pem = pair.privateKey.export({ type: "pkcs8", format: "pem" });
    await writeFile(path.join(folder, `${name}.key.pem`), pem, { mode: 0o600, flag: "wx" });
    keys.push({ publicKeyPem: pair.publicKey.export({ type: "spki", format: "pem" }).toString() });
  }
  const text = `${JSON.stringify({ threshold: 2, keys }, null, 2)}\n`;
  await writeFile(path.join(folder, releaseKeysFile), text, { flag: "wx" });
}

async function main(args: readonly string[]): Promise<void> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      release: { type: "string" },
      manifest: { type: "string" },
      out: { type: "string" },
      key: { type: "string" },
      signature: { type: "string", multiple: true },
      minimum: { type: "string" },
      platform: { type: "string" },
      node: { type: "string" },
      main: { type: "string" },
    },
  });
  const needed = (name: "release" | "manifest" | "out" | "key"): string => {
    const value = values[name];
    if (value === undefined) throw new Error(`--${name} is required\n${usage}`);
    return value;
  };
  switch (positionals[0]) {
    case "keys":
      return await makeKeys(needed("out"));
    case "manifest": {
      const { minimum: minimumVersion, platform, node, main: program } = values;
      const text = await makeManifest({
        release: needed("release"),
        minimumVersion,
        platform,
        node: node === "-" ? null : node,
        main: program,
        createdAt: new Date().toISOString(),
      });
      return await writeFile(needed("out"), text);
    }
    case "sign": {
      const key = createPrivateKey(await readFile(needed("key")));
      const signature = signManifest(await readFile(needed("manifest")), key);
      return await writeFile(needed("out"), `${JSON.stringify({ signatures: [signature] })}\n`);
    }
    case "pack": {
      const files = await Promise.all((values.signature ?? []).map((file) => readFile(file, "utf8")));
      const signatures = files.flatMap((text) => Signatures.parse(JSON.parse(text)).signatures);
      return await packUpdate(needed("release"), await readFile(needed("manifest")), signatures, needed("out"));
    }
    default:
      throw new Error(usage);
  }
}

if (import.meta.main)
  await main(process.argv.slice(2)).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  });
