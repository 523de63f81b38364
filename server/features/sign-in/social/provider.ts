import * as client from "openid-client";
import type { Deps } from "../../../kernel/deps.ts";
import { OutboundError } from "../../../kernel/outbound.ts";
import { readClaims, type SocialClaims } from "./claims.ts";
import type { SocialProvider } from "./contract.ts";
import { requireProvider } from "./providers.ts";

/** OpenID Connect with a provider: authorization code, PKCE, state and nonce. Every call goes out through `deps.outbound`. */

const timeoutMs = 10_000;
/** Discovery documents and key sets have a few kilobytes. */
const maxBytes = 512 * 1024;
const discoveredForMs = 60 * 60 * 1000;

/** The provider does not answer, or not properly: nobody's fault here, and it may work later. */
export class ProviderUnavailable extends Error {
  override name = "ProviderUnavailable";
}
/** What came back from the provider does not prove who the person is. */
export class SignInRejected extends Error {
  override name = "SignInRejected";
}

export function redirectUri({ config }: Pick<Deps, "config">, provider: SocialProvider): URL {
  return new URL(`${config.baseUrl}/auth/social/${provider}/callback`);
}

type Known = { at: number; configuration: Promise<client.Configuration> };
const discovered = new WeakMap<Deps, Map<SocialProvider, Known>>();

/** What the provider publishes of itself, asked for once an hour. */
async function discover(deps: Deps, provider: SocialProvider): Promise<client.Configuration> {
  const setting = requireProvider(deps.config, provider);
  const known = discovered.get(deps) ?? new Map<SocialProvider, Known>();
  discovered.set(deps, known);
  const now = deps.clock.now();
  const before = known.get(provider);
  if (before && now >= before.at && now - before.at < discoveredForMs) return await settled(before.configuration);
  const issuer = new URL(setting.issuer);
  const configuration = client.discovery(issuer, setting.clientId, setting.clientSecret, undefined, {
    [client.customFetch]: fetchThrough(deps),
    timeout: timeoutMs / 1000,
    execute: [
      // By itself the library believes an ID token for the connection that it came over.
      client.enableNonRepudiationChecks,
      // Whether plain HTTP may be spoken at all is the outbound guard's business: only with networks that the operator names.
      ...(issuer.protocol === "http:" ? [client.allowInsecureRequests] : []),
    ],
  });
  known.set(provider, { at: now, configuration });
  // What failed is asked for again by whoever comes next, and not twice removed.
  configuration.catch(() => {
    if (known.get(provider)?.configuration === configuration) known.delete(provider);
  });
  return await settled(configuration);
}

/** All who wait for one answer hear the same of it. */
async function settled(configuration: Promise<client.Configuration>): Promise<client.Configuration> {
  try {
    return await configuration;
  } catch (error) {
    throw new ProviderUnavailable("the provider could not be asked about itself", { cause: error });
  }
}

function fetchThrough({ outbound }: Deps): client.CustomFetch {
  return async (url, { method, headers, body }) => {
    const answer = await outbound.fetch("social", url, {
      method,
      headers,
      ...(body === undefined || body === null ? {} : { body: String(body) }),
      timeoutMs,
      maxBytes,
    });
    const given = Object.entries(answer.headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((one): [string, string] => [name, one]),
    );
    const empty = answer.status === 204 || answer.status === 205 || answer.status === 304;
    const bytes = new Uint8Array(answer.body);
    return new Response(empty ? null : bytes, { status: answer.status, headers: given });
  };
}

/** What must be remembered between the way out and the way back. */
export type Ceremony = { state: string; nonce: string; codeVerifier: string };

/**
 * Where to send the browser.
 * @throws ProviderUnavailable
 */
export async function authorizationUrl(
  deps: Deps,
  provider: SocialProvider,
): Promise<{ url: string; ceremony: Ceremony }> {
  const configuration = await discover(deps, provider);
  const ceremony = {
    state: client.randomState(),
    nonce: client.randomNonce(),
    codeVerifier: client.randomPKCECodeVerifier(),
  };
  const url = client.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri(deps, provider).href,
    response_type: "code",
    scope: "openid email profile",
    state: ceremony.state,
    nonce: ceremony.nonce,
    code_challenge: await client.calculatePKCECodeChallenge(ceremony.codeVerifier),
    code_challenge_method: "S256",
  });
  return { url: url.href, ceremony };
}

/**
 * Exchanges the code and checks the ID token: signature, issuer, audience, times, nonce.
 * @param returned the parameters that the provider sent the browser back with
 * @throws ProviderUnavailable, SignInRejected
 */
export async function finishAuthorization(
  deps: Deps,
  provider: SocialProvider,
  returned: Readonly<Record<string, string>>,
  ceremony: Ceremony,
): Promise<SocialClaims> {
  const configuration = await discover(deps, provider);
  const current = redirectUri(deps, provider);
  for (const [name, value] of Object.entries(returned)) current.searchParams.set(name, value);
  try {
    const tokens = await client.authorizationCodeGrant(configuration, current, {
      expectedState: ceremony.state,
      expectedNonce: ceremony.nonce,
      pkceCodeVerifier: ceremony.codeVerifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (!claims) throw new SignInRejected("there was no ID token");
    return readClaims(provider, configuration.serverMetadata().issuer, claims);
  } catch (error) {
    if (isOutboundFailure(error)) throw new ProviderUnavailable("the provider did not answer", { cause: error });
    if (error instanceof SignInRejected) throw error;
    throw new SignInRejected("the provider's answer was refused", { cause: error });
  }
}

function isOutboundFailure(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof OutboundError) return true;
  return false;
}
