import { z } from "zod";
import { localEndpoint } from "../../kernel/endpoint.ts";
import { Line, Ts } from "../../kernel/wire.ts";
import { KeyStorage, KeyUse, MadeKind } from "./kinds.ts";
import { KeyRecord } from "./record-schema.ts";

/** The keys that seal, stamp and anchor, and the token that they may lie in. */

export const ManagedKeyInfo = z.object({
  /** Fingerprint. */
  id: z.string(),
  use: z.enum(["ca", "seal", "timestamp", "anchor"]),
  kind: z.string(),
  storage: KeyStorage,
  /** `CKA_ID` in hex. */
  tokenKey: z.string().nullable(),
  state: z.enum(["in-use", "waiting", "retired"]),
  subject: z.string().nullable(),
  issuer: z.string().nullable(),
  validFrom: Ts,
  validUntil: Ts.nullable(),
  retiredAt: Ts.nullable(),
});

export const TokenView = z.object({
  module: z.string(),
  label: z.string(),
  /** Null while it cannot be used. */
  found: z
    .object({ model: z.string(), serial: z.string(), slot: z.string(), keys: z.int(), missing: z.array(z.string()) })
    .nullable(),
  trouble: z.object({ code: z.string(), message: z.string() }).nullable(),
});

export const ManagedKeys = z
  .object({
    data: z.array(ManagedKeyInfo),
    /** Null when no HSM is set. */
    token: TokenView.nullable(),
  })
  .meta({ id: "ManagedKeys" });
export type ManagedKeys = z.infer<typeof ManagedKeys>;

const errors = ["validation-failed", "not-found", "conflict", "service-unavailable"] as const;

export const listManagedKeys = localEndpoint({
  method: "GET",
  path: "/local/keys",
  id: "listManagedKeys",
  summary: "Every key with its certificate, and the HSM",
  responses: { 200: { kind: "json", schema: ManagedKeys } },
});

export type ManagedKeyInfo = z.infer<typeof ManagedKeyInfo>;

export const KeyProof = ManagedKeyInfo.extend({ milliseconds: z.int() });

/** Its fingerprint, or the beginning of it. */
const KeyId = z.string().min(1).max(100);

export const testSignKeys = localEndpoint({
  method: "POST",
  path: "/local/keys/test-sign",
  id: "testSignKeys",
  summary: "Sign once with the keys in use, those of one use or the one named, and verify it",
  body: { kind: "json", maxBytes: 4096, schema: z.strictObject({ key: KeyId.optional(), use: KeyUse.optional() }) },
  responses: { 200: { kind: "json", schema: z.object({ data: z.array(KeyProof) }) } },
  errors,
});

export const TokenSlot = z.object({
  /** Hex. */
  slot: z.string(),
  label: z.string(),
  model: z.string(),
  serial: z.string(),
  manufacturer: z.string(),
  initialized: z.boolean(),
});

export const listTokenSlots = localEndpoint({
  method: "POST",
  path: "/local/keys/slots",
  id: "listTokenSlots",
  summary: "Which tokens a PKCS#11 library offers: the one of the settings, or the one given; the library is loaded",
  body: { kind: "json", maxBytes: 4096, schema: z.strictObject({ module: z.string().max(1000).optional() }) },
  responses: { 200: { kind: "json", schema: z.object({ data: z.array(TokenSlot) }) } },
  errors: ["validation-failed", "conflict"],
});

/** Who stands in the record beside the operator's account. */
const by = Line(200).optional();
/** Of a certificate, a chain or a PKCS#12 container. */
const File = z.base64().max(1_400_000);
const largest = 1_500_000;

const Made = z.object({
  key: ManagedKeyInfo,
  /** Number of the signed record of the act. */
  record: z.int(),
});

export const generateManagedKey = localEndpoint({
  method: "POST",
  path: "/local/keys",
  id: "generateManagedKey",
  summary: "Make a key that waits to be put into use",
  body: {
    kind: "json",
    maxBytes: 4096,
    schema: z.strictObject({ use: KeyUse, kind: MadeKind, storage: KeyStorage, by }),
  },
  responses: { 201: { kind: "json", schema: Made } },
  errors,
});

export const importManagedKey = localEndpoint({
  method: "POST",
  path: "/local/keys/import",
  id: "importManagedKey",
  summary: "Take a seal key with its certificate out of a PKCS#12 file; it waits to be put into use",
  body: {
    kind: "json",
    maxBytes: largest,
    schema: z.strictObject({ file: File, password: z.string().max(1000), by }),
  },
  responses: { 201: { kind: "json", schema: Made } },
  errors,
});

export const requestKeyCertificate = localEndpoint({
  method: "POST",
  path: "/local/keys/{key}/request",
  id: "requestKeyCertificate",
  summary: "A request (PKCS #10, PEM) with which an authority certifies a key for seals or time stamps",
  params: z.object({ key: KeyId }),
  body: {
    kind: "json",
    maxBytes: 4096,
    schema: z.strictObject({
      organization: Line(200),
      commonName: Line(200),
    }),
  },
  responses: { 200: { kind: "json", schema: z.object({ request: z.string() }) } },
  errors,
});

export const installKeyCertificate = localEndpoint({
  method: "POST",
  path: "/local/keys/certificate",
  id: "installKeyCertificate",
  summary: "Take the certificate that an authority issued for a key, with its chain; the key waits under it",
  body: { kind: "json", maxBytes: largest, schema: z.strictObject({ file: File, by }) },
  responses: { 201: { kind: "json", schema: Made } },
  errors,
});

export const rotateManagedKey = localEndpoint({
  method: "POST",
  path: "/local/keys/rotate",
  id: "rotateManagedKey",
  summary: "Put another key into use: the one named, else the only one that waits, else a new one; it signs once first",
  body: {
    kind: "json",
    maxBytes: 4096,
    schema: z.strictObject({
      use: KeyUse,
      key: KeyId.optional(),
      /** Makes a new one instead of taking the one that waits. */
      fresh: z.strictObject({ kind: MadeKind.optional(), storage: KeyStorage.optional() }).optional(),
      by,
    }),
  },
  responses: {
    200: {
      kind: "json",
      schema: z.object({ retired: ManagedKeyInfo.nullable(), inUse: ManagedKeyInfo, record: z.int() }),
    },
  },
  errors,
});

export const rotateManagedAuthority = localEndpoint({
  method: "POST",
  path: "/local/keys/authority",
  id: "rotateManagedAuthority",
  summary: "Make a new authority of our own, which certifies the keys in use again; the one before stays published",
  body: { kind: "json", maxBytes: 4096, schema: z.strictObject({ by }) },
  responses: {
    200: {
      kind: "json",
      schema: z.object({ retired: z.array(ManagedKeyInfo), inUse: z.array(ManagedKeyInfo), record: z.int() }),
    },
  },
  errors,
});

export const KeyRecords = z.object({
  /** Oldest first. */
  data: z.array(KeyRecord),
  /** What does not hold in their chain, one line each. */
  problems: z.array(z.string()),
});

export const listKeyRecords = localEndpoint({
  method: "GET",
  path: "/local/keys/records",
  id: "listKeyRecords",
  summary: "The signed records of what was done to the keys, with the check of their chain",
  responses: { 200: { kind: "json", schema: KeyRecords } },
});

export const PinGiven = z.object({
  accepted: z.boolean(),
  /** What the token tells of the tries that are left; it names no number. */
  tries: z.enum(["all", "fewer", "last", "none"]),
  /** Where an accepted PIN lies now. */
  pinFile: z.string().nullable(),
  /** The settings name another token than before: the next start uses it. */
  restartNeeded: z.boolean(),
});
export type PinGiven = z.infer<typeof PinGiven>;

export const giveTokenPin = localEndpoint({
  method: "POST",
  path: "/local/keys/pin",
  id: "giveTokenPin",
  summary: "Try a PIN of a token exactly once; an accepted one is kept in the PIN file, and the token in the settings",
  body: {
    kind: "json",
    maxBytes: 8192,
    schema: z.strictObject({
      /** The library and the token of the settings unless said otherwise. */
      module: z.string().min(1).max(1000).optional(),
      token: z.string().min(1).max(100).optional(),
      pin: z
        .string()
        .min(1)
        .max(255)
        .regex(/^[^\r\n]*$/),
    }),
  },
  responses: { 200: { kind: "json", schema: PinGiven } },
  errors,
});

export const keysEndpoints = [
  listManagedKeys,
  generateManagedKey,
  importManagedKey,
  requestKeyCertificate,
  installKeyCertificate,
  rotateManagedKey,
  rotateManagedAuthority,
  listKeyRecords,
  testSignKeys,
  listTokenSlots,
  giveTokenPin,
];
