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
    const sources = originals.map((id) => rowsOf(db, tables, id));
    const statements = new Map<string, StatementSync>();
    const sealed: string[] = [];
    for (let copy = originals.length; copy < wanted; copy += 1) {
      if (copy % copyEachTransaction === 0 || copy === originals.length) db.exec("BEGIN");
      const source = sources[copy % sources.length];
      if (source) insert(db, statements, renewed(source, copy), sealed);
      if (copy % copyEachTransaction === copyEachTransaction - 1 || copy === wanted - 1) db.exec("COMMIT");
    }
    db.exec("PRAGMA optimize; PRAGMA wal_checkpoint(TRUNCATE)");
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

function renewed(source: Rows, copy: number): Rows {
  const ids = new Map<string, string>();
  const fresh = (id: string): string => {
    const known = ids.get(id) ?? `${id.slice(0, 3)}_${newId("req").slice(4)}`;
    ids.set(id, known);
    return known;
  };
  const valueFor = (table: string, column: string, value: SQLInputValue): SQLInputValue => {
    if (typeof value !== "string") return value;
    if (secrets.has(column) || (table === "signing_tokens" && column === "sha256"))
      return randomBytes(32).toString("hex");
    if (moment.test(value)) return new Date(Date.parse(value) - copy * minuteMs).toISOString();
    return value.replace(ownId, fresh).replace(number, `$1 copy ${copy}.`);
  };
  return new Map(
    [...source].map(([table, rows]) => [
      table,
      rows.map((row) =>
        Object.fromEntries(Object.entries(row).map(([column, value]) => [column, valueFor(table, column, value)])),
      ),
    ]),
  );
}

function insert(db: DatabaseSync, statements: Map<string, StatementSync>, rows: Rows, sealed: string[]): void {
  for (const [table, all] of rows) {
    for (const row of all) {
      const columns = Object.keys(row);
      const statement =
        statements.get(table) ??
        db.prepare(
          `insert into "${table}" (${columns.map((column) => `"${column}"`).join(", ")}) values (${columns.map(() => "?").join(", ")})`,
        );
      statements.set(table, statement);
      statement.run(...Object.values(row));
      if (table === "envelopes" && row.seal === "sealed") sealed.push(String(row.id));
    }
  }
}
