import type { CompiledQuery, RootOperationNode } from "kysely";
import type { Database, Tx } from "../../server/kernel/db.ts";

/** What one transaction read, as texts of statements with their values; the ends are not told apart. */
export type Watched = { reads: string[] };

/** Notes the SELECTs of every transaction of this database from now on. @param told of each one before it commits */
export function watchTransactions(db: Database, told: (watched: Watched) => void): void {
  const { tx: begin } = db;
  db.tx = (fn) =>
    begin(async (tx) => {
      const watched: Watched = { reads: [] };
      return await fn(watch(tx, watched)).finally(() => told(watched));
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
