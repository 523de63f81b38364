import {
  AliasNode,
  ColumnNode,
  type Expression,
  IdentifierNode,
  type OperationNode,
  type RawBuilder,
  RawNode,
  ReferenceNode,
  type RootOperationNode,
  SelectQueryNode,
  type Simplify,
  sql,
} from "kysely";

// The comment marks a column as JSON in the statement itself, so that only such columns are parsed. Kysely's own plugin
// parses every text that looks like JSON, which would turn what a user typed into an object.
const marker = "/*json*/ ";

/** A subquery with named columns as an array of objects in one column, `[]` when there is none. */
export function jsonArrayFrom<O>(query: Expression<O>): RawBuilder<Simplify<O>[]> {
  const members = jsonMembers(query.toOperationNode());
  return sql<
    Simplify<O>[]
  >`/*json*/ (select coalesce(json_group_array(json_object(${members})), '[]') from ${query} as agg)`;
}

/** A subquery of at most one row with named columns as an object, null when there is none. */
export function jsonObjectFrom<O>(query: Expression<O>): RawBuilder<Simplify<O> | null> {
  const members = jsonMembers(query.toOperationNode());
  return sql<Simplify<O> | null>`/*json*/ (select json_object(${members}) from ${query} as agg)`;
}

function jsonMembers(query: OperationNode): RawBuilder<unknown> {
  if (!SelectQueryNode.is(query)) throw new Error("only a select can be turned into JSON");
  const members = (query.selections ?? []).flatMap(({ selection }) => {
    const name = columnName(selection);
    if (name === undefined) throw new Error("name every column of a JSON subquery; selectAll() gives no names");
    const column = sql.ref(`agg.${name}`);
    // JSON comes out of a subquery as text; json() keeps json_object from quoting it.
    return [sql.lit(name), isMarked(selection) ? sql`json(${column})` : column];
  });
  return sql.join(members);
}

function columnName(selection: OperationNode): string | undefined {
  if (AliasNode.is(selection) && IdentifierNode.is(selection.alias)) return selection.alias.name;
  if (ReferenceNode.is(selection) && ColumnNode.is(selection.column)) return selection.column.column.name;
  if (ColumnNode.is(selection)) return selection.column.name;
  return undefined;
}

function isMarked(selection: OperationNode): boolean {
  return (
    AliasNode.is(selection) && RawNode.is(selection.node) && selection.node.sqlFragments[0]?.startsWith(marker) === true
  );
}

/** Names of the root statement's columns that hold JSON made by the helpers above. */
export function jsonColumns(query: RootOperationNode): readonly string[] {
  if (!SelectQueryNode.is(query)) return [];
  return (query.selections ?? []).flatMap(({ selection }) => {
    const name = isMarked(selection) ? columnName(selection) : undefined;
    return name === undefined ? [] : [name];
  });
}
