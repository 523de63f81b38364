import { z } from "zod";
import type { Config } from "../../../config.ts";
import { hashSecret } from "../../../kernel/ids.ts";
import { equalInConstantTime } from "../../../kernel/secrets.ts";

/**
 * The WebAuthn ceremonies as we hold them: discoverable credentials, the person verified by the authenticator, no attestation.
 * The library throws on whatever it is given; here every refusal is null.
 */

/** Ed25519, ES256, RS256 (COSE algorithm identifiers). */
const algorithms = [-8, -7, -257];
export const challengeMs = 5 * 60 * 1000;

const Base64Url = z.string().regex(/^[A-Za-z0-9_-]+$/);
/** At most 1023 bytes (WebAuthn §4, Credential ID). */
const CredentialId = Base64Url.max(1364);
const common = { id: CredentialId, rawId: CredentialId, type: z.literal("public-key") };
const Registration = z.object({
  ...common,
  response: z.object({
    clientDataJSON: Base64Url,
    attestationObject: Base64Url,
    transports: z.array(z.string().max(32)).max(8).optional(),
  }),
});
const Assertion = z.object({
  ...common,
  response: z.object({
    clientDataJSON: Base64Url,
    authenticatorData: Base64Url,
    signature: Base64Url,
    userHandle: Base64Url.max(88),
  }),
});
export type Assertion = z.infer<typeof Assertion>;

/** Loaded with the first passkey: it takes a quarter of a second, which a start has not to spare. */
const webauthn = () => import("@simplewebauthn/server");
const helpers = () => import("@simplewebauthn/server/helpers");

type Site = { config: Pick<Config, "appUrl"> };
const originOf = ({ config }: Site) => new URL(config.appUrl).origin;
const relyingParty = ({ config }: Site) => new URL(config.appUrl).hostname;

/** What the authenticator knows the person by: random like every id, and no personal data. */
export const userHandle = (user: string) => Buffer.from(user).toString("base64url");

const matches = (sha256: string) => (challenge: string) => equalInConstantTime(hashSecret(challenge), sha256);

export async function registrationOptions(
  site: Site,
  user: { id: string; email: string; name: string },
  existing: readonly { credentialId: string; transports: string[] }[],
) {
  const { generateRegistrationOptions } = await webauthn();
  return await generateRegistrationOptions({
    rpName: "Signet",
    rpID: relyingParty(site),
    userID: new Uint8Array(Buffer.from(user.id)),
    userName: user.email,
    userDisplayName: user.name,
    attestationType: "none",
    authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
    excludeCredentials: existing.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
    supportedAlgorithmIDs: algorithms,
    timeout: challengeMs,
  });
}

export async function signInOptions(site: Site) {
  const { generateAuthenticationOptions } = await webauthn();
  return await generateAuthenticationOptions({
    rpID: relyingParty(site),
    allowCredentials: [],
    userVerification: "required",
    timeout: challengeMs,
  });
}

export type NewCredential = {
  credentialId: string;
  publicKey: string;
  counter: number;
  transports: string[];
  backedUp: boolean;
};

/** @returns the new credential, or null when the answer is not one to this challenge */
export async function verifyRegistration(site: Site, answer: unknown, sha256: string): Promise<NewCredential | null> {
  const parsed = Registration.safeParse(answer);
  if (!parsed.success) return null;
  const { id, rawId, type, response } = parsed.data;
  const { verifyRegistrationResponse } = await webauthn();
  try {
    if (await carriesCertificates(response.attestationObject)) return null;
    const { transports, ...rest } = response;
    const verified = await verifyRegistrationResponse({
      response: { id, rawId, type, response: rest, clientExtensionResults: {} },
      expectedChallenge: matches(sha256),
      expectedOrigin: originOf(site),
      expectedRPID: relyingParty(site),
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    });
    if (!verified.verified) return null;
    const { credential, credentialBackedUp } = verified.registrationInfo;
    return {
      credentialId: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString("base64url"),
      counter: credential.counter,
      transports: transports ?? [],
      backedUp: credentialBackedUp,
    };
  } catch {
    return null;
  }
}

/**
 * We ask for no attestation; a browser then leaves at most a self attestation in. The library would check certificates, and for
 * that call addresses which they name: whoever sends them chooses those.
 */
async function carriesCertificates(attestationObject: string): Promise<boolean> {
  const { decodeAttestationObject } = await helpers();
  const decoded = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, "base64url")));
  const format = decoded.get("fmt");
  return format !== "none" && (format !== "packed" || decoded.get("attStmt").get("x5c") !== undefined);
}

/** The answer of a sign-in as far as it can be read. */
export function readAssertion(answer: unknown): Assertion | null {
  const parsed = Assertion.safeParse(answer);
  return parsed.success ? parsed.data : null;
}

/** @returns what the authenticator says of itself, or null when it is not a good answer of this passkey to this challenge */
export async function verifyAssertion(
  site: Site,
  { id, rawId, type, response }: Assertion,
  passkey: { user: string; credential_id: string; public_key: string; counter: number },
  sha256: string,
): Promise<{ counter: number; backedUp: boolean } | null> {
  if (response.userHandle !== userHandle(passkey.user)) return null;
  const { verifyAuthenticationResponse } = await webauthn();
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { id, rawId, type, response, clientExtensionResults: {} },
      expectedChallenge: matches(sha256),
      expectedOrigin: originOf(site),
      expectedRPID: relyingParty(site),
      credential: {
        id: passkey.credential_id,
        publicKey: new Uint8Array(Buffer.from(passkey.public_key, "base64url")),
        counter: passkey.counter,
      },
      requireUserVerification: true,
    });
    return verified
      ? { counter: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp }
      : null;
  } catch {
    return null;
  }
}
