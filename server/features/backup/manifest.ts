import { createHash } from "node:crypto";
import { closeSync, fstatSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { canonicalize } from "../../kernel/canonical.ts";
import { equalInConstantTime, type Secrets } from "../../kernel/secrets.ts";
import { Hex64, Ts } from "../../kernel/wire.ts";
import { WrappedKey } from "./recipient.ts";
import { openPlainFile, plainFileSize } from "./target-files.ts";

/** What a backup holds: written last, so that a backup without it is none. */

export const manifestFile = "manifest.json";
/** Names of the files beside the manifest. */
export const databaseFile = "signet.db.sgx";
export const machineFile = "machine.json.sgx";
export const listFile = "blobs.list";

const File = z.object({ bytes: z.int(), sha256: Hex64 });

/** Where the chains stood; the same after a restore. */
export const Heads = z.object({
  operatorAudit: z.object({ seq: z.int(), hash: Hex64 }).nullable(),
  anchor: z.object({ sequence: z.int(), treeSize: z.int(), rootHash: Hex64, anchorHash: Hex64 }).nullable(),
  leaves: z.int(),
  envelopes: z.int(),
});
export type Heads = z.infer<typeof Heads>;

export const Manifest = z.object({
  v: z.literal(1),
  type: z.literal("signet.backup"),
  id: z.string().regex(/^[0-9]{8}-[0-9]{9}-[0-9a-f]{6}$/),
  createdAt: Ts,
  version: z.string(),
  /** Fingerprint of the master key that the blobs lie under; their folder. */
  masterKey: z.string().regex(/^[0-9a-f]{32}$/),
  /** The backup's key for its recipient, and for the appliance itself so that it can verify what it wrote. */
  keys: z.object({ recipient: WrappedKey, appliance: z.string() }),
  files: z.object({ [databaseFile]: File, [machineFile]: File, [listFile]: File }),
  blobs: z.object({ count: z.int(), bytes: z.int() }),
  heads: Heads,
  /** HMAC-SHA-256 under the master key over the RFC 8785 text of the rest: nobody else can make a backup of this appliance. */
  mac: Hex64,
});
export type Manifest = z.infer<typeof Manifest>;

export const damagedCode = "BACKUP_DAMAGED";

/** A backup cannot be used: a part of it is missing or was changed. */
export class BackupDamaged extends Error {
  readonly code = damagedCode;
  override name = "BackupDamaged";
}

function macOf(
  { mac: _, ...rest }: Manifest | (Omit<Manifest, "mac"> & { mac?: undefined }),
  secrets: Secrets,
): string {
  return secrets.hmac("backup-manifest", canonicalize(rest)).toString("hex");
}

/** Signs it under the master key. */
export const signManifest = (body: Omit<Manifest, "mac">, secrets: Secrets): Manifest => ({
  ...body,
  mac: macOf(body, secrets),
});

export const textOfManifest = (manifest: Manifest): string => `${JSON.stringify(manifest, null, 2)}\n`;

/** @throws BackupDamaged; whether it is genuine is asked with `proveManifest` */
export async function readManifest(folder: string): Promise<Manifest> {
  const id = path.basename(folder);
  let text: string;
  try {
    text = readPlainText(path.join(folder, manifestFile));
  } catch (cause) {
    throw new BackupDamaged(`${folder} has no manifest that can be read`, { cause });
  }
  try {
    const manifest = Manifest.parse(JSON.parse(text));
    if (manifest.id === id) return manifest;
  } catch (cause) {
    throw new BackupDamaged(`the manifest of ${id} is damaged`, { cause });
  }
  throw new BackupDamaged(`the manifest in ${folder} is that of another backup`);
}

const largestManifest = 64 * 1024;

function readPlainText(file: string): string {
  const handle = openPlainFile(file);
  try {
    if (fstatSync(handle).size > largestManifest) throw new Error(`${file} is too large for a manifest`);
    return readFileSync(handle, "utf8");
  } finally {
    closeSync(handle);
  }
}

/** Whether it was written under this master key. */
export function isGenuine(manifest: Manifest, secrets: Secrets): boolean {
  return equalInConstantTime(manifest.mac, macOf(manifest, secrets));
}

/** @throws BackupDamaged when it was changed or is not of this master key */
export function proveManifest(manifest: Manifest, secrets: Secrets): void {
  if (isGenuine(manifest, secrets)) return;
  throw new BackupDamaged(`the manifest of ${manifest.id} was changed, or is not of this appliance`);
}

/** Size and SHA-256 of a file, in pieces. */
export async function digestFile(file: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  plainFileSize(file);
  const handle = await open(file, "r");
  try {
    for await (const piece of handle.createReadStream({ autoClose: false })) {
      hash.update(piece);
      bytes += piece.length;
    }
  } finally {
    await handle.close();
  }
  return { bytes, sha256: hash.digest("hex") };
}
