import { createHash, createPublicKey, verify } from "node:crypto";
import { z } from "zod";
import { AppError } from "../../kernel/errors.ts";
import { Hex64, Ts } from "../../kernel/wire.ts";
import { versionPattern } from "./versions.ts";

/** What an update says of itself, and who signed it. */

/** Largest release that is unpacked, in bytes. */
const mostBytes = 16 * 1024 ** 3;
export const mostManifestBytes = 64 * 1024 ** 2;
export const mostSignatureBytes = 64 * 1024;

/** Below the folder of the release, with `/`, without detours; no control characters, nothing that another system reads differently. */
const SafePath = z
  .string()
  .max(1000)
  .refine(
    (text) =>
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
      !/[\u0000-\u001f\u007f\\:]/.test(text) &&
      text.split("/").every((part) => part !== "" && part !== "." && part !== ".."),
    "is no path within the release",
  );

const File = z.object({ path: SafePath, size: z.int().min(0), sha256: Hex64, executable: z.boolean() });
const Link = z.object({ path: SafePath, target: z.string().min(1).max(1000) });

export const Manifest = z
  .object({
    format: z.literal("signet-update/1"),
    version: z.string().regex(versionPattern),
    /** The oldest version that it may follow. */
    minimumVersion: z.string().regex(versionPattern),
    /** `linux-x64` and the like: operating system and processor as Node names them. */
    platform: z.string().regex(/^[a-z0-9]+-[a-z0-9]+$/),
    createdAt: Ts,
    /** How it is run: its own Node, or null for the one that runs the update; and the file that Node is given. */
    program: z.object({ node: SafePath.nullable(), main: SafePath }),
    files: z.array(File).min(1).max(200_000),
    links: z.array(Link).max(20_000),
  })
  .superRefine(({ files, links, program }, context) => {
    const wrong = (message: string) => context.addIssue({ code: "custom", message });
    const all = new Set([...files, ...links].map(({ path }) => path));
    // Other systems take names that differ in case or composition for the same.
    const folded = new Set([...all].map((path) => path.normalize("NFC").toLowerCase()));
    if (folded.size !== files.length + links.length) wrong("names a path twice");
    for (const path of all) {
      for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1))
        if (all.has(path.slice(0, slash))) wrong(`puts ${path} below something that is no folder`);
    }
    for (const link of links) if (!staysInside(link)) wrong(`${link.path} leads out of the release`);
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    if (!(bytes <= mostBytes)) wrong("is larger than any release");
    for (const needed of [program.main, program.node])
      if (needed !== null && !all.has(needed)) wrong(`does not hold ${needed}`);
  });
export type Manifest = z.infer<typeof Manifest>;

function staysInside({ path, target }: z.infer<typeof Link>): boolean {
  if (target.startsWith("/") || !SafePath.safeParse(target.replaceAll(/^(\.\.\/)+/g, "")).success) return false;
  const up = target.split("/").filter((part) => part === "..").length;
  // A link may climb as far as it lies deep, and no further; `..` behind a name was refused above.
  return up < path.split("/").length;
}

export const bytesOf = ({ files }: Manifest): number => files.reduce((sum, { size }) => sum + size, 0);

/** @throws AppError `validation-failed` */
export function readManifest(bytes: Uint8Array): Manifest {
  const parsed = Manifest.safeParse(parseJson(bytes));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const where = issue?.path.join(".") ?? "";
  throw new AppError("validation-failed", {
    detail: `The manifest of this update cannot be used: ${where === "" ? "it" : where} ${issue?.message ?? "is wrong"}.`,
  });
}

export type ReleaseKey = { id: string; publicKeyPem: string };
/** The keys whose holders release, and how many of them must have signed. */
export type PinnedKeys = { threshold: number; keys: readonly ReleaseKey[] };

export const Signature = z.object({ keyId: z.string(), signature: z.base64() });
export const Signatures = z.object({ signatures: z.array(Signature).max(20) });
export type Signature = z.infer<typeof Signature>;

/** What is signed: the manifest as it lies in the file, behind the name of this format. */
export const signedBytes = (manifest: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from("signet-update/1\n"), manifest]);

/** First 16 hexadecimal digits of the SHA-256 of the SubjectPublicKeyInfo. */
export const keyIdOf = (publicKeyPem: string): string =>
  createHash("sha256")
    .update(createPublicKey(publicKeyPem).export({ type: "spki", format: "der" }))
    .digest("hex")
    .slice(0, 16);

/**
 * @returns the ids of the pinned keys that signed (Ed25519, RFC 8032)
 * @throws AppError `validation-failed` when they are fewer than have to
 */
export function checkSignatures(manifest: Uint8Array, signatures: Uint8Array, pinned: PinnedKeys): string[] {
  const given = Signatures.safeParse(parseJson(signatures));
  const signed = signedBytes(manifest);
  const good = pinned.keys.filter(({ id, publicKeyPem }) =>
    given.data?.signatures.some(
      ({ keyId, signature }) =>
        keyId === id && verify(null, signed, createPublicKey(publicKeyPem), Buffer.from(signature, "base64")),
    ),
  );
  if (good.length >= pinned.threshold) return good.map(({ id }) => id);
  const detail = `This update is not signed as it has to be: ${good.length} of the ${pinned.threshold} signatures that are needed are good.`;
  throw new AppError("validation-failed", { detail });
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
