import { z } from "zod";
import { Email } from "../../../kernel/wire.ts";
import { PersonName } from "../contract.ts";
import type { SocialProvider } from "./contract.ts";

/** What the ID token of a provider says of a person, and how much of it may be believed. */

export type SocialClaims = {
  issuer: string;
  subject: string;
  email: string | null;
  /** Whether the provider vouches that the address is the person's: an account may be found by it only then. */
  emailVerified: boolean;
  name: string | null;
};

const Claims = z.object({
  iss: z.string(),
  sub: z.string().min(1).max(255),
  email: Email.optional().catch(undefined),
  email_verified: z.unknown().optional(),
  xms_edov: z.unknown().optional(),
  hd: z.string().optional().catch(undefined),
  name: PersonName.optional().catch(undefined),
});

/**
 * Reads the claims of a token that was verified.
 * @param publishedIssuer the issuer of the discovery document; Microsoft's shared endpoints write `{tenantid}` into it
 */
export function readClaims(provider: SocialProvider, publishedIssuer: string, token: unknown): SocialClaims {
  const claims = Claims.parse(token);
  return {
    issuer: claims.iss,
    subject: claims.sub,
    email: claims.email ?? null,
    emailVerified: claims.email !== undefined && isVouchedFor(provider, publishedIssuer, claims),
    name: claims.name ?? null,
  };
}

/**
 * Behind Microsoft's shared endpoints anybody can be the administrator of a tenant of their own and write any address into its
 * directory. Only `xms_edov` says that the owner of the address's domain was verified.
 */
function isVouchedFor(
  provider: SocialProvider,
  publishedIssuer: string,
  claims: {
    email?: string | undefined;
    hd?: string | undefined;
    email_verified?: unknown;
    xms_edov?: unknown;
  },
): boolean {
  const domainOwnerVerified = [true, 1, "1", "true"].some((yes) => yes === claims.xms_edov);
  if (provider === "microsoft" && (publishedIssuer.includes("{tenantid}") || domainOwnerVerified)) {
    return domainOwnerVerified;
  }
  if (publishedIssuer === googleIssuer && !isHostedByGoogle(claims)) return false;
  return claims.email_verified === true;
}

const googleIssuer = "https://accounts.google.com";

/**
 * Google verifies an address elsewhere once, and goes on saying so when it has become somebody else's. Of its own addresses, and
 * of those in a domain that it hosts (`hd`), it knows whose they are.
 */
function isHostedByGoogle({ email = "", hd }: { email?: string | undefined; hd?: string | undefined }): boolean {
  const domain = email.slice(email.lastIndexOf("@") + 1).toLowerCase();
  return domain === "gmail.com" || domain === "googlemail.com" || domain === hd?.toLowerCase();
}
