import type { Deps } from "../../kernel/deps.ts";
import { AppError, notFound } from "../../kernel/errors.ts";
import { publicKeyOf } from "./public-keys.ts";
import { type KeyDeps, openPrivateKey } from "./signers.ts";
import * as store from "./store.ts";

const dayMs = 24 * 60 * 60 * 1000;
const validMs = 30 * dayMs;
/** A seal states what was revoked when it was made; a list this young says that well enough. */
const freshMs = 60_000;
/** Clocks of those who verify may be this far behind. */
const skewMs = 5 * 60 * 1000;

type Issued = { at: number; list: Promise<Uint8Array> };
const issued = new WeakMap<Deps["db"], Map<string, Issued>>();

/**
 * The current revocation list of an authority of this installation, retired ones too; made anew when the last one is more
 * than a minute old.
 * @param authority SHA-256 of its certificate
 * @returns DER; undefined when it is none of ours
 */
export async function ownRevocationList(deps: KeyDeps, authority: string): Promise<Uint8Array | undefined> {
  const now = deps.clock.now();
  const lists = issued.get(deps.db) ?? new Map<string, Issued>();
  issued.set(deps.db, lists);
  const known = lists.get(authority);
  if (known && known.at <= now && now < known.at + freshMs) return await known.list;
  const row = (await store.listKeys(deps.db.read)).find(({ id, purpose }) => id === authority && purpose === "ca");
  if (!row || row.certificate === null || row.storage !== "software") return undefined;
  const list = make(deps, row, Buffer.from(row.certificate, "base64"), now);
  lists.set(authority, { at: now, list });
  // The next seal tries again.
  list.catch(() => lists.delete(authority));
  return await list;
}

/**
 * An authority of this installation, in use or replaced, as the certificates that it issued name it.
 * @param identifier subject key identifier, lower-case hex
 * @returns its row's id and DER
 * @throws AppError `not-found`
 */
export async function authorityBy(deps: KeyDeps, identifier: string): Promise<{ id: string; certificate: Buffer }> {
  const { keyIdentifierOf } = await import("./certificates.ts");
  const row = (await store.listKeys(deps.db.read)).find(
    (one) => one.purpose === "ca" && one.activated_at !== null && keyIdentifierOf(publicKeyOf(one)) === identifier,
  );
  if (!row || row.certificate === null) throw notFound("The authority");
  return { id: row.id, certificate: Buffer.from(row.certificate, "base64") };
}

/**
 * The list that is served. While nobody knows what time it is the last one goes on being served, and no new one is dated by a guess.
 * @throws AppError `not-found`; `service-unavailable` while there is none that could be dated
 */
export async function publishedRevocationList(deps: KeyDeps, identifier: string): Promise<Uint8Array> {
  const { id } = await authorityBy(deps, identifier);
  if (deps.clock.doubt?.()) {
    const known = await issued.get(deps.db)?.get(id)?.list;
    if (known) return known;
    throw new AppError("service-unavailable", { detail: "The clock of this machine is in doubt.", retryAfter: 60 });
  }
  const list = await ownRevocationList(deps, id);
  if (!list) throw notFound("The revocation list");
  return list;
}

async function make(deps: KeyDeps, row: store.KeyRow, issuer: Uint8Array, now: number): Promise<Uint8Array> {
  const { issueRevocationList } = await import("./revocation-list.ts");
  const thisUpdate = now - skewMs;
  return await issueRevocationList({
    issuer,
    privateKey: openPrivateKey(deps, row),
    thisUpdate,
    nextUpdate: now + validMs,
  });
}
