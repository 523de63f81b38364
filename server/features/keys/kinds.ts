import { z } from "zod";

/** What keys are for and of which kinds they are made; pages choose from it too. */

/** Those that an operator makes and replaces one by one; the authority is replaced as a whole. */
export const KeyUse = z.enum(["seal", "timestamp", "anchor"]);
export type KeyUse = z.infer<typeof KeyUse>;

/** Kinds that are made here. */
export const MadeKind = z.enum(["rsa-3072", "rsa-4096", "ec-p256", "ed25519"]);
export type MadeKind = z.infer<typeof MadeKind>;

/** The kinds that each use can have, the usual one first. */
export const kindsOf: Readonly<Record<KeyUse, readonly MadeKind[]>> = {
  seal: ["rsa-3072", "rsa-4096", "ec-p256"],
  timestamp: ["ec-p256", "rsa-3072", "rsa-4096"],
  anchor: ["ed25519"],
};

/** Where a key lies. */
export const KeyStorage = z.enum(["software", "pkcs11"]);
export type KeyStorage = z.infer<typeof KeyStorage>;
