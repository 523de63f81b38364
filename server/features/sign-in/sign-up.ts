import { randomBytes } from "node:crypto";
import { toTs } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { hashSecret } from "../../kernel/ids.ts";
import { enqueue } from "../../kernel/jobs.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import {
  checkNewPassword,
  cookieOf,
  createPerson,
  hashPassword,
  hasOpenInvitation,
  personByEmail,
} from "../identity/service.ts";
import { begin, noteRefusal, type SignedIn } from "./begin.ts";
import { closeCode, closeCodes } from "./code-store.ts";
import { codeLifeMs, codesOfDay, issueCode, matchCode, refuseCode } from "./codes.ts";
import { mailSignIn } from "./jobs.ts";
import { counted, signUps } from "./limits.ts";
import * as store from "./sign-up-store.ts";
import { requireFewWrongCodes } from "./tries.ts";

/** Tells the browsers apart in which accounts were asked for. */
const cookieName = "__Host-svc_sign_up";

/** So many accounts may wait for one address; a further one takes the place of the oldest. */
const mostWaiting = 5;

export type NewAccount = { email: string; password: string; name: string; locale?: string | undefined };

/** Whether the settings let this address have an account (contract §15). */
export async function maySignUp(reader: Reader, deps: Pick<Deps, "config" | "clock">, email: string): Promise<boolean> {
  const { signUp, signUpDomains } = deps.config;
  if (signUp === "open") return true;
  if (signUp === "domains" && signUpDomains.includes(email.slice(email.lastIndexOf("@") + 1).toLowerCase()))
    return true;
  return await hasOpenInvitation(reader, deps, email);
}

/**
 * Keeps an account waiting for the code that is mailed to its address. Does the same work for every address, also for one
 * that has an account or may have none; the job knows.
 * @throws AppError `validation-failed`, `rate-limited`, `service-unavailable`
 */
export async function signUp(deps: Deps, input: NewAccount, ip: string): Promise<{ cookie: string }> {
  const email = input.email.toLowerCase();
  const hash = await counted(deps, signUps, email, async () => {
    await checkNewPassword(deps, input.password);
    return await hashPassword(input.password, ip);
  });
  const browser = randomBytes(32).toString("base64url");
  await deps.db.tx(async (tx) => {
    const now = deps.clock.now();
    for (const oldest of (await store.signUpsOf(tx, email)).slice(mostWaiting - 1)) {
      await closeCode(tx, oldest, toTs(now));
      await store.deleteSignUp(tx, oldest);
    }
    const { id, code } = await issueCode(tx, deps, "sign_up", email);
    await store.insertSignUp(tx, {
      code: id,
      email: input.email,
      email_lower: email,
      name: input.name,
      password_hash: hash,
      locale: input.locale ?? null,
      created_at: toTs(now),
      expires_at: toTs(now + codeLifeMs.sign_up),
      browser_sha256: hashSecret(browser),
    });
    await enqueue(tx, mailSignIn, {
      cause: id,
      email: input.email,
      locale: input.locale ?? null,
      content: { kind: "confirm_account", code, minutes: codeLifeMs.sign_up / 60_000 },
    });
  });
  const attributes = "Path=/; HttpOnly; Secure; SameSite=Lax";
  return { cookie: `${cookieName}=${browser}; ${attributes}; Max-Age=${codeLifeMs.sign_up / 1000}` };
}

/**
 * Which of the address's accounts a code may confirm: null is any. Where several were asked for in a day a stranger may be
 * behind one of them, and whoever reads the mails could confirm the stranger's password: then the browser has to be the one.
 */
async function confirmable(tx: Tx, deps: Deps, email: string, request: RequestInfo): Promise<Set<string> | null> {
  if ((await codesOfDay(tx, deps, "sign_up", email)) <= 1) return null;
  const browser = cookieOf(request, cookieName) ?? "";
  return new Set(await store.signUpsOfBrowser(tx, email, hashSecret(browser)));
}

/**
 * Makes the account whose code this is, and signs in. Invitations allow the account; joining is the person's own step. An
 * account that was asked for alone may be confirmed from any browser; of several each only from its own.
 * @throws AppError `otp-invalid`, `otp-expired`, `otp-exhausted`, `rate-limited`
 */
export async function confirmSignUp(
  deps: Deps,
  input: { email: string; code: string },
  request: RequestInfo,
): Promise<SignedIn> {
  const email = input.email.toLowerCase();
  const outcome = await deps.db.tx(async (tx) => {
    await requireFewWrongCodes(tx, deps, "sign_up", email);
    const only = await confirmable(tx, deps, email, request);
    const matched = await matchCode(tx, deps, "sign_up", email, input.code, only);
    const waiting = matched.row && (await store.findSignUp(tx, matched.row.id));
    const taken = await personByEmail(tx, email);
    if (!waiting || taken || !(await maySignUp(tx, deps, email)))
      return await refuseCode(tx, deps, "sign_up", email, matched);
    const user = await createPerson(tx, deps, {
      email: waiting.email,
      name: waiting.name,
      passwordHash: waiting.password_hash,
      locale: waiting.locale,
    });
    await store.deleteSignUpsOf(tx, email);
    await closeCodes(tx, "sign_up", email, deps.clock.ts());
    return await begin(tx, deps, user, "sign_up", request);
  });
  if (!(outcome instanceof AppError)) return outcome;
  noteRefusal(deps, "sign_up", request);
  throw outcome;
}
