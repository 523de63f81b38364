import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type CompiledQuery, type DatabaseConnection, type Kysely, type QueryResult, sql } from "kysely";
import sqlite3 from "sqlite3";
import { migrations as allMigrations } from "../migrations/list.ts";
import { type Clock, systemClock, type Ts } from "./clock.ts";
import { createEvents } from "./events.ts";
import { type Boundary, createGroupCommit } from "./group-commit.ts";
import { newId } from "./ids.ts";
import { jsonColumns } from "./json-sql.ts";
import { bindable, kyselyOver, parseJson, returnsRows } from "./kysely-sqlite.ts";
import { migrate } from "./migrate.ts";
import type { Migration } from "./schema.ts";
import { insideTransaction, oncePerTransaction, runScoped, type Surroundings } from "./transaction.ts";
import { type TxScope, txScope } from "./tx.ts";

export { jsonArrayFrom, jsonObjectFrom } from "./json-sql.ts";

/** Every table and its row; a feature adds its own by `declare module "…/kernel/db.ts" { interface Tables { … } }`. */
export interface Tables {
  migrations: { name: string; at: Ts };
}

/** For reading only. A transaction may be given wherever a reader is asked for. */
export type Reader = Pick<
  Kysely<Tables>,
  "selectFrom" | "selectNoFrom" | "with" | "withRecursive" | "fn" | "case" | "dynamic" | "executeQuery" | "getExecutor"
>;

/** A running transaction. Only `Database.tx` makes one, so a function that asks for it cannot be called without. */
export type Tx = Omit<Kysely<Tables>, "transaction" | "startTransaction" | "connection" | "destroy"> & {
  readonly [txScope]: TxScope;
};

export type Database = {
  /** Read-only connections: a statement sees every commit that was acknowledged before it began. */
  read: Reader;
  /**
   * Runs `fn` in a transaction on the one writing connection and rolls back when it throws.
   * Resolves only after the commit is durable. Never await a network call, a worker or another transaction in it.
   */
  tx<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
  /** Runs once the commit of this transaction is durable; never after a rollback. */
  afterCommit(tx: Tx, fn: () => void): void;
  /** Calls the listener after each durable commit that notified the topic. @returns what ends it */
  onCommitted(topic: string, listener: () => void): () => void;
  /** Writes a consistent copy of the whole database into a new file while the service runs. */
  copyTo(file: string): Promise<void>;
  /**
   * Takes the write-ahead log over into the file and cuts it off, as far as nobody reads in it: until then it holds what
   * was written over or deleted.
   * @returns whether all of it was: not when somebody reads on and on
   */
  truncateLog(): Promise<boolean>;
  /** SQLite's own check of the file, beside all other work: what it complains about, empty when all is well. */
  check(depth?: CheckDepth): Promise<string[]>;
  /** Waits for the running transactions, then closes all connections. */
  close(): Promise<void>;
};

/** `quick` reads every page and compares no index with its table. */
type CheckDepth = "quick" | "full";

export type DatabaseOptions = {
  file: string;
  /** Read-only connections; 2 when not given. */
  readers?: number | undefined;
  clock?: Clock | undefined;
  /** Encrypts the payload of jobs that are defined as secret; without it such a job cannot be enqueued. */
  secrets?: { seal(plain: string, context: string): string } | undefined;
  /** Called at the named points of a transaction; the crash tests end the process there. */
  onBoundary?: ((point: Boundary) => void) | undefined;
  /** Called when the file is of an older release, before it is changed; what it throws keeps the file as it is. */
  beforeMigration?: (() => Promise<{ release(): Promise<void> }>) | undefined;
  /** The steps of the schema; all of `migrations/list.ts` when not given. */
  migrations?: readonly Migration[] | undefined;
};

type Plan = { statement: sqlite3.Statement; returnsRows: boolean; json: readonly string[] };

const statementCacheSize = 500;
const busyTimeoutMs = 10_000;
/** A second for readers and one for writers each. */
const truncateTries = 15;

/** One SQLite connection with its prepared statements. */
class Connection implements DatabaseConnection {
  readonly #handle: sqlite3.Database;
  readonly #plans = new Map<string, Plan>();
  readonly #preparing = new Map<string, Promise<Plan>>();
  readonly #retired = new Set<Plan>();
  /** Statements under way; a read takes the connection with the fewest. */
  pending = 0;

  constructor(handle: sqlite3.Database) {
    this.#handle = handle;
  }

  static open(file: string, mode: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const handle = new sqlite3.Database(file, mode, (error) => {
        if (error) reject(error);
        else resolve(new Connection(handle));
      });
    });
  }

  exec(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#handle.exec(text, (error) => (error ? reject(error) : resolve()));
    });
  }

  /**
   * The same for statements that find the file taken at once, because SQLite calls no busy handler where two would wait for
   * each other: changing the journal's mode, or writing after reading. They are begun anew until the time is over.
   */
  async execPatiently(text: string): Promise<void> {
    const until = performance.now() + busyTimeoutMs;
    for (;;) {
      try {
        return await this.exec(text);
      } catch (error) {
        const busy = error instanceof Error && errorNumber(error) === sqlite3.BUSY;
        if (!busy || performance.now() > until) throw error;
        await sleep(10);
      }
    }
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const parameters = query.parameters.map(bindable);
    const plan = this.#plans.get(query.sql) ?? (await this.#prepare(query));
    this.pending += 1;
    return new Promise((resolve, reject) => {
      if (plan.returnsRows) {
        plan.statement.all<R>(parameters, (error, rows) => {
          this.pending -= 1;
          if (error) return reject(error);
          if (plan.json.length > 0) parseJson(rows, plan.json);
          resolve({ rows });
        });
        return;
      }
      const settle = (error: Error | null, changes: number, lastId: number) => {
        this.pending -= 1;
        if (error) reject(error);
        else resolve({ rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastId) });
      };
      plan.statement.run(parameters, function (error) {
        settle(error, this.changes, this.lastID);
      });
    });
  }

  /** Part of Kysely's interface; sqlite3 has no cursor, so long lists are read in pages. */
  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("streaming is not offered; read in pages");
  }

  #prepare(query: CompiledQuery): Promise<Plan> {
    const running = this.#preparing.get(query.sql);
    if (running !== undefined) return running;
    const preparing = new Promise<Plan>((resolve, reject) => {
      const statement = this.#handle.prepare(query.sql, (error: Error | null) => {
        this.#preparing.delete(query.sql);
        if (error) return reject(error);
        const plan = { statement, returnsRows: returnsRows(query), json: jsonColumns(query.query) };
        const [oldest] = this.#plans;
        if (this.#plans.size >= statementCacheSize && oldest !== undefined) this.#retire(...oldest);
        this.#plans.set(query.sql, plan);
        resolve(plan);
      });
    });
    this.#preparing.set(query.sql, preparing);
    return preparing;
  }

  #retire(text: string, plan: Plan): void {
    this.#plans.delete(text);
    this.#retired.add(plan);
    // sqlite3 queues this behind uses that were scheduled earlier, and a caller schedules its use at once.
    setImmediate(() => {
      if (this.#retired.delete(plan)) plan.statement.finalize();
    });
  }

  /** Ends the statement that runs, with an error. */
  interrupt(): void {
    this.#handle.interrupt();
  }

  async close(): Promise<void> {
    // A statement that is being prepared would keep the connection open.
    await Promise.allSettled(this.#preparing.values());
    for (const plan of [...this.#plans.values(), ...this.#retired]) plan.statement.finalize();
    this.#plans.clear();
    this.#retired.clear();
    await new Promise<void>((resolve, reject) => {
      this.#handle.close((error) => (error ? reject(error) : resolve()));
    });
  }
}

/** After these SQLite may have rolled the whole transaction back by itself, so nothing after them may run (§ "ROLLBACK", lang_transaction). */
const rollsBackByItself: ReadonlySet<number> = new Set([
  sqlite3.FULL,
  sqlite3.IOERR,
  sqlite3.NOMEM,
  sqlite3.BUSY,
  sqlite3.INTERRUPT,
]);

/**
 * Makes the file before SQLite does, which would let everybody read it; its -wal and -shm files get the same mode. A file
 * that is there is not even opened: closing a second descriptor would drop the locks that this process holds on it.
 */
async function createForOwner(file: string): Promise<void> {
  try {
    await (await open(file, "wx", 0o600)).close();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

/**
 * Opens (and brings up to date) the database file.
 * @throws when the file was written by a newer release or another process holds it, and what `beforeMigration` throws
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const clock = oncePerTransaction(options.clock ?? systemClock);
  await createForOwner(options.file);
  const writer = await Connection.open(options.file, sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE);
  const readers: Connection[] = [];
  try {
    await writer.execPatiently(
      `PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY; PRAGMA secure_delete = ON`,
    );
    await migrate({
      db: kyselyOver<Tables>(() => writer),
      schema: kyselyOver<unknown>(() => writer),
      exec: (text) => writer.exec(text),
      execPatiently: (text) => writer.execPatiently(text),
      clock,
      migrations: options.migrations ?? allMigrations,
      beforeChange: options.beforeMigration,
    });
    for (let index = 0; index < (options.readers ?? 2); index += 1) {
      const reader = await Connection.open(options.file, sqlite3.OPEN_READONLY);
      readers.push(reader);
      await reader.exec(
        `PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY`,
      );
    }
  } catch (error) {
    await Promise.all([writer, ...readers].map((connection) => connection.close()));
    throw error;
  }

  const committed = createEvents();
  const commits = createGroupCommit({ exec: (text) => writer.exec(text), onBoundary: options.onBoundary });
  let closed = false;
  const checking = new Set<Connection>();

  function leastBusy(): Connection {
    if (closed) throw new Error("the database is closed");
    let best = readers[0] ?? writer;
    for (const reader of readers) if (reader.pending < best.pending) best = reader;
    return best;
  }

  const surroundings: Surroundings = {
    execute: (query) => writer.executeQuery(query),
    endsTransaction: (error) => rollsBackByItself.has(errorNumber(error)),
    now: clock.now,
    newJobId: () => newId("job"),
    seal(plain, context) {
      if (options.secrets === undefined) throw new Error("this database was opened without secrets");
      return options.secrets.seal(plain, context);
    },
  };

  return {
    read: kyselyOver<Tables>(leastBusy),
    tx<T>(fn: (tx: Tx) => Promise<T>) {
      if (insideTransaction()) {
        return Promise.reject(new Error("a transaction inside a transaction would wait for itself; pass tx on"));
      }
      if (closed) return Promise.reject(new Error("the database is closed"));
      return new Promise<T>((resolve, reject) => {
        commits.submit({
          async run() {
            const { value, callbacks, topics } = await runScoped<Tables, T>(surroundings, fn);
            return () => {
              for (const callback of callbacks) guarded(callback);
              for (const topic of topics) guarded(() => committed.publish(topic));
              resolve(value);
            };
          },
          reject,
        });
      });
    },
    afterCommit: (tx, fn) => tx[txScope].afterCommit(fn),
    onCommitted: (topic, listener) => committed.subscribe(topic, listener),
    async copyTo(file) {
      // SQLite fills an empty file, and leaves it to its owner.
      await createForOwner(file);
      const reader = await Connection.open(options.file, sqlite3.OPEN_READONLY);
      try {
        await reader.exec(`VACUUM INTO '${file.replaceAll("'", "''")}'`);
      } finally {
        await reader.close();
      }
    },
    async truncateLog() {
      const own = await Connection.open(options.file, sqlite3.OPEN_READWRITE);
      try {
        // Writers wait meanwhile, so it does not wait long for readers, and lets writers go on before it asks again.
        await own.exec("PRAGMA busy_timeout = 1000");
        const db = kyselyOver<Tables>(() => own);
        for (let tries = 1; ; tries += 1) {
          const { rows } = await sql<{ busy: number }>`PRAGMA wal_checkpoint(TRUNCATE)`.execute(db);
          if (rows[0]?.busy === 0) return true;
          if (tries === truncateTries) return false;
          await sleep(1000);
        }
      } finally {
        await own.close();
      }
    },
    async check(depth = "full") {
      const own = await Connection.open(options.file, sqlite3.OPEN_READONLY);
      checking.add(own);
      const db = kyselyOver<Tables>(() => own);
      try {
        if (closed) throw new Error("the database is closed");
        const pragma = depth === "quick" ? "quick_check" : "integrity_check";
        const found = await sql<Record<string, string>>`PRAGMA ${sql.raw(pragma)}`.execute(db);
        const lines = found.rows.map((row) => row[pragma] ?? "").filter((line) => line !== "ok");
        if (depth === "quick") return lines;
        const keys = await sql<{ table: string }>`PRAGMA foreign_key_check`.execute(db);
        return [...lines, ...keys.rows.map((row) => `a row of ${row.table} names a row that is missing`)];
      } finally {
        checking.delete(own);
        await own.close();
      }
    },
    async close() {
      if (closed) return;
      closed = true;
      for (const connection of checking) connection.interrupt();
      await commits.idle();
      await Promise.all(readers.map((reader) => reader.close()));
      await writer.close();
    },
  };
}

/**
 * Opens a database as it is, to read in it: it is not brought up to date, so only what every release has may be asked for.
 * Its folder has to be writable, because readers of a write-ahead log take notes.
 */
export async function openForReading(file: string): Promise<{ read: Reader; close: () => Promise<void> }> {
  const connection = await Connection.open(file, sqlite3.OPEN_READONLY);
  await connection.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA query_only = ON; PRAGMA trusted_schema = OFF`);
  return { read: kyselyOver<Tables>(() => connection), close: () => connection.close() };
}

/** A listener's defect must not undo or hide a commit that has happened. */
function guarded(fn: () => void): void {
  try {
    fn();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}

function errorNumber(error: Error): number {
  return "errno" in error && typeof error.errno === "number" ? error.errno : 0;
}

/** Whether a statement failed because a unique index or primary key already holds the value. */
export function isUniqueViolation(error: unknown): boolean {
  return (
    error instanceof Error &&
    errorNumber(error) === sqlite3.CONSTRAINT &&
    /UNIQUE constraint failed|PRIMARY KEY must be unique/.test(error.message)
  );
}

/**
 * Holds a lock on a file of its own, exclusive or shared with others; the operating system releases it when the process ends
 * in any way. Nothing else in this process may open the file: closing it would drop the lock (POSIX record locks).
 * @returns what releases it, or null when another holds it in a way that does not go together
 */
export async function holdFileLock(
  file: string,
  mode: "exclusive" | "shared" = "exclusive",
): Promise<(() => Promise<void>) | null> {
  await createForOwner(file);
  const connection = await Connection.open(file, sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE);
  try {
    // A transaction that has read holds its lock until it ends.
    const begin = mode === "shared" ? "BEGIN; SELECT count(*) FROM sqlite_schema" : "BEGIN EXCLUSIVE";
    // Nothing is ever written there, and the journal of nothing must not need room: a full disk keeps nobody from the lock.
    await connection.exec(`PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; ${begin}`);
  } catch (error) {
    await connection.close();
    if (error instanceof Error && errorNumber(error) === sqlite3.BUSY) return null;
    throw error;
  }
  heldLocks.add(connection);
  return async () => {
    heldLocks.delete(connection);
    await connection.close();
  };
}

/** A connection that nothing refers to any more is collected, and the lock would go with it. */
const heldLocks = new Set<Connection>();

/**
 * Whether somebody holds the lock exclusively, asked by whoever may read the file; one that asks is in the way for that moment.
 * @returns false where there is no such file
 */
export async function isFileHeld(file: string): Promise<boolean> {
  if (!existsSync(file)) return false;
  const connection = await Connection.open(file, sqlite3.OPEN_READONLY);
  try {
    await connection.exec("PRAGMA busy_timeout = 0; SELECT count(*) FROM sqlite_schema");
    return false;
  } catch (error) {
    if (error instanceof Error && errorNumber(error) === sqlite3.BUSY) return true;
    throw error;
  } finally {
    await connection.close();
  }
}
