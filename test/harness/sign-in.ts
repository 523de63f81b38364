import { hashPassword } from "../../server/features/identity/password.ts";
import { createPerson } from "../../server/features/identity/people.ts";
import { sessionCookieName } from "../../server/features/identity/sessions.ts";
import type { MailRecord } from "../../server/features/mail/contract.ts";
import { Problem } from "../../server/kernel/problem.ts";
import { type StartOptions, startAppliance, type TestAppliance } from "./appliance.ts";

export const goodPassword = "seven owls in a boat";
export const otherPassword = "nine bears on a train";

/** An appliance that believes X-Forwarded-For, so that each call may come from a client address of its own. */
export async function startSignIn(options: StartOptions = {}): Promise<TestAppliance> {
  return await startAppliance({
    ...options,
    env: { SIGNET_TRUSTED_PROXIES: "127.0.0.1", ...options.env },
  });
}

let clients = 0;
/** A client address that no call has come from. */
export function newClient(): string {
  clients += 1;
  return `198.51.${Math.floor(clients / 250)}.${1 + (clients % 250)}`;
}

/** A hash takes a third of a second: people with the same password share one. */
const hashes = new Map<string, Promise<string>>();

function hashOf(password: string): Promise<string> {
  const known = hashes.get(password) ?? hashPassword(password);
  hashes.set(password, known);
  return known;
}

let people = 0;
export async function addPerson(app: TestAppliance, password: string | null = goodPassword) {
  people += 1;
  const email = `Person${people}@example.com`;
  const passwordHash = password === null ? null : await hashOf(password);
  const id = await app.deps.db.tx((tx) =>
    createPerson(tx, app.deps, { email, name: `Person ${people}`, passwordHash, locale: null }),
  );
  return { id, email };
}

export type Answer = {
  status: number;
  headers: Headers;
  body: unknown;
  /** `name=value` of the session cookie that was set. */
  cookie: string | null;
};

export type AuthOptions = {
  cookie?: string | null;
  client?: string;
  origin?: string | null;
  method?: string;
  headers?: Record<string, string>;
};

/** A call as the dashboard's pages make it, by default from a new client address. */
export async function auth(
  app: TestAppliance,
  path: string,
  json?: unknown,
  options: AuthOptions = {},
): Promise<Answer> {
  const { cookie = null, client = newClient(), origin = app.url, method, headers } = options;
  const answer = await app.json(path, {
    key: null,
    ...(json === undefined ? {} : { json }),
    ...(method === undefined ? {} : { method }),
    headers: {
      "x-forwarded-for": client,
      ...(origin === null ? {} : { origin }),
      ...(cookie === null ? {} : { cookie }),
      ...headers,
    },
  });
  const set = answer.headers.getSetCookie().find((line) => line.startsWith(`${sessionCookieName}=svcu_`));
  return { ...answer, cookie: set?.split(";")[0] ?? null };
}

export function problem(answer: Answer): Problem {
  return Problem.parse(answer.body);
}

/** Mails to an address, newest first. */
export async function mailsTo(app: TestAppliance, email: string): Promise<MailRecord[]> {
  return (await app.mail()).filter((mail) => mail.to.email.toLowerCase() === email.toLowerCase());
}

export async function codeFor(app: TestAppliance, email: string): Promise<string> {
  const code = (await mailsTo(app, email)).find((mail) => mail.code !== null)?.code;
  if (!code) throw new Error("no code was mailed");
  return code;
}

/** The token in the newest link of this kind. */
export async function tokenFor(app: TestAppliance, email: string, kind: MailRecord["kind"]): Promise<string> {
  const link = (await mailsTo(app, email)).find((mail) => mail.kind === kind)?.link;
  const token = link?.split("#")[1];
  if (!token) throw new Error("no link was mailed");
  return token;
}

/** A code that is not this one. */
export const wrongCode = (code: string) => (code === "000000" ? "000001" : "000000");
