/** Keys that nobody trusts, for seals that nobody keeps. */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { signatureAlgorithm } from "./algorithms.ts";
import { boolean, context, encode, generalizedTime, integer, octetString, oid, sequence, setOf, TAG } from "./der.ts";

/** A P-256 key with a certificate (DER) that it signed itself. */
export type Throwaway = { privateKey: KeyObject; certificate: Uint8Array };

export type ThrowawayKeys = { seal: Throwaway; timestamp: Throwaway };

/** New ones for each trial, so that a thread holds none while it reads the next upload. */
export function throwawayKeys(): ThrowawayKeys {
  return { seal: newKey("Trial seal", []), timestamp: newKey("Trial time", [timeStampingOnly()]) };
}

const COMMON_NAME = "2.5.4.3";
const EXTENDED_KEY_USAGE = "2.5.29.37";
const TIME_STAMPING = "1.3.6.1.5.5.7.3.8";

/** RFC 3161 §2.3 */
const timeStampingOnly = (): Buffer =>
  sequence(oid(EXTENDED_KEY_USAGE), boolean(true), octetString(sequence(oid(TIME_STAMPING))));

/** RFC 5280 §4.1 */
function newKey(commonName: string, extensions: readonly Buffer[]): Throwaway {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(setOf(sequence(oid(COMMON_NAME), encode(TAG.utf8String, Buffer.from(commonName)))));
  const algorithm = signatureAlgorithm("ec-p256");
  const body = sequence(
    context(0, integer(2)),
    integer(1),
    algorithm,
    name,
    sequence(generalizedTime("1990-01-01T00:00:00.000Z"), generalizedTime("2090-01-01T00:00:00.000Z")),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    ...(extensions.length > 0 ? [context(3, sequence(...extensions))] : []),
  );
  const signature = sign("sha256", body, privateKey);
  const certificate = sequence(body, algorithm, encode(TAG.bitString, Buffer.from([0]), signature));
  return { privateKey, certificate };
}
