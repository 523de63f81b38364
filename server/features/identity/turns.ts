import { networkOf } from "../../kernel/client-ip.ts";
import { AppError } from "../../kernel/errors.ts";

/** Thrown before anything was compared or computed: what was tried does not count. */
export class NoTurn extends AppError {}

export type TurnLimits = {
  atOnce: number;
  /** Of all clients together. */
  waiting: number;
  /** Of one client network. */
  ofNetwork: number;
  /** Of the /48 around an IPv6 client. */
  around: number;
};

type Waiter = { around: string; proceed: () => void; refuse: (error: Error) => void };

/** How many wait of a client's /48, and of its network. */
type Crowd = { near: number; here: number };
const byCrowd = (a: Crowd, b: Crowd): number => b.near - a.near || b.here - a.here;

/** Seconds after which a queue that was full has moved on. */
const retryAfter = 2;

/**
 * Lets `atOnce` pieces of expensive work run, and the others wait. Client networks take turns, so that whoever sends many waits
 * behind whoever sends one; when all places are taken, the /48 that has most waiting loses one, which for IPv4 is one address.
 */
export function createTurns(limits: TurnLimits) {
  /** In the order in which the networks come to their next turn. */
  const queues = new Map<string, Waiter[]>();
  let running = 0;
  let waiting = 0;

  function put(network: string, waiter: Waiter): void {
    queues.set(network, [...(queues.get(network) ?? []), waiter]);
    waiting += 1;
  }

  function next(): Waiter | undefined {
    const [first] = queues;
    if (first === undefined) return undefined;
    const [network, [waiter, ...rest]] = first;
    queues.delete(network);
    if (rest.length > 0) queues.set(network, rest);
    waiting -= 1;
    return waiter;
  }

  const ofAround = (around: string) => [...queues.values()].flat().filter((waiter) => waiter.around === around).length;

  /**
   * Takes the last place of the network with most waiting in the /48 with most waiting, unless the newcomer's are as crowded
   * with one more: whoever has a /48 has as many networks as they like.
   */
  function makeRoom(network: string, around: string): boolean {
    const own = { near: ofAround(around) + 1, here: (queues.get(network)?.length ?? 0) + 1 };
    const [worst] = [...queues]
      .filter(([name]) => name !== network)
      .map(([name, queue]) => {
        const near = ofAround(queue[0]?.around ?? "") + (queue[0]?.around === around ? 1 : 0);
        return { name, queue, near, here: queue.length };
      })
      // Of equal ones the last to come to its turn.
      .reverse()
      .sort(byCrowd);
    if (worst === undefined || byCrowd(worst, own) >= 0) return false;
    const left = worst.queue.slice(0, -1);
    if (left.length > 0) queues.set(worst.name, left);
    else queues.delete(worst.name);
    waiting -= 1;
    worst.queue.at(-1)?.refuse(new NoTurn("rate-limited", { retryAfter }));
    return true;
  }

  async function enter(ip: string | null): Promise<void> {
    if (running < limits.atOnce) {
      running += 1;
      return;
    }
    const network = ip === null ? "" : networkOf(ip);
    const around = ip === null ? "" : networkOf(ip, 48);
    const ownFull = (queues.get(network)?.length ?? 0) >= limits.ofNetwork || ofAround(around) >= limits.around;
    if (ip !== null && ownFull) throw new NoTurn("rate-limited", { retryAfter });
    if (waiting >= limits.waiting && !makeRoom(network, around)) {
      if (ip !== null && ofAround(around) > 0) throw new NoTurn("rate-limited", { retryAfter });
      throw new NoTurn("service-unavailable", { retryAfter: 5 });
    }
    // Whoever leaves hands the place over, so the count of those that run stays.
    await new Promise<void>((proceed, refuse) => put(network, { around, proceed, refuse }));
  }

  function leave(): void {
    const waiter = next();
    if (waiter) waiter.proceed();
    else running -= 1;
  }

  /**
   * Does the work when its turn comes.
   * @param ip of the client who wants it done; null on the command line
   * @throws NoTurn `rate-limited` when this client has too many waiting, `service-unavailable` when each of all has its one place
   */
  return async function inTurn<T>(ip: string | null, work: () => Promise<T>): Promise<T> {
    await enter(ip);
    try {
      return await work();
    } finally {
      leave();
    }
  };
}
