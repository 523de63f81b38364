import { z } from "zod";
import { endpoint } from "../../kernel/endpoint.ts";
import { Email, GivenLocale, Line, listOf, pageQuery, TimeZone, Ts } from "../../kernel/wire.ts";
import { passwordLength } from "../identity/contract.ts";
import { DashboardSession } from "../identity/session-contract.ts";
import { endpoints as passkeys } from "./passkeys/contract.ts";
import { endpoints as social, socialProviders } from "./social/contract.ts";

/** How people sign in to the dashboard (contract §15; kept out of the published /v1 document). Isomorphic. */

const tag = "Sign-in";
const small = 16 * 1024;

/** A password as it is chosen. One that is entered to sign in has no rule: an old one must go on working. */
export const NewPassword = z
  .string()
  .min(passwordLength.min, `A password has at least ${passwordLength.min} characters.`)
  .max(passwordLength.max, `A password has at most ${passwordLength.max} characters.`);
const GivenPassword = z.string().min(1).max(1024);
const Code = z.string().regex(/^\d{6}$/, "A code has six digits.");
const Token = z.string().min(1).max(200);
/** Names stand in mails to strangers: no links in them. */
const name = Line(200).refine((text) => !text.includes("://"), "A name cannot contain a link.");
export const PersonName = name;
export const OrganizationName = name;
/** A path of the dashboard to go on to: never another site, and nothing that a header cannot carry. */
export const ReturnTo = z
  .string()
  .max(500)
  .regex(/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/, "Use a path of the dashboard, beginning with a single slash.");

/** The same whether or not there is an account, so that nobody can find out. */
export const Accepted = z.object({ accepted: z.literal(true) }).meta({ id: "Accepted" });
const accepted = { 202: { kind: "json", schema: Accepted } } as const;
const signedIn = { 200: { kind: "json", schema: DashboardSession, description: "Signed in." } } as const;
const noContent = { 204: { kind: "empty" } } as const;
const codeErrors = ["otp-invalid", "otp-expired", "otp-exhausted", "rate-limited"] as const;
const tokenErrors = ["token-invalid", "token-expired", "token-used"] as const;

const common = { tag, published: false } as const;
const publicly = { ...common, credential: "public" } as const;
const asPerson = { ...common, credential: "person" } as const;
const json = <S extends z.ZodType>(schema: S) => ({ kind: "json", schema, maxBytes: small }) as const;

export const SignInOptions = z.object({
  signUp: z.enum(["invited", "domains", "open"]),
  social: z.array(z.enum(socialProviders)),
  /** Whether the one-time link of the first owner is still waiting. */
  firstOwner: z.boolean(),
});
export const getSignInOptions = endpoint({
  ...publicly,
  method: "GET",
  path: "/auth/options",
  id: "getSignInOptions",
  summary: "Which ways to sign in and to sign up there are",
  responses: { 200: { kind: "json", schema: SignInOptions } },
});

export const createFirstOwner = endpoint({
  ...publicly,
  method: "POST",
  path: "/auth/first-owner",
  id: "createFirstOwner",
  summary: "Create the first organization and its owner by the one-time link of the first start",
  rateLimit: { name: "first-owner", points: 10, seconds: 60 },
  body: json(
    z.strictObject({
      token: Token,
      email: Email,
      name: PersonName,
      password: NewPassword,
      organization: OrganizationName,
      locale: GivenLocale.optional(),
      timeZone: TimeZone.optional(),
    }),
  ),
  responses: { 201: { kind: "json", schema: DashboardSession } },
  errors: [...tokenErrors, "conflict"],
});

export const signUp = endpoint({
  ...publicly,
  method: "POST",
  path: "/auth/sign-up",
  id: "signUp",
  summary: "Ask for an account; the address is confirmed by a code",
  rateLimit: { name: "sign-up", points: 5, seconds: 60 },
  body: json(z.strictObject({ email: Email, password: NewPassword, name: PersonName, locale: GivenLocale.optional() })),
  responses: accepted,
  errors: ["rate-limited"],
});

export const confirmSignUp = endpoint({
  ...publicly,
  method: "POST",
  path: "/auth/sign-up/confirm",
  id: "confirmSignUp",
  summary: "Confirm the address of a new account with the mailed code; signs in",
  rateLimit: { name: "sign-up-confirm", points: 20, seconds: 60 },
  body: json(z.strictObject({ email: Email, code: Code })),
  responses: signedIn,
  errors: codeErrors,
});

export const signInWithPassword = endpoint({
  ...publicly,
  method: "POST",
  path: "/auth/sign-in/password",
  id: "signInWithPassword",
  summary: "Sign in with address and password",
  rateLimit: { name: "sign-in-password", points: 10, seconds: 60 },
  body: json(z.strictObject({ email: Email, password: GivenPassword })),
  responses: signedIn,
  errors: ["unauthorized", "rate-limited", "sso-required", "service-unavailable"],
});

export const requestSignInCode = endpoint({
  ...publicly,
  method: "POST",
  path: "/auth/codes",
  id: "requestSignInCode",
  summary: "Mail a one-time code to sign in with",
  rateLimit: { name: "sign-in-codes", points: 3, seconds: 60 },
  body: json(z.strictObject({ email: Email, locale: GivenLocale.optional() })),
  responses: accepted,
  errors: ["rate-limited"],
});

export const signInWithCode = endpoint({
  ...publicly,
  method: "POST",
  path: "/auth/sign-in/code",
  id: "signInWithCode",
  summary: "Sign in with a mailed code",
  rateLimit: { name: "sign-in-code", points: 20, seconds: 60 },
  body: json(z.strictObject({ email: Email, code: Code })),
  responses: signedIn,
  errors: [...codeErrors, "sso-required"],
});

export const requestMagicLink = endpoint({
  ...publicly,
  method: "POST",
  path: "/auth/magic-links",
  id: "requestMagicLink",
  summary: "Mail a link to sign in with",
  rateLimit: { name: "magic-links", points: 3, seconds: 60 },
  body: json(z.strictObject({ email: Email, locale: GivenLocale.optional(), returnTo: ReturnTo.optional() })),
  responses: accepted,
  errors: ["rate-limited"],
});

export const lookAtMagicLink = endpoint({
  ...publicly,
  method: "POST",
  path: "/auth/magic-links/look",
  id: "lookAtMagicLink",
  summary: "Whose account a mailed link opens; does not use it up",
  rateLimit: { name: "magic-link-look", points: 30, seconds: 60 },
  body: json(z.strictObject({ token: Token })),
  responses: {
    200: {
      kind: "json",
      schema: z.object({
        /** Masked: whoever else gets hold of the link learns no address. */
        email: z.string(),
        /** Whether this browser is signed in as somebody else, whose session ends by the link. */
        replacesSession: z.boolean(),
      }),
    },
  },
  errors: tokenErrors,
});

export const signInWithMagicLink = endpoint({
  ...publicly,
  method: "POST",
  path: "/auth/sign-in/magic",
  id: "signInWithMagicLink",
  summary: "Sign in with the token of a mailed link",
  rateLimit: { name: "sign-in-magic", points: 20, seconds: 60 },
  body: json(z.strictObject({ token: Token })),
  responses: {
    200: { kind: "json", schema: z.object({ session: DashboardSession, returnTo: z.string().nullable() }) },
  },
  errors: [...tokenErrors, "sso-required"],
});

export const forgotPassword = endpoint({
  ...publicly,
  method: "POST",
  path: "/auth/password/forgot",
  id: "forgotPassword",
  summary: "Mail a link with which a new password can be chosen",
  rateLimit: { name: "password-forgot", points: 5, seconds: 15 * 60 },
  body: json(z.strictObject({ email: Email, locale: GivenLocale.optional() })),
  responses: accepted,
  errors: ["rate-limited"],
});

export const resetPassword = endpoint({
  ...publicly,
  method: "POST",
  path: "/auth/password/reset",
  id: "resetPassword",
  summary: "Choose a new password with the token of a mailed link; ends every session of the person",
  rateLimit: { name: "password-reset", points: 10, seconds: 60 },
  body: json(z.strictObject({ token: Token, password: NewPassword })),
  responses: noContent,
  errors: tokenErrors,
});

export const setPassword = endpoint({
  ...asPerson,
  method: "POST",
  path: "/auth/password/set",
  id: "setPassword",
  summary: "Set a first password; needs a sign-in of the last 15 minutes and ends the other sessions",
  body: json(z.strictObject({ password: NewPassword })),
  responses: { 200: { kind: "json", schema: DashboardSession } },
  errors: ["fresh-sign-in-required", "conflict", "rate-limited"],
});

export const changePassword = endpoint({
  ...asPerson,
  method: "POST",
  path: "/auth/password/change",
  id: "changePassword",
  summary: "Change the password; ends the other sessions",
  rateLimit: { name: "password-change", points: 10, seconds: 60 },
  body: json(z.strictObject({ currentPassword: GivenPassword, password: NewPassword })),
  responses: { 200: { kind: "json", schema: DashboardSession } },
  errors: ["conflict", "rate-limited"],
});

export const getSession = endpoint({
  ...asPerson,
  method: "GET",
  path: "/auth/session",
  id: "getSession",
  summary: "Who is signed in, and in which organization",
  responses: { 200: { kind: "json", schema: DashboardSession } },
});

export const signOut = endpoint({
  ...publicly,
  method: "POST",
  path: "/auth/sign-out",
  id: "signOut",
  summary: "End this session",
  responses: noContent,
});

export const updateProfile = endpoint({
  ...asPerson,
  method: "PATCH",
  path: "/auth/profile",
  id: "updateProfile",
  summary: "Change the person's own name or language",
  body: json(z.strictObject({ name: PersonName.optional(), locale: GivenLocale.nullable().optional() })),
  responses: { 200: { kind: "json", schema: DashboardSession } },
});

export const SessionInfo = z.object({
  id: z.string(),
  current: z.boolean(),
  method: z.string(),
  ip: z.string(),
  userAgent: z.string().nullable(),
  signedInAt: Ts,
  lastSeenAt: Ts,
  expiresAt: Ts,
});
export type SessionInfo = z.infer<typeof SessionInfo>;

export const listSessions = endpoint({
  ...asPerson,
  method: "GET",
  path: "/auth/sessions",
  id: "listSessions",
  summary: "Where the person is signed in",
  query: z.object(pageQuery),
  responses: { 200: { kind: "json", schema: listOf("SessionList", SessionInfo) } },
});

export const deleteSession = endpoint({
  ...asPerson,
  method: "DELETE",
  path: "/auth/sessions/{id}",
  id: "deleteSession",
  summary: "End one session",
  params: z.object({ id: z.string() }),
  responses: noContent,
});

export const deleteSessions = endpoint({
  ...asPerson,
  method: "DELETE",
  path: "/auth/sessions",
  id: "deleteSessions",
  summary: "Sign out everywhere; `keep=current` leaves this session",
  query: z.object({ keep: z.literal("current").optional() }),
  responses: noContent,
});

export const endpoints = [
  getSignInOptions,
  createFirstOwner,
  signUp,
  confirmSignUp,
  signInWithPassword,
  requestSignInCode,
  signInWithCode,
  requestMagicLink,
  lookAtMagicLink,
  signInWithMagicLink,
  forgotPassword,
  resetPassword,
  setPassword,
  changePassword,
  getSession,
  signOut,
  updateProfile,
  listSessions,
  deleteSession,
  deleteSessions,
  ...passkeys,
  ...social,
];
