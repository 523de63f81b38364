import { AppError } from "../../kernel/errors.ts";
import { type KeyInfo, presentKey } from "./ceremony.ts";
import { authorityOf, certified, type Issuer, makePair } from "./generate.ts";
import { publicKeyOf } from "./public-keys.ts";
import { recorded } from "./records.ts";
import { keepAgain, keepPrivate, putIntoUse } from "./rotation.ts";
import { ensureKeys } from "./service.ts";
import { chainTexts, type KeyDeps } from "./signers.ts";
import * as store from "./store.ts";

/**
 * Replaces the installation's own authority by a new one, which certifies the keys that seal and stamp anew; they stay the
 * same, and so do certificates from elsewhere. The authority of before stays published, and its revocation list is issued as
 * long as a seal asks for it.
 * @throws AppError `conflict` when another rotation came in between
 */
export async function rotateAuthority(deps: KeyDeps, by?: string): Promise<{ retired: KeyInfo[]; inUse: KeyInfo[] }> {
  await ensureKeys(deps);
  const nowMs = deps.clock.now();
  const pair = await makePair("rsa-3072");
  const issuer = authorityOf(pair, nowMs, deps.config.baseUrl);
  const keep = keepPrivate(deps, pair.privateKey);
  const next = await certified({
    purpose: "ca",
    algorithm: "rsa-3072",
    publicKey: pair.publicKey,
    keep,
    issuer,
    nowMs,
  });
  const before = await store.findKeyInUse(deps.db.read, "ca");
  const pairs = [{ before, next }, ...(await certifiedAnew(deps, issuer, nowMs))];
  const keys = pairs.flatMap((one) => [
    ...(one.before ? [{ row: one.before, state: "retired" as const }] : []),
    { row: one.next, state: "in-use" as const },
  ]);
  await recorded(deps, { act: "rotate", name: by, keys }, async (tx) => {
    for (const one of pairs) {
      if ((await store.findKeyInUse(tx, one.next.purpose))?.id !== one.before?.id)
        throw new AppError("conflict", { detail: "Another rotation came in between; try again." });
      await store.insertKeys(tx, [one.next]);
      await putIntoUse(tx, deps, one.next);
    }
  });
  const ids = new Set(pairs.flatMap((one) => [one.before?.id, one.next.id]));
  const shown = (await store.listKeys(deps.db.read)).filter(({ id }) => ids.has(id)).map(presentKey);
  return {
    retired: shown.filter(({ state }) => state === "retired"),
    inUse: shown.filter(({ state }) => state === "in-use"),
  };
}

async function certifiedAnew(deps: KeyDeps, issuer: Issuer, nowMs: number) {
  const pairs: { before: store.KeyRow; next: store.KeyRow }[] = [];
  for (const purpose of ["seal", "timestamp"] as const) {
    const before = await store.findKeyInUse(deps.db.read, purpose);
    if (!before || chainTexts(before).length > 0) continue;
    const about = { purpose, algorithm: before.algorithm, publicKey: publicKeyOf(before), issuer, nowMs };
    pairs.push({ before, next: await certified({ ...about, keep: keepAgain(deps, before) }) });
  }
  return pairs;
}
