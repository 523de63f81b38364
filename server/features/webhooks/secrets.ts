import type { Deps } from "../../kernel/deps.ts";
import { newWebhookSecret, signingKey } from "./signature.ts";
import type { EndpointRow } from "./tables.ts";

/** Signing secrets at rest: encrypted under the master key, since they are shown again. */

type Column = "secret" | "previous_secret";
const contextOf = (column: Column, id: string) => `webhook_endpoints.${column}:${id}`;

/** @throws Error for what is no webhook secret, so that none such is ever stored */
export function sealSecret({ secrets }: Pick<Deps, "secrets">, column: Column, id: string, secret: string): string {
  signingKey(secret);
  return secrets.seal(secret, contextOf(column, id));
}

export function newSealedSecret(deps: Pick<Deps, "secrets">, id: string): { secret: string; sealed: string } {
  const secret = newWebhookSecret();
  return { secret, sealed: sealSecret(deps, "secret", id, secret) };
}

export function openSecret({ secrets }: Pick<Deps, "secrets">, { id, secret }: EndpointRow): string {
  return secrets.open(secret, contextOf("secret", id)).toString();
}

/** The secrets that sign at this moment, the new one first. */
export function signingSecrets(deps: Pick<Deps, "secrets">, row: EndpointRow, now: string): string[] {
  const { id, previous_secret: previous, previous_expires_at: expires } = row;
  if (previous === null || expires === null || expires <= now) return [openSecret(deps, row)];
  return [openSecret(deps, row), deps.secrets.open(previous, contextOf("previous_secret", id)).toString()];
}
