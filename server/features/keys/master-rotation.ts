import { sql } from "kysely";
import { BlobDamaged, BlobMissing } from "../../kernel/blobs.ts";
import type { Deps } from "../../kernel/deps.ts";
import { SealedTextDamaged, type Secrets } from "../../kernel/secrets.ts";
import { readPin } from "./pkcs11/pins.ts";
import { recorded } from "./records.ts";
import { type SealedColumn, sealedColumns } from "./sealed-columns.ts";
import { type KeyDeps, pinFingerprint, tokenName } from "./signers.ts";
import * as store from "./store.ts";

/**
 * Everything that lies under the master key, sealed anew under the current one. It can end at any instruction and begin
 * again: what is current already is left alone, and until the caller puts the key into its place both open everything.
 */

type Row = Record<string, string>;
/** Told after each step that is durable. */
export type Progress = (step: string) => void;
export type Resealed = { texts: number; blobs: number /** What neither key opens, by its name. */; damaged: string[] };

const batch = 200;

/** Nobody else may work with the data folder. @param before only opens */
export async function resealAll(
  deps: KeyDeps & Pick<Deps, "blobs">,
  keys: { before: Secrets; fingerprints: { before: string; after: string }; name?: string | undefined },
  progress: Progress,
): Promise<Resealed> {
  const done: Resealed = { texts: 0, blobs: 0, damaged: [] };
  for (const column of sealedColumns) await resealColumn(deps, column, done, progress);
  // It was sealed under the key of before: a sweep that missed it missed more.
  const proof = await deps.db.read.selectFrom("master_key_proof").select("sealed").executeTakeFirst();
  if (!proof || !deps.secrets.isCurrent(proof.sealed))
    throw new Error("the proof of the master key was not sealed anew");
  await rewrapBlobs(deps, done, progress);
  await keepRefusedPin(deps, keys.before);
  progress("refused PIN");
  const { fingerprints: masterKey, name } = keys;
  const records = await store.listRecords(deps.db.read);
  // One that was interrupted behind its record is recorded already.
  if (!records.some(({ body }) => body.includes(`"after":"${masterKey.after}"`)))
    await recorded(deps, { act: "rotate-master", keys: [], name, masterKey }, async () => undefined);
  progress("record");
  return done;
}

async function resealColumn(deps: KeyDeps, about: SealedColumn, done: Resealed, progress: Progress): Promise<void> {
  const { table, column, key, also = [] } = about;
  const names = [...key, ...also, column];
  const place = sql.join(key.map((name) => sql.ref(name)));
  let last: Row | undefined;
  for (;;) {
    const after = last;
    const behind = after ? sql`where (${place}) > (${sql.join(key.map((name) => fieldOf(after, name)))})` : sql``;
    const found = await sql<Record<string, string | number | null>>`
      select ${sql.join(names.map((name) => sql.ref(name)))} from ${sql.table(table)} ${behind}
      order by ${place} limit ${batch}`.execute(deps.db.read);
    if (found.rows.length === 0) return;
    const rows = found.rows.map((row): Row => Object.fromEntries(names.map((name) => [name, String(row[name] ?? "")])));
    const changes = rows.flatMap((row) => {
      const sealed = fieldOf(row, column);
      if (!isSealed(sealed)) return [];
      try {
        if (deps.secrets.isCurrent(sealed)) return [];
        const context = about.context(row);
        return [{ row, sealed, next: deps.secrets.seal(deps.secrets.open(sealed, context), context) }];
      } catch (error) {
        if (!(error instanceof SealedTextDamaged)) throw error;
        done.damaged.push(`${table}.${column} ${key.map((name) => fieldOf(row, name)).join(" ")}`);
        return [];
      }
    });
    if (changes.length > 0)
      await deps.db.tx(async (tx) => {
        for (const { row, sealed, next } of changes) {
          const same = sql.join(
            key.map((name) => sql`${sql.ref(name)} = ${fieldOf(row, name)}`),
            sql` and `,
          );
          await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${next}
            where ${same} and ${sql.ref(column)} = ${sealed}`.execute(tx);
        }
      });
    done.texts += changes.length;
    progress(`${table}.${column}`);
    last = rows.at(-1);
  }
}

const fieldOf = (row: Row, name: string): string => row[name] ?? "";

/** Empty is what was wiped or never there; JSON is the payload of a job without a secret, and no base64 is JSON. */
function isSealed(text: string): boolean {
  if (text === "") return false;
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}

async function rewrapBlobs({ blobs }: Pick<Deps, "blobs">, done: Resealed, progress: Progress): Promise<void> {
  for await (const sha256 of blobs.list()) {
    try {
      if ((await blobs.rewrap(sha256)) === "rewrapped") done.blobs += 1;
    } catch (error) {
      if (error instanceof BlobMissing) continue;
      if (!(error instanceof BlobDamaged || error instanceof SealedTextDamaged)) throw error;
      done.damaged.push(`blob ${sha256}`);
    }
    progress("blobs");
  }
}

/** The fingerprint of a refused PIN is under the master key too; forgotten, the same PIN would be tried once more. */
async function keepRefusedPin(deps: KeyDeps, before: Secrets): Promise<void> {
  const { pkcs11PinFile: file } = deps.config;
  const token = tokenName(deps.config);
  const refused = await store.findRefusedPin(deps.db.read, token);
  if (refused === undefined || file === undefined) return;
  const pin = await readPin(file).catch(() => undefined);
  if (!pin || pinFingerprint(before, pin.text, pin.writtenMs) !== refused) return;
  const fingerprint = pinFingerprint(deps.secrets, pin.text, pin.writtenMs);
  await deps.db.tx((tx) => store.replaceRefusedPin(tx, { token, fingerprint, refused_at: deps.clock.ts() }));
}
