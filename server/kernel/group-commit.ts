/** One transaction that waits for the writer. */
export type Waiting = {
  /** Runs the statements and returns what tells the caller of success; throws to be rolled back. */
  run(): Promise<() => void>;
  reject(error: unknown): void;
};

export type Boundary = "tx:before-commit" | "tx:after-commit";

const maximumGroup = 64;

/**
 * Runs transactions one after another on the one writing connection.
 * Those that had to wait share one BEGIN … COMMIT (one fsync), each in a savepoint of its own; every one learns its
 * own outcome, and learns of success only after the commit is durable.
 */
export function createGroupCommit(options: {
  exec(sql: string): Promise<void>;
  onBoundary?: ((point: Boundary) => void) | undefined;
}): { submit(waiting: Waiting): void; idle(): Promise<void> } {
  const { exec, onBoundary } = options;
  let queue: Waiting[] = [];
  let draining: Promise<void> | undefined;

  async function commit(sql: string): Promise<void> {
    onBoundary?.("tx:before-commit");
    await exec(sql);
    onBoundary?.("tx:after-commit");
  }

  /** After a full disk or an I/O error SQLite has rolled back by itself; then there is nothing left to undo. */
  async function rollback(): Promise<void> {
    await exec("ROLLBACK").catch(() => undefined);
  }

  async function single(waiting: Waiting): Promise<void> {
    let settle: () => void;
    try {
      await exec("BEGIN IMMEDIATE");
      settle = await waiting.run();
      await commit("COMMIT");
    } catch (error) {
      await rollback();
      waiting.reject(error);
      return;
    }
    settle();
  }

  async function group(batch: readonly Waiting[]): Promise<void> {
    const done: { waiting: Waiting; settle: () => void }[] = [];
    const failed: { waiting: Waiting; error: unknown }[] = [];
    try {
      await exec("BEGIN IMMEDIATE; SAVEPOINT one");
      for (const [index, waiting] of batch.entries()) {
        const last = index === batch.length - 1;
        try {
          done.push({ waiting, settle: await waiting.run() });
        } catch (error) {
          failed.push({ waiting, error });
          // ROLLBACK TO keeps the savepoint, so the next transaction starts from the same one.
          await exec("ROLLBACK TO one");
          continue;
        }
        if (!last) await exec("RELEASE one; SAVEPOINT one");
      }
      await commit("RELEASE one; COMMIT");
    } catch (error) {
      await rollback();
      const known = new Map(failed.map((entry) => [entry.waiting, entry.error]));
      for (const waiting of batch) waiting.reject(known.has(waiting) ? known.get(waiting) : error);
      return;
    }
    for (const { settle } of done) settle();
    for (const { waiting, error } of failed) waiting.reject(error);
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.slice(0, maximumGroup);
      queue = queue.slice(maximumGroup);
      const [only] = batch;
      if (batch.length === 1 && only !== undefined) await single(only);
      else await group(batch);
    }
    draining = undefined;
  }

  return {
    submit(waiting) {
      queue.push(waiting);
      draining ??= drain();
    },
    async idle() {
      while (draining !== undefined) await draining;
    },
  };
}
