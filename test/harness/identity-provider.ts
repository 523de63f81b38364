import { generateKeyPairSync } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import Provider, { type Configuration } from "oidc-provider";

/** A real OpenID Connect provider on loopback. Whoever comes is signed in as the account that the test has set. */

export type ProviderAccount = {
  sub: string;
  email?: string;
  email_verified?: boolean;
  name?: string;
  /** Microsoft's word for an address whose domain owner is verified. */
  xms_edov?: boolean | string;
};

export type IdentityProvider = {
  issuer: string;
  /** Settings of an appliance that signs people in with it: `google` or `microsoft`, and the guard's leave to call it. */
  env: (provider: "google" | "microsoft") => Record<string, string>;
  /** Names the appliance to which people are sent back; before that nothing is served. */
  serve: (appliance: string) => void;
  /** Who comes next. */
  account: ProviderAccount;
  /** Whether they agree. */
  agrees: boolean;
  /** Whether ID tokens arrive under a signature that is not the provider's. */
  isForged: boolean;
  stop: () => Promise<void>;
};

const clientId = "signet";
const clientSecret = "a secret of the identity provider's tests";

export async function startIdentityProvider(): Promise<IdentityProvider> {
  let answer = (_: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(503).end();
  };
  const server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the identity provider has no port");
  const { port } = address;
  const issuer = `http://127.0.0.1:${port}`;

  const idp: IdentityProvider = {
    issuer,
    account: { sub: "nobody" },
    agrees: true,
    isForged: false,
    env: (provider) => {
      const prefix = `SIGNET_SOCIAL_${provider.toUpperCase()}`;
      return {
        [`${prefix}_CLIENT_ID`]: clientId,
        [`${prefix}_CLIENT_SECRET`]: clientSecret,
        [`${prefix}_ISSUER`]: issuer,
        SIGNET_OUTBOUND_ALLOW: `social=127.0.0.0/8:${port}`,
      };
    },
    serve(appliance) {
      const redirects = ["google", "microsoft"].map((name) => `${appliance}/auth/social/${name}/callback`);
      const provider = new Provider(
        issuer,
        configurationOf(redirects, () => idp.account),
      );
      const protocol = provider.callback();
      answer = (request, response) => {
        if (idp.isForged && request.url?.startsWith("/token")) forge(response);
        if (!request.url?.startsWith("/interaction/")) return void protocol(request, response);
        const { sub } = idp.account;
        const result = idp.agrees
          ? { login: { accountId: sub } }
          : { error: "access_denied", error_description: "The person said no." };
        provider.interactionFinished(request, response, result).catch(() => response.writeHead(500).end());
      };
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return idp;
}

/** Puts another signature of the same length into the ID token that the answer carries. */
function forge(response: ServerResponse): void {
  const end = response.end.bind(response);
  Object.assign(response, {
    end: (body: unknown) => end(String(body).replace(/("id_token":"[^"]+)[\w-]{40}"/, `$1${"A".repeat(40)}"`)),
  });
}

function configurationOf(redirectUris: string[], account: () => ProviderAccount): Configuration {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: redirectUris,
        response_types: ["code"],
        grant_types: ["authorization_code"],
        token_endpoint_auth_method: "client_secret_post",
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), kty: "RSA", use: "sig", alg: "RS256", kid: "test" }] },
    cookies: { keys: ["a key of the identity provider's tests"] },
    claims: { openid: ["sub"], email: ["email", "email_verified", "xms_edov"], profile: ["name"] },
    // Google and Microsoft put the address into the ID token as well.
    conformIdTokenClaims: false,
    ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ ...account(), sub }) }),
    async loadExistingGrant(ctx) {
      const { client, session, provider } = ctx.oidc;
      const grant = new provider.Grant({ clientId: client?.clientId, accountId: session?.accountId });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
  };
}
