import { AsyncLocalStorage } from "node:async_hooks";
import type { CompiledQuery, RootOperationNode } from "kysely";
import { type Clock, toTs } from "../../server/kernel/clock.ts";
import type { Database, Tx } from "../../server/kernel/db.ts";
import { insideTransaction } from "../../server/kernel/transaction.ts";

/** What one transaction read: SELECTs, as texts with their values, and how often the clock of `countReadings`. */
export type Watched = { reads: string[]; readings: number };
const running = new AsyncLocalStorage<Watched>();

/** The same clock, whose readings inside of a watched transaction are counted. */
export function countReadings<C extends Clock>(clock: C): C {
  const now = () => {
    const watched = running.getStore();
    if (watched !== undefined && insideTransaction()) watched.readings += 1;
    return clock.now();
  };
  return { ...clock, now, ts: () => toTs(now()) };
}

/** Notes the SELECTs of every transaction of this database from now on. @param told of each one before it commits */
export function watchTransactions(db: Database, told: (watched: Watched) => void): void {
  const { tx: begin } = db;
  db.tx = (fn) =>
    begin(async (tx) => {
      const watched: Watched = { reads: [], readings: 0 };
      return await running.run(watched, () => fn(watch(tx, watched))).finally(() => told(watched));
    });
}

function watch(tx: Tx, { reads }: Watched): Tx {
  const noting = tx.withPlugin({
    transformQuery({ node }): RootOperationNode {
      if (node.kind === "SelectQueryNode") reads.push(JSON.stringify(node));
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  return new Proxy(tx, {
    get(target, name) {
      if (name === "executeQuery")
        return (query: CompiledQuery) => {
          reads.push(`${query.sql} ${JSON.stringify(query.parameters)}`);
          return target.executeQuery(query);
        };
      // Methods need the object itself behind them: its fields are private.
      const from = name in noting && typeof name === "string" ? noting : target;
      const member: unknown = Reflect.get(from, name, from);
      return typeof member === "function" ? member.bind(from) : member;
    },
  });
}
