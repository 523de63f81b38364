import type { Actor, Permission } from "./wire.ts";

/** An API key or a dashboard session: whoever may call K operations. */
export type OrganizationCaller = {
  kind: "api_key" | "user";
  /** key_… or usr_…: with the organization the scope of idempotency keys. */
  id: string;
  organization: string;
  /** The mode an API key is bound to; null for a dashboard session, which sees both. */
  testMode: boolean | null;
  permissions: ReadonlySet<Permission>;
  actor: Actor;
  /** Milliseconds since the epoch of the last sign-in; null for API keys. */
  signedInAt: number | null;
};

/** Who holds an access token of a signing session. */
export type SignerCaller = {
  kind: "signer";
  session: string;
  envelope: string;
  recipient: string;
  organization: string;
  testMode: boolean;
  /** True once the one-time code was entered, or when none is needed. */
  verified: boolean;
};

export type ViewerCaller = {
  kind: "viewer";
  viewer: string;
  envelope: string;
  organization: string;
  testMode: boolean;
};

/** Caller by the credential that an operation declares. */
export type Callers = {
  key: OrganizationCaller;
  dashboard: OrganizationCaller;
  signer: SignerCaller;
  viewer: ViewerCaller;
  public: null;
};
export type Credential = keyof Callers;
