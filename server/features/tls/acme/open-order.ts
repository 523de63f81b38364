import { z } from "zod";
import type { Tx } from "../../../kernel/db.ts";
import { isIP } from "../own-authority.ts";
import type { Challenges } from "./challenges.ts";
import { type AcmeClient, AcmeError, AcmeProblem, type Answer, type Signer } from "./client.ts";
import { retryDelay } from "./renewal.ts";
import type { AcmeProgress, AcmeSecrets, AcmeSettings } from "./store.ts";

/** The one order that is under way: found again after a kill, also where its address was never heard. */

type Change = {
  progress?: Partial<AcmeProgress> | ((stored: AcmeProgress) => Partial<AcmeProgress>);
  secrets?: Partial<AcmeSecrets>;
};

export type AcmeWork = {
  client: AcmeClient;
  settings: AcmeSettings;
  /** As it is stored. */
  progress: AcmeProgress;
  secrets: AcmeSecrets;
  /**
   * Stores a change, then shows it in the two above.
   * @param also is written in the same transaction
   * @throws when the account was replaced meanwhile, or what was begun may not go on
   */
  save: (change: Change, also?: (tx: Tx) => Promise<unknown>) => Promise<void>;
  challenges: Challenges;
  now: () => number;
  signal: AbortSignal;
};

/** The authority needs its time: the order stays, and is looked at again. */
export class AcmePending extends Error {
  readonly delayMs: number;
  constructor(message: string, delayMs: number) {
    super(message);
    this.name = "AcmePending";
    this.delayMs = delayMs;
  }
}

export const Order = z.object({
  status: z.enum(["pending", "ready", "processing", "valid", "invalid"]),
  expires: z.string().optional(),
  identifiers: z.array(z.object({ type: z.string(), value: z.string() })).default([]),
  authorizations: z.array(z.url()).max(200),
  finalize: z.url(),
  certificate: z.url().optional(),
  error: AcmeProblem.optional(),
});
export type Order = z.infer<typeof Order>;

export const dropOrder = (work: AcmeWork) => work.save({ progress: { order: null }, secrets: { request: null } });

/** The order that is open, else a new one. */
export async function openOrder(
  work: AcmeWork,
  signer: Signer,
  replaces: string | null,
): Promise<{ url: string; order: Order }> {
  const { client, settings, progress } = work;
  if (progress.order !== null) {
    const known = await stillOpen(work, signer, progress.order);
    if (known) return { url: progress.order, order: known };
    await dropOrder(work);
  }
  const { newOrder } = await client.directory();
  const identifiers = settings.names.map((value) => ({ type: isIP(value) ? "ip" : "dns", value: value.toLowerCase() }));
  const unheard = await findUnheard(work, signer, identifiers);
  if (unheard) {
    await work.save({ progress: { order: unheard.url, unheard: null } });
    return unheard;
  }
  const ask = (more: object) => client.post(newOrder, { identifiers, ...more }, signer);
  // Written first: whether the authority heard of it is not known until its answer is here.
  const times = (progress.unheard?.times ?? 0) + 1;
  await work.save({ progress: { unheard: { at: work.now(), times } } });
  try {
    const answer = await ask(replaces === null ? {} : { replaces }).catch((error: unknown) => {
      // RFC 9773 §5: it is a hint, and no order may fail for it.
      if (error instanceof AcmeError && replaces !== null && error.type === "alreadyReplaced") return ask({});
      throw error;
    });
    const url = locationOf(answer);
    await work.save({ progress: { order: url, unheard: null } });
    return { url, order: answer.json(Order) };
  } catch (error) {
    if (error instanceof AcmeError && error.status >= 400 && error.status < 500)
      await work.save({ progress: { unheard: null } });
    throw error;
  }
}

const Account = z.object({ orders: z.url().optional() });
const Orders = z.object({ orders: z.array(z.url()) });
/** Of an account's orders so many are looked at: an order that nobody heard of is among the latest. */
const latestOrders = 20;

/**
 * An order that was asked for and not heard of, because this process died or the connection broke: RFC 8555 knows no request that
 * may be repeated without harm. Where the authority lists the orders of an account it is found again. Others mostly answer with the
 * same order for as long as it is open: one repetition is made at once, and further ones as seldom as after a refusal.
 * @throws AcmePending when it is not to be asked again yet
 */
async function findUnheard(
  work: AcmeWork,
  signer: Signer,
  identifiers: Order["identifiers"],
): Promise<{ url: string; order: Order } | null> {
  const { client, now } = work;
  const { unheard } = work.progress;
  if (unheard === null) return null;
  for (const url of await listOrders(client, signer)) {
    const order = await stillOpen(work, signer, url);
    const isOpen = order?.status === "pending" || order?.status === "ready";
    if (order && isOpen && sameNames(order.identifiers, identifiers)) return { url, order };
  }
  const wait = { refused: true, retryAfterMs: null, leftMs: null };
  const nextAt = unheard.times < 2 ? 0 : unheard.at + retryDelay(unheard.times - 1, wait);
  if (nextAt > now()) throw new AcmePending("the authority's answer to an order was not heard", nextAt - now());
  return null;
}

/** The latest first; none where the authority keeps no list (RFC 8555 §7.1.2.1). */
async function listOrders(client: AcmeClient, signer: Signer): Promise<string[]> {
  try {
    const { orders } = (await client.post(signer.kid ?? "", undefined, signer)).json(Account);
    if (orders === undefined) return [];
    const listed = (await client.post(orders, undefined, signer)).json(Orders);
    return listed.orders.slice(-latestOrders).reverse();
  } catch (error) {
    if (error instanceof AcmeError) return [];
    throw error;
  }
}

const sameNames = (some: Order["identifiers"], others: Order["identifiers"]): boolean => {
  const named = (identifiers: Order["identifiers"]) =>
    identifiers
      .map(({ type, value }) => `${type}:${value.toLowerCase()}`)
      .sort()
      .join();
  return named(some) === named(others);
};

async function stillOpen({ client, now }: AcmeWork, signer: Signer, url: string): Promise<Order | null> {
  try {
    const order = (await client.post(url, undefined, signer)).json(Order);
    const late = order.expires !== undefined && Date.parse(order.expires) <= now() && order.status !== "valid";
    return order.status === "invalid" || late ? null : order;
  } catch (error) {
    if (error instanceof AcmeError && (error.status === 404 || error.status === 403)) return null;
    throw error;
  }
}

/** @throws AcmeError */
export function locationOf({ location }: Answer): string {
  if (location !== null && URL.canParse(location)) return location;
  throw new AcmeError({ type: "unreadable", detail: "the authority does not say where what it made is found" });
}
