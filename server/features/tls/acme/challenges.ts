import type { PemPair } from "../own-authority.ts";

/** What the server answers to an ACME authority that looks whether it stands under a name; kept while the authority looks. */

export type Challenges = {
  /** The answer under `/.well-known/acme-challenge/` (RFC 8555 §8.3). */
  http: Map<string, string>;
  /** The certificate by the name that the authority asks for (RFC 8737 §3). */
  alpn: Map<string, PemPair>;
};

export const createChallenges = (): Challenges => ({ http: new Map(), alpn: new Map() });

/** Nobody is to be answered any more. */
export function forgetChallenges({ http, alpn }: Challenges): void {
  http.clear();
  alpn.clear();
}
