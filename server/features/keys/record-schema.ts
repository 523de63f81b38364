import { z } from "zod";

/** What a record of an act on the keys says; pages read it too. */

const Where = z.discriminatedUnion("storage", [
  z.object({ storage: z.literal("software") }),
  z.object({
    storage: z.literal("pkcs11"),
    module: z.string(),
    label: z.string(),
    /** Null when the token was away. */
    model: z.string().nullable(),
    serial: z.string().nullable(),
    slot: z.string().nullable(),
    /** `CKA_ID` in hex. */
    keyId: z.string(),
  }),
]);
const RecordedKey = z.object({
  use: z.string(),
  kind: z.string(),
  state: z.enum(["waiting", "in-use", "retired"]),
  id: z.string(),
  /** Of the SubjectPublicKeyInfo. */
  publicKeySha256: z.string(),
  certificateSha256: z.string().nullable(),
  subject: z.string().nullable(),
  validFrom: z.string(),
  validUntil: z.string().nullable(),
  where: Where,
});
export const RecordBody = z.object({
  type: z.literal("signet-key-record"),
  v: z.literal(1),
  seq: z.int(),
  at: z.string(),
  act: z.enum(["first-keys", "generate", "import-p12", "install-cert", "rotate", "renew", "rotate-master"]),
  by: z.object({ account: z.string(), host: z.string(), name: z.string().nullable() }),
  keys: z.array(RecordedKey),
  /** Fingerprints of the master keys, when that is what was replaced. */
  masterKey: z.object({ before: z.string(), after: z.string() }).nullable(),
  prevHash: z.string(),
});
export type RecordBody = z.infer<typeof RecordBody>;

/** A record as it is shown, printed and checked. */
export const KeyRecord = RecordBody.extend({
  /** SHA-256 of the RFC 8785 text of everything but this, `kid` and `signature`. */
  hash: z.string(),
  /** The anchor key that signed that text (Ed25519, base64url); null when it was away. */
  kid: z.string().nullable(),
  signature: z.string().nullable(),
});
export type KeyRecord = z.infer<typeof KeyRecord>;
