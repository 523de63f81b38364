import { z } from "zod";
import type { Ts } from "../../../kernel/clock.ts";
import type { Reader, Tx } from "../../../kernel/db.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { AcmeRenewal, AcmeTrouble, ChallengeType } from "./contract.ts";

/** The one account at an authority, and how far its order is. Written before it is used: a kill at any moment loses no key. */

const Settings = z.object({
  directory: z.string(),
  rootPem: z.string().nullable(),
  names: z.array(z.string()),
  contacts: z.array(z.string()),
  challenge: ChallengeType,
  eabKid: z.string().nullable(),
});
export type AcmeSettings = z.infer<typeof Settings>;

const Held = z.object({
  /** PEM (PKCS#8). */
  accountKey: z.string(),
  /** One that is about to replace it: the authority may know either. */
  nextAccountKey: z.string().nullable(),
  /** Until the account is there. */
  eabKey: z.string().nullable(),
  /** Of the certificate that is being asked for. */
  request: z.object({ keyPem: z.string(), csrPem: z.string() }).nullable(),
});
export type AcmeSecrets = z.infer<typeof Held>;

const Progress = z.object({
  account: z.string().nullable(),
  order: z.string().nullable(),
  /** An order was asked for so often in a row, last at this moment, without its address being heard. */
  unheard: z.object({ at: z.int(), times: z.int() }).nullable().default(null),
  /** Lower-hex SHA-256 of the last certificate that was issued and served. */
  certificate: z.string().nullable(),
  /** An administrator wants a new one, whatever is served. */
  requested: z.boolean(),
  /** How often somebody had another certificate served: what began before the last time is not gone on with. */
  choices: z.int().default(0),
  state: z.enum(["working", "waiting", "valid", "failed"]),
  trouble: AcmeTrouble.nullable(),
  failures: z.int(),
  /** Milliseconds since the epoch. */
  nextAt: z.int(),
  renewal: AcmeRenewal.nullable(),
});
export type AcmeProgress = z.infer<typeof Progress>;

export type AcmeRow = {
  id: string;
  created_at: Ts;
  /** JSON. */
  settings: string;
  /** Sealed JSON. */
  secrets: string;
  /** JSON. */
  progress: string;
};

declare module "../../../kernel/db.ts" {
  interface Tables {
    acme: AcmeRow;
  }
}

export type Acme = { id: string; since: Ts; settings: AcmeSettings; progress: AcmeProgress };

const contextOf = (id: string) => `acme.secrets:${id}`;

export async function findAcme(reader: Reader | Tx): Promise<Acme | undefined> {
  const row = await reader.selectFrom("acme").select(["id", "created_at", "settings", "progress"]).executeTakeFirst();
  if (!row) return undefined;
  const { id, created_at: since, settings, progress } = row;
  return { id, since, settings: Settings.parse(JSON.parse(settings)), progress: Progress.parse(JSON.parse(progress)) };
}

/** @throws SealedTextDamaged */
export async function readSecrets(reader: Reader | Tx, deps: Pick<Deps, "secrets">, id: string): Promise<AcmeSecrets> {
  const row = await reader.selectFrom("acme").select("secrets").where("id", "=", id).executeTakeFirstOrThrow();
  return Held.parse(JSON.parse(deps.secrets.open(row.secrets, contextOf(id)).toString()));
}

/** Puts this account into the place of another. */
export async function replaceAcme(
  tx: Tx,
  deps: Pick<Deps, "secrets">,
  { id, since, settings, progress, secrets }: Acme & { secrets: AcmeSecrets },
): Promise<void> {
  await deleteAcme(tx);
  const sealed = sealedSecrets(deps, id, secrets);
  const [about, far] = [JSON.stringify(settings), JSON.stringify(progress)];
  await tx
    .insertInto("acme")
    .values({ id, created_at: since, settings: about, secrets: sealed, progress: far })
    .execute();
}

export async function updateAcme(
  tx: Tx,
  deps: Pick<Deps, "secrets">,
  id: string,
  change: { progress: AcmeProgress; secrets?: AcmeSecrets },
): Promise<void> {
  const sealed = change.secrets === undefined ? {} : { secrets: sealedSecrets(deps, id, change.secrets) };
  await tx
    .updateTable("acme")
    .set({ progress: JSON.stringify(change.progress), ...sealed })
    .where("id", "=", id)
    .execute();
}

/** Somebody chose another certificate: what was being asked for is not gone on with. */
export async function leaveOrder(tx: Tx): Promise<void> {
  const acme = await findAcme(tx);
  if (!acme) return;
  const now = { order: null, requested: false, state: "valid", trouble: null, failures: 0 } as const;
  const progress: AcmeProgress = { ...acme.progress, ...now, choices: acme.progress.choices + 1 };
  await tx
    .updateTable("acme")
    .set({ progress: JSON.stringify(progress) })
    .where("id", "=", acme.id)
    .execute();
}

export async function deleteAcme(tx: Tx): Promise<void> {
  await tx.deleteFrom("acme").execute();
}

const sealedSecrets = (deps: Pick<Deps, "secrets">, id: string, secrets: AcmeSecrets): string =>
  deps.secrets.seal(JSON.stringify(secrets), contextOf(id));
