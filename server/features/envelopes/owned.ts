import type { Deps } from "../../kernel/deps.ts";
import { notFound } from "../../kernel/errors.ts";
import { type OwnedEnvelope, type Owner, readOwnedEnvelope } from "./store.ts";

/** An envelope of this organization and mode. @throws AppError not-found */
export async function ownedEnvelope(deps: Deps, id: string, owner: Owner): Promise<OwnedEnvelope> {
  const record = await readOwnedEnvelope(deps.db.read, id, owner);
  if (record === undefined) throw notFound("The envelope");
  return record;
}
