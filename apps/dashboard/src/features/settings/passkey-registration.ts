import { z } from "zod";
import {
  type Passkey,
  passkeyRegistrationOptions,
  registerPasskey,
} from "../../../../../server/features/sign-in/passkeys/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";

/** PublicKeyCredentialCreationOptionsJSON (WebAuthn §5.1.8) as far as the service sends it. */
const CreationOptions = z.object({
  challenge: z.string(),
  rp: z.object({ name: z.string(), id: z.string() }),
  user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
  pubKeyCredParams: z.array(z.object({ alg: z.number(), type: z.literal("public-key") })),
  timeout: z.number().exactOptional(),
  attestation: z.enum(["none"]).exactOptional(),
  excludeCredentials: z.array(z.object({ id: z.string(), type: z.literal("public-key") })).exactOptional(),
  authenticatorSelection: z
    .object({
      residentKey: z.enum(["discouraged", "preferred", "required"]).exactOptional(),
      requireResidentKey: z.boolean().exactOptional(),
      userVerification: z.enum(["discouraged", "preferred", "required"]).exactOptional(),
    })
    .exactOptional(),
});

/**
 * Makes a passkey on a device of the person and registers it.
 * @throws what the service answers, or the browser's error when the person closed its dialog
 */
export async function addPasskey(name: string): Promise<Passkey> {
  const { challenge, options } = await callEndpoint(passkeyRegistrationOptions, {});
  const { startRegistration } = await import("@simplewebauthn/browser");
  const response = await startRegistration({ optionsJSON: CreationOptions.parse(options) });
  return await callEndpoint(registerPasskey, { body: { challenge, name, response: { ...response } } });
}

/** Whether the device holds a passkey of this account already. */
export function isRegistered(error: unknown): boolean {
  return error instanceof Error && error.name === "InvalidStateError";
}
