import {
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  type Dialect,
  Kysely,
  type QueryResult,
  type RootOperationNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";

export type Bindable = string | number | Buffer | null;

/**
 * What SQLite may be given. sqlite3 itself would bind a bigint or undefined as NULL and round integers beyond 2^53
 * without a word, so these, booleans, dates and objects are refused.
 */
export function bindable(value: unknown): Bindable {
  if (typeof value === "string" || value === null) return value;
  if (typeof value === "number") {
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
      throw new TypeError(`the number ${value} cannot be stored exactly`);
    }
    return value;
  }
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  throw new TypeError(`a parameter of type ${typeof value} cannot be bound; give text, a number, bytes or null`);
}

const writing = new Set(["InsertQueryNode", "UpdateQueryNode", "DeleteQueryNode"]);

/** Whether a statement is asked for its rows or for the number of rows that it changed. */
export function returnsRows({ query, sql }: CompiledQuery): boolean {
  if (query.kind === "SelectQueryNode") return true;
  if (writing.has(query.kind)) return hasReturning(query);
  return /^\s*(select|with|pragma|values|explain)\b|\breturning\b/i.test(sql);
}

function hasReturning(query: RootOperationNode): boolean {
  return "returning" in query && query.returning !== undefined;
}

/** Replaces the JSON text in these columns by the value. */
export function parseJson(rows: readonly unknown[], columns: readonly string[]): void {
  for (const row of rows) {
    if (typeof row !== "object" || row === null) continue;
    for (const column of columns) {
      const text: unknown = Reflect.get(row, column);
      if (typeof text === "string") Reflect.set(row, column, JSON.parse(text));
    }
  }
}

const adapter = new SqliteAdapter();
const compiler = new SqliteQueryCompiler();
const notHere = () => {
  throw new Error("connections are managed by kernel/db.ts");
};
const dialect: Dialect = {
  createAdapter: () => adapter,
  createDriver: notHere,
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => compiler,
};
const driver = {
  init: notHere,
  acquireConnection: notHere,
  beginTransaction: notHere,
  commitTransaction: notHere,
  rollbackTransaction: notHere,
  releaseConnection: notHere,
  destroy: notHere,
};

/** Kysely's executor without its driver layer: the connection is chosen per statement, and a statement is one round trip. */
class Executor extends DefaultQueryExecutor {
  readonly #choose: () => DatabaseConnection;

  constructor(choose: () => DatabaseConnection) {
    super(compiler, adapter, { provideConnection: (consumer) => consumer(choose()) });
    this.#choose = choose;
  }

  override async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#choose().executeQuery<R>(query);
  }
}

/** A Kysely whose statements run on whatever connection `choose` names at that moment. */
export function kyselyOver<Schema>(choose: () => DatabaseConnection): Kysely<Schema> {
  return new Kysely<Schema>({ config: { dialect }, dialect, driver, executor: new Executor(choose) });
}
