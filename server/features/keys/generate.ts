import { createHash, generateKeyPair, type KeyObject, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { toTs } from "../../kernel/clock.ts";
import { thumbprint } from "./public-keys.ts";
import type { KeyPurpose, KeyRow } from "./store.ts";

const generate = promisify(generateKeyPair);
const yearMs = 365.25 * 24 * 60 * 60 * 1000;
const years = { ca: 20, seal: 3, timestamp: 5 };
/** Clocks of those who verify may be this far behind. */
const skewMs = 5 * 60 * 1000;

type Pair = { publicKey: KeyObject; privateKey: KeyObject };

/**
 * Makes the keys of a new installation: an authority and what it certifies, and the key that signs anchors.
 * The slow ones (RSA) are made in the background threads of Node, side by side.
 * @param encrypt of the PKCS#8 bytes, for the row with this id
 */
export async function generateKeys(
  nowMs: number,
  encrypt: (pkcs8: Uint8Array, id: string) => string,
): Promise<KeyRow[]> {
  const [ca, seal, timestamp, anchor, { issueCertificate }] = await Promise.all([
    generate("rsa", { modulusLength: 3072 }),
    generate("rsa", { modulusLength: 3072 }),
    generate("ec", { namedCurve: "P-256" }),
    generate("ed25519"),
    import("./certificates.ts"),
  ]);
  // Tells the certificates of two installations apart where somebody trusts both.
  const label = randomBytes(4).toString("hex");
  const notBefore = Math.floor((nowMs - skewMs) / 1000) * 1000;
  const issuer = { commonName: `Signet CA ${label}`, ...ca };
  const certified = async (
    pair: Pair,
    purpose: "ca" | "seal" | "timestamp",
    commonName: string,
    algorithm: KeyRow["algorithm"],
  ): Promise<KeyRow> => {
    const notAfter = notBefore + years[purpose] * yearMs;
    const request = { profile: purpose, commonName, publicKey: pair.publicKey, issuer, notBefore, notAfter };
    const certificate = await issueCertificate({ ...request, serial: randomBytes(16) });
    const id = createHash("sha256").update(certificate).digest("hex");
    return row(pair, { id, purpose, algorithm, certificate, validFrom: notBefore, validUntil: notAfter, encrypt });
  };
  return await Promise.all([
    certified(ca, "ca", issuer.commonName, "rsa-3072"),
    certified(seal, "seal", `Signet Seal ${label}`, "rsa-3072"),
    certified(timestamp, "timestamp", `Signet Time Stamping ${label}`, "ec-p256"),
    row(anchor, {
      id: thumbprint(anchor.publicKey),
      purpose: "anchor",
      algorithm: "ed25519",
      certificate: null,
      validFrom: nowMs,
      validUntil: null,
      encrypt,
    }),
  ]);
}

function row(
  pair: Pair,
  about: {
    id: string;
    purpose: KeyPurpose;
    algorithm: KeyRow["algorithm"];
    certificate: Uint8Array | null;
    validFrom: number;
    validUntil: number | null;
    encrypt: (pkcs8: Uint8Array, id: string) => string;
  },
): KeyRow {
  return {
    id: about.id,
    purpose: about.purpose,
    algorithm: about.algorithm,
    public_key: pair.publicKey.export({ type: "spki", format: "der" }).toString("base64"),
    certificate: about.certificate === null ? null : Buffer.from(about.certificate).toString("base64"),
    private_key: about.encrypt(pair.privateKey.export({ type: "pkcs8", format: "der" }), about.id),
    valid_from: toTs(about.validFrom),
    valid_until: about.validUntil === null ? null : toTs(Math.floor(about.validUntil / 1000) * 1000),
    retired_at: null,
  };
}
