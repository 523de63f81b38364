import { payloadContext } from "../../kernel/jobs.ts";

/** A column that holds texts sealed under the master key. */
export type SealedColumn = {
  table: string;
  column: string;
  /** Primary key. */
  key: readonly string[];
  /** What else the context is made of. */
  also?: readonly string[];
  /** What the text was sealed for, as who writes it says it. */
  context(row: Readonly<Record<string, string>>): string;
};

const of = (row: Readonly<Record<string, string>>, name: string): string => row[name] ?? "";

/**
 * Every column that is sealed. `rotate-master` seals each text in them anew; a new one must be added here, and a test reads
 * the sources and a database in use to find one that is missing. Blobs are wrapped one by one and stand in no column.
 */
export const sealedColumns: readonly SealedColumn[] = [
  {
    table: "signing_keys",
    column: "private_key",
    key: ["id"],
    context: (row) => `signing_keys.private_key:${of(row, "id")}`,
  },
  { table: "mails", column: "content", key: ["id"], context: (row) => `mails.content:${of(row, "id")}` },
  // Only payloads of jobs that hold a secret; the others are plain JSON.
  { table: "jobs", column: "payload", key: ["id"], also: ["name"], context: (row) => payloadContext(of(row, "name")) },
  {
    table: "social_states",
    column: "secrets",
    key: ["state_sha256"],
    context: (row) => `social_states.secrets:${of(row, "state_sha256")}`,
  },
  {
    table: "idempotency_replies",
    column: "reply",
    key: ["organization", "caller", "key"],
    context: (row) => `idempotency:${of(row, "key")}`,
  },
  {
    table: "saved_signatures",
    column: "content",
    key: ["user"],
    context: (row) => `saved_signatures.content:${of(row, "user")}`,
  },
  { table: "acme", column: "secrets", key: ["id"], context: (row) => `acme.secrets:${of(row, "id")}` },
  {
    table: "webhook_endpoints",
    column: "secret",
    key: ["id"],
    context: (row) => `webhook_endpoints.secret:${of(row, "id")}`,
  },
  {
    table: "webhook_endpoints",
    column: "previous_secret",
    key: ["id"],
    context: (row) => `webhook_endpoints.previous_secret:${of(row, "id")}`,
  },
  { table: "master_key_proof", column: "sealed", key: ["id"], context: () => "master_key_proof" },
];
