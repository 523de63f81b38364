import { open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { toTs } from "../../kernel/clock.ts";
import { isUniqueViolation, type Reader, type Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { hashSecret, newSecret } from "../../kernel/ids.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import {
  checkNewPassword,
  createPerson,
  foundOrganization,
  hasAnyOwner,
  hashPassword,
  startSession,
} from "../identity/service.ts";
import * as store from "./first-owner-store.ts";

/** The one-time link with which whoever installs the appliance becomes its first owner (contract §15). */

const lifeMs = 24 * 60 * 60 * 1000;
const fileOf = (deps: Pick<Deps, "config">) => path.join(deps.config.dataDir, "first-link");

/**
 * A fresh link; those made before stop working, since only the text that was shown last can still be found.
 * @param also in the same transaction, when a link is made
 * @returns null when there is an owner: then what is left of earlier links goes
 */
export async function issueFirstOwnerLink(
  deps: Pick<Deps, "db" | "clock" | "config">,
  also: (tx: Tx) => Promise<unknown> = async () => undefined,
): Promise<string | null> {
  const token = newSecret("svcf");
  const now = deps.clock.now();
  const issued = await deps.db.tx(async (tx) => {
    await store.deleteUnusedLinks(tx);
    if (await hasAnyOwner(tx)) return false;
    const expires_at = toTs(now + lifeMs);
    await store.insertLink(tx, { token_sha256: hashSecret(token), created_at: toTs(now), expires_at, used_at: null });
    await also(tx);
    return true;
  });
  // A file of an earlier start holds a link that is dead by now.
  await removeLinkFile(deps);
  return issued ? `${deps.config.appUrl}/first-owner#${token}` : null;
}

/** Keeps the link where only the service's account can read it, for a start that nobody watches. @returns the file */
export async function writeLinkFile(deps: Pick<Deps, "config">, link: string): Promise<string> {
  const file = fileOf(deps);
  const partial = `${file}.partial`;
  // A file that was left behind may have another mode; "wx" never opens it.
  await rm(partial, { force: true });
  const handle = await open(partial, "wx", 0o600);
  try {
    await handle.writeFile(`${link}\n`);
  } finally {
    await handle.close();
  }
  await rename(partial, file);
  return file;
}

async function removeLinkFile(deps: Pick<Deps, "config">): Promise<void> {
  await rm(fileOf(deps), { force: true });
}

export type FirstOwner = {
  token: string;
  email: string;
  name: string;
  password: string;
  organization: string;
  locale?: string | undefined;
  timeZone?: string | undefined;
};

/**
 * Creates the first organization with its owner and signs them in, all in one transaction.
 * @throws AppError `token-invalid`, `token-expired`, `token-used`; `conflict` when the address has an account
 */
export async function createFirstOwner(
  deps: Deps,
  input: FirstOwner,
  request: RequestInfo,
): Promise<{ id: string; secret: string }> {
  const sha256 = hashSecret(input.token);
  await requireUsable(deps.db.read, deps, sha256);
  await checkNewPassword(deps, input.password);
  // Outside of the transaction: it takes a quarter of a second.
  const passwordHash = await hashPassword(input.password, request.ip);
  try {
    const session = await deps.db.tx(async (tx) => {
      await requireUsable(tx, deps, sha256);
      const { name, email, locale, timeZone } = input;
      const user = await createPerson(tx, deps, { email, name, passwordHash, locale: locale ?? null });
      const by = { actor: { type: "user" as const, id: user, name, email }, ip: request.ip };
      const organization = await foundOrganization(tx, deps, { name: input.organization, locale, timeZone }, user, by);
      await store.markUsed(tx, sha256, deps.clock.ts());
      await store.deleteUnusedLinks(tx);
      return await startSession(tx, deps, user, "first_owner", request, organization);
    });
    await removeLinkFile(deps);
    return session;
  } catch (error) {
    if (isUniqueViolation(error))
      throw new AppError("conflict", { detail: "This address has an account already: sign in.", cause: error });
    throw error;
  }
}

async function requireUsable(reader: Reader, deps: Pick<Deps, "clock">, sha256: string): Promise<void> {
  const link = await store.findLink(reader, sha256);
  if (!link) {
    const detail =
      "This link is not known: a later start of the appliance has made a new one. `signet first-link` prints another.";
    throw new AppError("token-invalid", { detail });
  }
  if (link.used_at !== null || (await hasAnyOwner(reader))) {
    throw new AppError("token-used", { detail: "The first owner exists already: sign in." });
  }
  if (link.expires_at <= deps.clock.ts()) {
    throw new AppError("token-expired", { detail: "This link has expired. `signet first-link` prints a new one." });
  }
}
