import { randomInt } from "node:crypto";
import { toTs } from "../../kernel/clock.ts";
import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { newId } from "../../kernel/ids.ts";
import { equalInConstantTime } from "../../kernel/secrets.ts";
import * as store from "./code-store.ts";
import type { CodePurpose, CodeRow } from "./tables.ts";
import { noteTry, requireFewWrongCodes } from "./tries.ts";

/**
 * Six digits that prove an address (contract §13). Everything is counted by address in the database, whether or not the
 * address has an account, so neither an answer nor a restart tells or gives anything away.
 */

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** A code confirms a new account for as long as that account waits. */
export const codeLifeMs: Record<CodePurpose, number> = { sign_in: 10 * minuteMs, sign_up: dayMs };
const attempts = 5;
const perAddress = { codes: 5, ms: 15 * minuteMs };

/**
 * Makes a code for an address.
 * @throws AppError `rate-limited`
 */
export async function issueCode(
  tx: Tx,
  deps: Pick<Deps, "clock" | "secrets">,
  purpose: CodePurpose,
  email: string,
): Promise<{ id: string; code: string }> {
  const now = deps.clock.now();
  const recent = await store.codesSince(tx, email, toTs(now - dayMs));
  await requireFewWrongCodes(tx, deps, purpose, email);
  const oldest = recent.filter((row) => row.purpose === purpose)[perAddress.codes - 1];
  const freeAt = oldest === undefined ? 0 : Date.parse(oldest.created_at) + perAddress.ms;
  if (freeAt > now) throw new AppError("rate-limited", { retryAfter: Math.ceil((freeAt - now) / 1000) });
  if (purpose === "sign_in") await store.closeCodes(tx, purpose, email, toTs(now));
  const id = newId("otp");
  const code = String(randomInt(1_000_000)).padStart(6, "0");
  await store.insertCode(tx, {
    id,
    purpose,
    email_lower: email,
    hmac: hmacOf(deps, id, code),
    created_at: toTs(now),
    expires_at: toTs(now + codeLifeMs[purpose]),
    wrong: 0,
    closed_at: null,
  });
  return { id, code };
}

/** Six digits are guessable offline, so a hash alone would not do: the key is the appliance's. */
function hmacOf({ secrets }: Pick<Deps, "secrets">, id: string, code: string): string {
  return secrets.hmac("sign-in-code", `${id}:${code}`).toString("hex");
}

/** So many codes of this purpose were made for the address in the last day, whatever became of them. */
export async function codesOfDay(
  tx: Tx,
  deps: Pick<Deps, "clock">,
  purpose: CodePurpose,
  email: string,
): Promise<number> {
  const recent = await store.codesSince(tx, email, toTs(deps.clock.now() - dayMs));
  return recent.filter((row) => row.purpose === purpose).length;
}

/**
 * Compares a code with the open ones of its address.
 * @param only ids of those that it may be; the others stay as they are
 * @returns the row that it fits; call `refuseCode` when it, or what stands behind it, is of no use
 */
export async function matchCode(
  tx: Tx,
  deps: Pick<Deps, "clock" | "secrets">,
  purpose: CodePurpose,
  email: string,
  code: string,
  only: ReadonlySet<string> | null = null,
): Promise<{ row: CodeRow | undefined; open: CodeRow[]; tried: CodeRow[] }> {
  const open = await store.openCodes(tx, purpose, email, deps.clock.ts());
  const tried = open.filter(({ id, wrong }) => wrong < attempts && (only === null || only.has(id)));
  let row: CodeRow | undefined;
  for (const candidate of tried)
    if (equalInConstantTime(hmacOf(deps, candidate.id, code), candidate.hmac)) row ??= candidate;
  return { row, open, tried };
}

/**
 * Counts a wrong code: once for the address, and with each code that it was compared with.
 * @returns what to answer; throwing it in the transaction would undo the count
 */
export async function refuseCode(
  tx: Tx,
  deps: Pick<Deps, "clock">,
  purpose: CodePurpose,
  email: string,
  { open, tried }: { open: readonly CodeRow[]; tried: readonly CodeRow[] },
): Promise<AppError> {
  if (open.length === 0) return new AppError("otp-expired");
  const left = open.map(({ wrong }) => attempts - wrong).filter((more) => more > 0);
  if (left.length === 0) return new AppError("otp-exhausted");
  await noteTry(tx, deps, purpose, email);
  await store.countWrong(
    tx,
    tried.map(({ id }) => id),
  );
  return new AppError("otp-invalid", { attemptsRemaining: Math.max(...left) - 1 });
}
