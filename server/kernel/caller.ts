import type { Actor, Permission } from "./wire.ts";

/** An API key or a dashboard session: whoever may call K operations. */
export type OrganizationCaller = {
  kind: "api_key" | "user";
  /** key_… or usr_…: with the organization the scope of idempotency keys. */
  id: string;
  /** dss_…, the dashboard session; null for API keys. */
  session: string | null;
  organization: string;
  /** The mode an API key is bound to; null for a dashboard session, which sees both. */
  testMode: boolean | null;
  permissions: ReadonlySet<Permission>;
  actor: Actor;
  /** Milliseconds since the epoch of the last sign-in; null for API keys. */
  signedInAt: number | null;
};

/** A person with a dashboard session, whether or not they belong to an organization. */
export type PersonCaller = {
  kind: "person";
  /** dss_… */
  session: string;
  /** usr_… */
  user: string;
  /** The organization that the session works in; null while the person belongs to none. */
  organization: string | null;
  /** Milliseconds since the epoch. */
  signedInAt: number;
  actor: Actor;
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

/** Whoever may open the local admin socket: its file permissions are the credential. */
export type LocalCaller = {
  kind: "local";
  /** An operator; the name is what the client says of its user, since the socket tells nobody's. */
  actor: Actor;
};

/** Caller by the credential that an operation declares. */
export type Callers = {
  key: OrganizationCaller;
  /** A dashboard session that works in an organization. */
  dashboard: OrganizationCaller;
  /** A dashboard session, with or without an organization. */
  person: PersonCaller;
  signer: SignerCaller;
  viewer: ViewerCaller;
  /** Never mounted on TCP and in no published document. */
  local: LocalCaller;
  public: null;
};
export type Credential = keyof Callers;
