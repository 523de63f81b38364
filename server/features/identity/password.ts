import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { createTurns } from "./turns.ts";

type Cost = { N: number; r: number; p: number };

/** Cost of a new hash: 128 MiB and about a quarter of a second (OWASP Password Storage, scrypt). */
const cost: Cost = { N: 2 ** 17, r: 8, p: 1 };
const keyLength = 32;

/**
 * Salted scrypt hash of a password, with its cost, so that a later version may raise it.
 * @param ip of the client who has it computed; null on the command line
 * @throws NoTurn `rate-limited` when too many of this client wait, `service-unavailable` when too many of all do
 */
export async function hashPassword(password: string, ip: string | null = null): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt, cost, ip);
  return `scrypt$${cost.N}$${cost.r}$${cost.p}$${salt.toString("base64")}$${key.toString("base64")}`;
}

/** What is compared where there is no password, so that the answer takes as long: of a password that nobody knows. */
const nobodysHash = `scrypt$${cost.N}$${cost.r}$${cost.p}$${randomBytes(16).toString("base64")}$${randomBytes(keyLength).toString("base64")}`;

/**
 * Always does the work of one hash, also for an account without a password and for none at all (null).
 * @throws NoTurn `rate-limited` when too many of this client wait, `service-unavailable` when too many of all do
 */
export async function verifyPassword(
  password: string,
  hash: string | null,
  ip: string | null = null,
): Promise<boolean> {
  const parsed = parse(hash ?? nobodysHash) ?? parse(nobodysHash);
  if (!parsed) return false;
  const actual = await derive(password, parsed.salt, parsed.cost, ip);
  const same = parsed.key.length === actual.length && timingSafeEqual(parsed.key, actual);
  return same && hash !== null;
}

/** Whether a hash was made at a lower cost than new ones are. */
export function isOutdated(hash: string): boolean {
  const parsed = parse(hash);
  return !parsed || parsed.cost.N < cost.N || parsed.cost.r < cost.r || parsed.cost.p < cost.p;
}

function parse(hash: string): { cost: Cost; salt: Buffer; key: Buffer } | null {
  const [scheme, N, r, p, salt, key] = hash.split("$");
  if (scheme !== "scrypt" || !salt || !key) return null;
  return {
    cost: { N: Number(N), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, "base64"),
    key: Buffer.from(key, "base64"),
  };
}

/**
 * Each computation takes 128 MiB and a thread that files and the database need too, so two run and the others wait: some five
 * seconds when all places are taken. Ten places are enough for an office that signs in at the same moment.
 */
const inTurn = createTurns({ atOnce: 2, waiting: 40, ofNetwork: 10, around: 20 });

function derive(password: string, salt: Buffer, { N, r, p }: Cost, ip: string | null): Promise<Buffer> {
  const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r };
  // NFKC, so that a password typed on another keyboard or system is the same password (NIST SP 800-63B §5.1.1.2).
  const typed = password.normalize("NFKC");
  return inTurn(
    ip,
    () =>
      new Promise((resolve, reject) => {
        scrypt(typed, salt, keyLength, options, (error, key) => (error ? reject(error) : resolve(key)));
      }),
  );
}
