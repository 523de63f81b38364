import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { z } from "zod";

/** A WebAuthn authenticator in software: keys that never leave it, a counter, and CBOR as far as it needs it. */

type Cbor = number | string | Uint8Array | Map<number | string, Cbor>;

function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 256) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 255]);
}

/** RFC 8949, definite lengths below 65536. */
export function cbor(value: Cbor): Buffer {
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === "string") return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Map) {
    const entries = [...value].flatMap(([key, entry]) => [cbor(key), cbor(entry)]);
    return Buffer.concat([head(5, value.size), ...entries]);
  }
  return Buffer.concat([head(2, value.length), value]);
}

const Jwk = z.object({ x: z.string(), y: z.string().optional() });
const coordinate = (text: string | undefined) => Buffer.from(text ?? "", "base64url");

/** RFC 9053: the public key as authenticators write it. */
function coseKey(key: KeyObject, algorithm: "ES256" | "EdDSA"): Buffer {
  const { x, y } = Jwk.parse(key.export({ format: "jwk" }));
  const entries: [number, Cbor][] =
    algorithm === "ES256"
      ? [
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, coordinate(x)],
          [-3, coordinate(y)],
        ]
      : [
          [1, 1],
          [3, -8],
          [-1, 6],
          [-2, coordinate(x)],
        ];
  return cbor(new Map(entries));
}

const b64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");
const sha256 = (data: Uint8Array | string) => createHash("sha256").update(data).digest();
const Creation = z.object({
  challenge: z.string(),
  rp: z.object({ id: z.string() }),
  user: z.object({ id: z.string() }),
});
const Request = z.object({ challenge: z.string(), rpId: z.string() });

export type Deviation = {
  origin?: string;
  challenge?: string;
  rpId?: string;
  type?: string;
  userHandle?: string;
  /** Person present, but not verified. */
  unverified?: boolean;
  counter?: number;
  /** Attestation with a certificate, which nobody asked for. */
  certificate?: boolean;
};

/** An authenticator with one credential, at a page of this origin. */
export function createAuthenticator(origin: string, algorithm: "ES256" | "EdDSA" = "ES256") {
  const { publicKey, privateKey } =
    algorithm === "ES256" ? generateKeyPairSync("ec", { namedCurve: "P-256" }) : generateKeyPairSync("ed25519");
  const id = randomBytes(32);
  let counter = 0;
  let handle = "";
  let backedUp = false;

  function authenticatorData(rpId: string, more: Uint8Array | null, deviation: Deviation): Buffer {
    counter += 1;
    const flags = 1 | (deviation.unverified ? 0 : 4) | 8 | (backedUp ? 16 : 0) | (more ? 64 : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(deviation.counter ?? counter);
    return Buffer.concat([sha256(deviation.rpId ?? rpId), Buffer.from([flags]), count, more ?? Buffer.alloc(0)]);
  }
  const clientData = (type: string, challenge: string, deviation: Deviation) =>
    Buffer.from(
      JSON.stringify({
        type: deviation.type ?? type,
        challenge: deviation.challenge ?? challenge,
        origin: deviation.origin ?? origin,
        crossOrigin: false,
      }),
    );
  const common = { id: b64(id), rawId: b64(id), type: "public-key", clientExtensionResults: {} };

  return {
    id: common.id,
    set backedUp(value: boolean) {
      backedUp = value;
    },
    create(given: unknown, deviation: Deviation = {}) {
      const options = Creation.parse(given);
      handle = options.user.id;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const credential = Buffer.concat([Buffer.alloc(16), length, id, coseKey(publicKey, algorithm)]);
      const data = authenticatorData(options.rp.id, credential, deviation);
      const statement: [string, Cbor][] = deviation.certificate ? [["x5c", Buffer.alloc(8)]] : [];
      const attestation = new Map<string, Cbor>([
        ["fmt", deviation.certificate ? "packed" : "none"],
        ["attStmt", new Map(statement)],
        ["authData", data],
      ]);
      return {
        ...common,
        response: {
          clientDataJSON: b64(clientData("webauthn.create", options.challenge, deviation)),
          attestationObject: b64(cbor(attestation)),
          transports: ["internal", "hybrid"],
        },
      };
    },
    get(given: unknown, deviation: Deviation = {}) {
      const options = Request.parse(given);
      const data = authenticatorData(options.rpId, null, deviation);
      const client = clientData("webauthn.get", options.challenge, deviation);
      const signed = Buffer.concat([data, sha256(client)]);
      return {
        ...common,
        response: {
          clientDataJSON: b64(client),
          authenticatorData: b64(data),
          signature: b64(sign(algorithm === "ES256" ? "sha256" : null, signed, privateKey)),
          userHandle: deviation.userHandle ?? handle,
        },
      };
    },
  };
}
