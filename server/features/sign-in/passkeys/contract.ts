import { z } from "zod";
import { endpoint } from "../../../kernel/endpoint.ts";
import { Line, listOf, pageQuery, Ts } from "../../../kernel/wire.ts";
import { DashboardSession } from "../../identity/session-contract.ts";

/** Passkeys (WebAuthn Level 3): register, sign in, name, remove. Isomorphic. */

/** The JSON forms of WebAuthn §5.1.8 and §5.1.9; the library reads them, we pass them on. */
const WebAuthnJson = z.looseObject({});
const Challenge = z.object({
  /** Names the challenge in the answer; single use, five minutes. */
  challenge: z.string(),
  options: WebAuthnJson,
});
export const Passkey = z.object({
  id: z.string(),
  name: z.string(),
  backedUp: z.boolean(),
  createdAt: Ts,
  lastUsedAt: Ts.nullable(),
});
export type Passkey = z.infer<typeof Passkey>;
const PasskeyName = Line(100);

const common = { tag: "Passkeys", published: false } as const;
const json = <S extends z.ZodType>(schema: S) => ({ kind: "json", schema, maxBytes: 64 * 1024 }) as const;
const one = z.object({ id: z.string() });

export const passkeySignInOptions = endpoint({
  ...common,
  credential: "public",
  method: "POST",
  path: "/auth/passkeys/options",
  id: "passkeySignInOptions",
  summary: "Begin a sign-in with a passkey",
  rateLimit: { name: "passkey-options", points: 30, seconds: 60 },
  responses: { 200: { kind: "json", schema: Challenge } },
});

export const signInWithPasskey = endpoint({
  ...common,
  credential: "public",
  method: "POST",
  path: "/auth/passkeys/verify",
  id: "signInWithPasskey",
  summary: "Sign in with a passkey",
  rateLimit: { name: "passkey-verify", points: 20, seconds: 60 },
  body: json(z.strictObject({ challenge: z.string().max(64), response: WebAuthnJson })),
  responses: { 200: { kind: "json", schema: DashboardSession } },
  errors: ["unauthorized", "sso-required"],
});

export const passkeyRegistrationOptions = endpoint({
  ...common,
  credential: "person",
  method: "POST",
  path: "/auth/passkeys/register/options",
  id: "passkeyRegistrationOptions",
  summary: "Begin to register a passkey; needs a sign-in of the last 15 minutes",
  responses: { 200: { kind: "json", schema: Challenge } },
  errors: ["fresh-sign-in-required"],
});

export const registerPasskey = endpoint({
  ...common,
  credential: "person",
  method: "POST",
  path: "/auth/passkeys/register/verify",
  id: "registerPasskey",
  summary: "Register a passkey",
  body: json(z.strictObject({ challenge: z.string().max(64), name: PasskeyName, response: WebAuthnJson })),
  responses: { 201: { kind: "json", schema: Passkey } },
  errors: ["fresh-sign-in-required", "conflict"],
});

export const listPasskeys = endpoint({
  ...common,
  credential: "person",
  method: "GET",
  path: "/auth/passkeys",
  id: "listPasskeys",
  summary: "The person's passkeys",
  query: z.object(pageQuery),
  responses: { 200: { kind: "json", schema: listOf("PasskeyList", Passkey) } },
});

export const renamePasskey = endpoint({
  ...common,
  credential: "person",
  method: "PATCH",
  path: "/auth/passkeys/{id}",
  id: "renamePasskey",
  summary: "Name a passkey",
  params: one,
  body: json(z.strictObject({ name: PasskeyName })),
  responses: { 200: { kind: "json", schema: Passkey } },
});

export const deletePasskey = endpoint({
  ...common,
  credential: "person",
  method: "DELETE",
  path: "/auth/passkeys/{id}",
  id: "deletePasskey",
  summary: "Remove a passkey; needs a sign-in of the last 15 minutes",
  params: one,
  responses: { 204: { kind: "empty" } },
  errors: ["fresh-sign-in-required"],
});

export const endpoints = [
  passkeySignInOptions,
  signInWithPasskey,
  passkeyRegistrationOptions,
  registerPasskey,
  listPasskeys,
  renamePasskey,
  deletePasskey,
];
