/**
 * What a transaction carries beside its statements. Isomorphic and apart from db.ts, so that `enqueue` and other
 * files that features share with the web apps need not load the database.
 */
export const txScope = Symbol("transaction scope");

export type TxScope = {
  /** Milliseconds since the epoch, from the database's clock: the one moment of this transaction. */
  now(): number;
  newJobId(): string;
  /** Encrypts under the master key. @throws when the database was opened without secrets */
  seal(plain: string, context: string): string;
  /** Runs once the commit is durable, never after a rollback. */
  afterCommit(fn: () => void): void;
  /** Tells `Database.onCommitted` listeners of this topic once the commit is durable; several in one transaction count once. */
  notify(topic: string): void;
};
