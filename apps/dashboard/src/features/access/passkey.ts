import { z } from "zod";
import type { DashboardSession } from "../../../../../server/features/identity/session-contract.ts";
import { passkeySignInOptions, signInWithPasskey } from "../../../../../server/features/sign-in/passkeys/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";

/** PublicKeyCredentialRequestOptionsJSON (WebAuthn §5.1.9) as far as a passkey needs it: the authenticator knows its own credentials. */
const RequestOptions = z.object({
  challenge: z.string(),
  timeout: z.number().exactOptional(),
  rpId: z.string().exactOptional(),
  userVerification: z.enum(["discouraged", "preferred", "required"]).exactOptional(),
});

/** Browsers bind passkeys to a domain name; an address of numbers is none (WebAuthn §5.1.3). */
export function addressIsDomain(): boolean {
  return !/^(\d+(\.\d+){3}|\[.*\])$/.test(window.location.hostname);
}

/** The same appliance under a name that passkeys can be bound to, where the page is open on the machine itself; else null. */
export function localName(): string | null {
  const { hostname, port } = window.location;
  return /^127\.|^\[::1\]$/.test(hostname) ? `http://localhost${port === "" ? "" : `:${port}`}` : null;
}

/** Whether this browser knows passkeys at all. */
export const passkeysHere = () => typeof window.PublicKeyCredential === "function";

/**
 * Signs in with a passkey of this device.
 * @param autofill waits until the person picks one in the list under the address field; null when the browser cannot do that
 */
export async function signInByPasskey(autofill: boolean): Promise<DashboardSession | null> {
  const library = await import("@simplewebauthn/browser");
  if (autofill && !(await library.browserSupportsWebAuthnAutofill())) return null;
  const { challenge, options } = await callEndpoint(passkeySignInOptions, {});
  const optionsJSON = RequestOptions.parse(options);
  const response = await library.startAuthentication({
    optionsJSON,
    useBrowserAutofill: autofill,
  });
  return await callEndpoint(signInWithPasskey, { body: { challenge, response: { ...response } } });
}

/** Gives up waiting for a pick in the list. */
export async function stopWaitingForPasskey(): Promise<void> {
  const { WebAuthnAbortService } = await import("@simplewebauthn/browser");
  WebAuthnAbortService.cancelCeremony();
}

/** Whether the person closed the browser's dialog, or let it time out: nothing to complain about. */
export function wasCancelled(error: unknown): boolean {
  return error instanceof Error && ["NotAllowedError", "AbortError"].includes(error.name);
}
