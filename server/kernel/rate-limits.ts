import { networkOf } from "./client-ip.ts";
import type { Clock } from "./clock.ts";
import { AppError } from "./errors.ts";

/** `points` calls in a window of `seconds`; the window starts with a key's first call. `name` keeps rules apart. */
export type RateRule = { name: string; points: number; seconds: number };

export type RateLimit = {
  ok: boolean;
  limit: number;
  remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  resetSeconds: number;
};

/** Counts calls in memory: docs/decisions/010 says why not in a file. Lock-outs that must outlive a restart are rows of their feature. */
export type RateLimits = {
  /** Takes one point; a refused call takes none. */
  take(rule: RateRule, key: string): Promise<RateLimit>;
  /** Gives one point back, for a call that turned out not to count. */
  giveBack(rule: RateRule, key: string): Promise<void>;
  /** What is left, without taking any. */
  peek(rule: RateRule, key: string): Promise<RateLimit>;
};

type Window = { used: number; endsAt: number };

const sweepEvery = 10_000;
/** Some 20 MB. Beyond it the windows that were opened first are forgotten: a bound on memory goes before a limit. */
const mostWindows = 100_000;

/** How many times the points of a /64 the /48 around it has. */
const widePoints = 10;

/** Takes one point of the client's network; with IPv6 of the /48 around it too. */
export async function takeForClient(limits: RateLimits, rule: RateRule, ip: string): Promise<RateLimit> {
  const taken = await limits.take(rule, networkOf(ip));
  const wide = networkOf(ip, 48);
  if (!taken.ok || wide === ip) return taken;
  const around = await limits.take({ ...rule, points: rule.points * widePoints }, wide);
  return around.ok ? taken : { ...around, limit: taken.limit };
}

/** What is left, as every answer of a limited operation says it (contract §1). */
export function rateLimitHeaders({ limit, remaining, resetSeconds }: RateLimit): Record<string, string> {
  return {
    "ratelimit-limit": String(limit),
    "ratelimit-remaining": String(remaining),
    "ratelimit-reset": String(resetSeconds),
  };
}

/** @throws AppError `rate-limited` when the limit was reached */
export function requireLeft(taken: RateLimit, cause?: unknown): void {
  if (taken.ok) return;
  throw new AppError("rate-limited", { retryAfter: taken.resetSeconds, headers: rateLimitHeaders(taken), cause });
}

/**
 * Counts the failures of a client only, so that an office behind one address is not locked out, and tells with every answer how
 * many are left.
 * @param isFailure which of the errors that `work` throws count
 * @throws AppError `rate-limited`, and whatever the work throws
 */
export async function limitFailures<T>(
  { limits, rule, ip }: { limits: RateLimits; rule: RateRule; ip: string },
  isFailure: (error: AppError) => boolean,
  work: () => Promise<T>,
): Promise<{ result: T; headers: Record<string, string> }> {
  try {
    const result = await work();
    return { result, headers: rateLimitHeaders(await limits.peek(rule, networkOf(ip))) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (!isFailure(error)) throw withHeaders(error, rateLimitHeaders(await limits.peek(rule, networkOf(ip))));
    const taken = await takeForClient(limits, rule, ip);
    requireLeft(taken, error);
    throw withHeaders(error, rateLimitHeaders(taken));
  }
}

/** The same error; what it says in headers itself goes before. */
function withHeaders(error: AppError, headers: Record<string, string>): AppError {
  const { options } = error;
  return new AppError(error.code, {
    ...options,
    detail: error.message,
    headers: { ...headers, ...options.headers },
    cause: error,
  });
}

export function openRateLimits(options: { clock: Clock; mostWindows?: number }): RateLimits {
  const { clock } = options;
  const most = options.mostWindows ?? mostWindows;
  const windows = new Map<string, Window>();
  let takes = 0;

  /** Forgets ended windows now and then, so that memory holds only keys that called lately. */
  function sweep(now: number): void {
    takes += 1;
    if (takes % sweepEvery !== 0) return;
    for (const [id, window] of windows) if (window.endsAt <= now) windows.delete(id);
  }

  function forgetOldest(): void {
    for (const id of windows.keys()) {
      if (windows.size <= most) return;
      windows.delete(id);
    }
  }

  function open(rule: RateRule, key: string, now: number): { id: string; window: Window } {
    const id = `${rule.name}\n${key}`;
    const known = windows.get(id);
    // A window that ends later than it could have begun comes from before the clock was set back.
    const fresh = known === undefined || known.endsAt <= now || known.endsAt > now + rule.seconds * 1000;
    return { id, window: fresh ? { used: 0, endsAt: now + rule.seconds * 1000 } : known };
  }

  function describe(rule: RateRule, window: Window, now: number, ok: boolean): RateLimit {
    return {
      ok,
      limit: rule.points,
      remaining: Math.max(0, rule.points - window.used),
      resetSeconds: Math.max(1, Math.ceil((window.endsAt - now) / 1000)),
    };
  }

  return {
    async take(rule, key) {
      const now = clock.now();
      sweep(now);
      const { id, window } = open(rule, key, now);
      const ok = window.used < rule.points;
      if (ok) window.used += 1;
      // Anew at the end, so that the order is that of the windows' beginnings.
      if (window.used === 1 && ok) windows.delete(id);
      windows.set(id, window);
      if (windows.size > most) forgetOldest();
      return describe(rule, window, now, ok);
    },
    async giveBack(rule, key) {
      const { window } = open(rule, key, clock.now());
      window.used = Math.max(0, window.used - 1);
    },
    async peek(rule, key) {
      const now = clock.now();
      const { window } = open(rule, key, now);
      return describe(rule, window, now, window.used < rule.points);
    },
  };
}
