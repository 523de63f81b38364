import { createPublicKey } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { AppError } from "../../kernel/errors.ts";
import { keyIdOf, type PinnedKeys } from "./manifest.ts";

/** Lies in the folder of each release: the keys that its successor must be signed with. */
export const releaseKeysFile = "release-keys.json";

const ReleaseKeys = z
  .object({
    threshold: z.int().min(1),
    keys: z
      .array(z.object({ publicKeyPem: z.string().max(2000) }))
      .min(1)
      .max(10),
  })
  .refine(({ threshold, keys }) => threshold <= keys.length, "asks for more signatures than there are keys");

/** @throws AppError `conflict` when this release pins none, so that it can be updated by hand only */
export async function readReleaseKeys(folder: string): Promise<PinnedKeys> {
  const file = path.join(folder, releaseKeysFile);
  try {
    const { threshold, keys } = ReleaseKeys.parse(JSON.parse(await readFile(file, "utf8")));
    const pinned = keys.map(({ publicKeyPem }) => ({ id: keyIdOf(publicKeyPem), publicKeyPem }));
    const allEd25519 = pinned.every(
      ({ publicKeyPem }) => createPublicKey(publicKeyPem).asymmetricKeyType === "ed25519",
    );
    if (!allEd25519 || new Set(pinned.map(({ id }) => id)).size !== pinned.length)
      throw new Error("the keys are not Ed25519, or one of them stands there twice");
    return { threshold, keys: pinned };
  } catch (cause) {
    const detail = `This installation pins no keys of its maker (${file} is missing or wrong), so it cannot tell a real update: install the next release by its package.`;
    throw new AppError("conflict", { detail, cause });
  }
}
