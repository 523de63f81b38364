import { AsyncLocalStorage } from "node:async_hooks";
import type { CompiledQuery, DatabaseConnection, Kysely, QueryResult } from "kysely";
import { type Clock, toTs } from "./clock.ts";
import { kyselyOver } from "./kysely-sqlite.ts";
import { type TxScope, txScope } from "./tx.ts";

/** What a transaction takes from the database that it runs in. */
export type Surroundings = Pick<TxScope, "now" | "newJobId" | "seal"> & {
  execute<R>(query: CompiledQuery): Promise<QueryResult<R>>;
  /** Whether the database may have rolled back everything by itself after this error. */
  endsTransaction(error: Error): boolean;
};

type Scope = { ended: boolean; broken: Error | undefined; moment: number | undefined };
const current = new AsyncLocalStorage<Scope>();

/** Whether the caller runs in a transaction that has not ended yet. */
export function insideTransaction(): boolean {
  return current.getStore()?.ended === false;
}

/**
 * The clock, read once in a transaction: whoever asks for the time in it gets the moment of the first reading, so that all it
 * writes and compares carries one time. Outside of a transaction it goes on as always.
 */
export function oncePerTransaction(clock: Clock): Clock {
  const now = (): number => {
    const scope = current.getStore();
    if (scope === undefined || scope.ended) return clock.now();
    scope.moment ??= clock.now();
    return scope.moment;
  };
  return { now, ts: () => toTs(now()), doubt: () => clock.doubt?.() ?? null };
}

/**
 * Gives `fn` a Kysely that works until `fn` settles, and collects what is to happen after the commit.
 * BEGIN, COMMIT and ROLLBACK are the caller's.
 */
export async function runScoped<Schema, T>(
  surroundings: Surroundings,
  fn: (tx: Kysely<Schema> & { readonly [txScope]: TxScope }) => Promise<T>,
): Promise<{ value: T; callbacks: readonly (() => void)[]; topics: ReadonlySet<string> }> {
  const scope: Scope = { ended: false, broken: undefined, moment: undefined };
  const topics = new Set<string>();
  const callbacks: (() => void)[] = [];
  const underWay = new Set<Promise<unknown>>();
  const connection: DatabaseConnection = {
    async executeQuery<R>(query: CompiledQuery) {
      if (scope.ended) throw new Error("this transaction has ended");
      if (scope.broken !== undefined) throw scope.broken;
      const work = surroundings.execute<R>(query);
      underWay.add(work);
      try {
        return await work;
      } catch (error) {
        if (error instanceof Error && surroundings.endsTransaction(error)) scope.broken = error;
        throw error;
      } finally {
        underWay.delete(work);
      }
    },
    streamQuery() {
      throw new Error("streaming is not offered; read in pages");
    },
  };
  const members: TxScope = {
    now: surroundings.now,
    newJobId: surroundings.newJobId,
    seal: surroundings.seal,
    afterCommit: (callback) => void callbacks.push(callback),
    notify: (topic) => void topics.add(topic),
  };
  const tx = Object.assign(
    kyselyOver<Schema>(() => connection),
    { [txScope]: members },
  );
  try {
    const value = await current.run(scope, fn, tx);
    if (scope.broken !== undefined) throw scope.broken;
    if (underWay.size > 0) throw new Error("a statement of this transaction was not awaited");
    return { value, callbacks, topics };
  } finally {
    scope.ended = true;
    // A statement that nobody awaits must not run after the rollback, where it would commit by itself.
    if (underWay.size > 0) await Promise.allSettled(underWay);
  }
}
