import { randomBytes } from "node:crypto";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { newId } from "../../server/kernel/ids.ts";

type Row = Record<string, SQLInputValue>;
/** All rows of one envelope, by table. */
type Rows = Map<string, Row[]>;

/** Rows that belong to one envelope carry its id here. Leaves are appended by the product, so that their tree is a true one. */
const kept = new Set(["leaves", "merkle_nodes", "anchors"]);
const copyEachTransaction = 500;
const minuteMs = 60_000;

/**
 * Copies every row of these envelopes until there are `wanted` of them: with ids, secrets and external ids of their own, each copy a minute
 * older than the one before it and with its number in the title. What their hashes cover is that of the original, so the
 * chains of copies do not verify; nothing that is measured looks at them.
 * @param file a database that nobody has open
 * @returns ids of the sealed copies
 */
export function multiplyEnvelopes(file: string, originals: readonly string[], wanted: number): string[] {
  const db = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  try {
    db.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -200000");
    const tables = tablesOf(db);
    const sources = originals.map((id) => cellsOf(rowsOf(db, tables, id)));
    const statements = new Map<string, StatementSync>();
    const sealed: string[] = [];
    for (let copy = originals.length; copy < wanted; copy += 1) {
      if (copy % copyEachTransaction === 0 || copy === originals.length) db.exec("BEGIN");
      const source = sources[copy % sources.length];
      if (source) insert(db, statements, source, copy, sealed);
      if (copy % copyEachTransaction === copyEachTransaction - 1 || copy === wanted - 1) db.exec("COMMIT");
    }
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return sealed;
  } finally {
    db.close();
  }
}

/** Each table that says of which envelope or of which recipient its rows are. */
function tablesOf(db: DatabaseSync): { name: string; where: string }[] {
  const names = db.prepare("select name from sqlite_schema where type = 'table'").all();
  return names.flatMap(({ name: value }) => {
    const name = String(value);
    const columns = db.prepare("select name from pragma_table_info(?)").all(name);
    const has = (column: string) => columns.some((one) => one.name === column);
    if (kept.has(name)) return [];
    if (name === "envelopes") return [{ name, where: "id = $id" }];
    if (has("envelope")) return [{ name, where: "envelope = $id" }];
    if (has("recipient")) return [{ name, where: "recipient in (select id from recipients where envelope = $id)" }];
    if (name === "jobs") return [{ name, where: "payload like '%' || $id || '%'" }];
    return [];
  });
}

function rowsOf(db: DatabaseSync, tables: readonly { name: string; where: string }[], id: string): Rows {
  return new Map(
    tables.map(({ name, where }) => [
      name,
      db.prepare(`select * from "${name}" where ${where}`).all({ $id: id }) as Row[],
    ]),
  );
}

/** Organizations, people, keys and templates are shared by all envelopes; every other id is of one envelope alone. */
const ownId = /\b(?!(?:org|usr|mem|key|tpl|tfl|tpv)_)([a-z]{3})_[0-9A-Za-z]{24}\b/g;
const moment = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
const number = /(capacity \d+)/gi;
const secrets = new Set(["access_sha256", "token_sha256"]);

/** One value of one row as a copy has it. Most are the same for all, which is seen once and not each of a hundred thousand times. */
type Cell = { column: string; of: (copy: number, fresh: (id: string) => string) => SQLInputValue };

function cellOf(table: string, column: string, value: SQLInputValue): Cell {
  if (typeof value !== "string") return { column, of: () => value };
  if (secrets.has(column) || (table === "signing_tokens" && column === "sha256"))
    return { column, of: () => randomBytes(32).toString("hex") };
  const at = moment.test(value) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(at)) return { column, of: (copy) => new Date(at - copy * minuteMs).toISOString() };
  if (value.search(ownId) < 0 && value.search(number) < 0) return { column, of: () => value };
  return { column, of: (copy, fresh) => value.replace(ownId, fresh).replace(number, `$1 copy ${copy}.`) };
}

function cellsOf(rows: Rows): Map<string, Cell[][]> {
  return new Map(
    [...rows].map(([table, all]) => [
      table,
      all.map((row) => Object.entries(row).map(([column, value]) => cellOf(table, column, value))),
    ]),
  );
}

function idsOfCopy(): (id: string) => string {
  const ids = new Map<string, string>();
  return (id) => {
    const known = ids.get(id) ?? `${id.slice(0, 3)}_${newId("req").slice(4)}`;
    ids.set(id, known);
    return known;
  };
}

function insert(
  db: DatabaseSync,
  statements: Map<string, StatementSync>,
  source: Map<string, Cell[][]>,
  copy: number,
  sealed: string[],
): void {
  const fresh = idsOfCopy();
  for (const [table, rows] of source) {
    for (const cells of rows) {
      const statement =
        statements.get(table) ??
        db.prepare(
          `insert into "${table}" (${cells.map(({ column }) => `"${column}"`).join(", ")}) values (${cells.map(() => "?").join(", ")})`,
        );
      statements.set(table, statement);
      statement.run(...cells.map(({ of }) => of(copy, fresh)));
    }
    const own = table === "envelopes" ? rows[0] : undefined;
    if (own?.find(({ column }) => column === "seal")?.of(copy, fresh) === "sealed")
      sealed.push(String(own.find(({ column }) => column === "id")?.of(copy, fresh)));
  }
}
