import { z } from "zod";
import { endpoint } from "../../../kernel/endpoint.ts";
import { listOf, pageQuery, Ts } from "../../../kernel/wire.ts";

/** Sign-in with an account elsewhere, by OpenID Connect with PKCE. Isomorphic. */

export const socialProviders = ["google", "microsoft"] as const;
export type SocialProvider = (typeof socialProviders)[number];
const provider = z.object({ provider: z.enum(socialProviders) });

/** Why such a sign-in did not work: `problem` of the page that the browser is led back to. */
export const socialProblems = [
  "social-cancelled",
  "social-failed",
  "social-no-account",
  "social-unverified",
  /** The account elsewhere signs another person in. */
  "social-taken",
  /** Who wants to connect an account must have signed in within fifteen minutes. */
  "social-stale",
  "provider-unavailable",
] as const;
export type SocialProblem = (typeof socialProblems)[number];

export const SocialIdentity = z.object({
  provider: z.enum(socialProviders),
  email: z.string().nullable(),
  createdAt: Ts,
  lastUsedAt: Ts.nullable(),
});
export type SocialIdentity = z.infer<typeof SocialIdentity>;

const common = { tag: "Social sign-in", published: false } as const;
const returned = z.string().max(8192).optional().catch(undefined);
const redirect = { 302: { kind: "empty", description: "To the provider, or back to the dashboard." } } as const;

export const startSocialSignIn = endpoint({
  ...common,
  credential: "public",
  method: "GET",
  path: "/auth/social/{provider}/start",
  id: "startSocialSignIn",
  summary: "Go to the provider to sign in; for who is signed in already, to connect the account",
  rateLimit: { name: "social-start", points: 20, seconds: 60 },
  params: provider,
  /** A path of the dashboard; anything else is ignored. */
  query: z.object({ returnTo: z.string().optional().catch(undefined) }),
  responses: redirect,
});

export const finishSocialSignIn = endpoint({
  ...common,
  credential: "public",
  method: "GET",
  path: "/auth/social/{provider}/callback",
  id: "finishSocialSignIn",
  summary: "Where the provider sends the browser back to",
  rateLimit: { name: "social-callback", points: 30, seconds: 60 },
  params: provider,
  // Whatever comes leads back to the dashboard; what cannot be read counts as missing.
  query: z.object({ state: returned, code: returned, error: returned, iss: returned }),
  foreignQuery: true,
  responses: redirect,
});

export const listSocialIdentities = endpoint({
  ...common,
  credential: "person",
  method: "GET",
  path: "/auth/social",
  id: "listSocialIdentities",
  summary: "Accounts elsewhere that sign this person in",
  query: z.object(pageQuery),
  responses: { 200: { kind: "json", schema: listOf("SocialIdentityList", SocialIdentity) } },
});

export const deleteSocialIdentity = endpoint({
  ...common,
  credential: "person",
  method: "DELETE",
  path: "/auth/social/{provider}",
  id: "deleteSocialIdentity",
  summary: "Disconnect an account elsewhere; needs a sign-in of the last 15 minutes",
  params: provider,
  responses: { 204: { kind: "empty" } },
  errors: ["fresh-sign-in-required"],
});

export const endpoints = [startSocialSignIn, finishSocialSignIn, listSocialIdentities, deleteSocialIdentity];
