/** The floor of the API benchmark: Koa with one route that reads one row, and one that writes one row durably. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import Router from "@koa/router";
import Koa from "koa";
import sqlite3 from "sqlite3";

const file = path.join(mkdtempSync(path.join(tmpdir(), "signet-bare-")), "bare.db");
const db = new sqlite3.Database(file);
const run = (sql: string, ...values: unknown[]) =>
  new Promise<void>((resolve, reject) => db.run(sql, values, (error) => (error ? reject(error) : resolve())));
await run("PRAGMA journal_mode=WAL");
await run("PRAGMA synchronous=FULL");
await run("CREATE TABLE t (id TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT");
await run("INSERT INTO t VALUES ('a', ?)", JSON.stringify({ id: "a", text: "x".repeat(1500) }));
const get = db.prepare("SELECT body FROM t WHERE id = ?");
const insert = db.prepare("INSERT INTO t VALUES (?, ?)");
let serial = 0;

const router = new Router();
router.get("/one/:id", async (ctx) => {
  const row = await new Promise<{ body: string }>((resolve, reject) =>
    get.get<{ body: string }>([ctx.params.id], (error, found) => (error || !found ? reject(error) : resolve(found))),
  );
  ctx.type = "application/json";
  ctx.body = row.body;
});
router.post("/one", async (ctx) => {
  const chunks: Buffer[] = [];
  for await (const chunk of ctx.req) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString("utf8");
  JSON.parse(body);
  const id = `row${++serial}`;
  await new Promise<void>((resolve, reject) =>
    insert.run([id, body], (error: Error | null) => (error ? reject(error) : resolve())),
  );
  ctx.status = 201;
  ctx.type = "application/json";
  ctx.body = body;
});
const app = new Koa();
app.use(router.routes());
const server = app.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") process.send?.({ ready: `http://127.0.0.1:${address.port}` });
});
process.on("disconnect", () => process.exit(0));
