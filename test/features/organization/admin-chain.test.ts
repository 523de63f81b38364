import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fsck } from "../../../server/features/evidence/fsck/fsck.ts";
import { checkAdminChain, recordAdminAct } from "../../../server/features/identity/admin-audit.ts";
import { createOrganization } from "../../../server/features/identity/service.ts";
import { openDatabase } from "../../../server/kernel/db.ts";
import { migrations } from "../../../server/migrations/list.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";

/** What administrators did stands in one hash chain an organization. */

let app: TestAppliance;
beforeAll(async () => {
  app = await startAppliance();
});
afterAll(() => app.stop());

const actor = { type: "user" as const, id: null, name: "Olive", email: "olive@example.com" };
const act = (organization: string, target: string) =>
  app.deps.db.tx((tx) =>
    recordAdminAct(tx, app.deps, organization, { actor, action: "api_key.created", target, ip: null, data: { n: 1 } }),
  );
const chainOf = (organization: string) => checkAdminChain(app.deps.db.read, organization, () => undefined);

test("acts at the same time follow each other, each organization's its own; none is changed or deleted", async () => {
  const owner = { email: "other@example.com", name: "Otto", password: null };
  const { organization: other } = await createOrganization(app.deps, { name: "Other", owner });
  const before = await chainOf(app.organization);
  await Promise.all(Array.from({ length: 40 }, (_, n) => act(n % 2 === 0 ? app.organization : other, `key_${n}`)));
  expect(await chainOf(app.organization)).toMatchObject({ valid: true, length: before.length + 20 });
  const { length, headHash } = await chainOf(other);
  expect(length).toBeGreaterThanOrEqual(20);
  // An act that comes to nothing leaves no gap.
  const undone = app.deps.db.tx(async (tx) => {
    await recordAdminAct(tx, app.deps, other, { actor, action: "member.left", target: null, ip: null });
    throw new Error("undone");
  });
  await expect(undone).rejects.toThrow("undone");
  await act(other, "key_last");
  expect(await chainOf(other)).toMatchObject({ valid: true, length: length + 1 });
  const last = await app.deps.db.read
    .selectFrom("admin_audit")
    .select("prev_hash")
    .where("organization", "=", other)
    .where("seq", "=", length + 1)
    .executeTakeFirst();
  expect(last).toEqual({ prev_hash: headHash });
  const db = app.deps.db;
  await expect(db.tx((tx) => tx.updateTable("admin_audit").set({ target: "x" }).execute())).rejects.toThrow(
    "append-only",
  );
  await expect(db.tx((tx) => tx.deleteFrom("admin_audit").execute())).rejects.toThrow("append-only");
  expect((await fsck(app.deps)).problems).toEqual([]);
});

test("acts from before there were chains are chained in the order that they were written", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-chain-"));
  const file = path.join(folder, "signet.db");
  const at = migrations.findIndex(({ name }) => name === "0042-admin-chain");
  await (await openDatabase({ file, migrations: migrations.slice(0, at) })).close();
  const raw = new DatabaseSync(file);
  raw.exec(`INSERT INTO organizations (id, name, locale, time_zone, created_at)
    VALUES ('org_a', 'A', 'en', 'UTC', ''), ('org_b', 'B', 'en', 'UTC', '')`);
  const insert = raw.prepare(
    "INSERT INTO admin_audit (id, organization, at, actor, action, target, ip, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  // More than are read at once; the clock was set back in between.
  for (let n = 0; n < 1200; n += 1) {
    const time = new Date(Date.UTC(2026, 0, 1) + (n < 600 ? n : n - 600) * 1000).toISOString();
    const data = '{"z": "Zürich",  "a": 1}';
    insert.run(
      `adm_${1200 - n}`,
      n % 3 === 0 ? "org_b" : "org_a",
      time,
      JSON.stringify(actor),
      "member.left",
      null,
      null,
      data,
    );
  }
  raw.close();
  const db = await openDatabase({ file });
  for (const [organization, length] of [
    ["org_a", 800],
    ["org_b", 400],
  ] as const) {
    const order: string[] = [];
    expect(await checkAdminChain(db.read, organization, ({ id }) => order.push(id))).toMatchObject({
      valid: true,
      length,
    });
    const numbers = order.map((id) => Number(id.slice(4)));
    expect(numbers).toEqual([...numbers].sort((a, b) => b - a));
  }
  const [first] = await db.read
    .selectFrom("admin_audit")
    .selectAll()
    .where("organization", "=", "org_b")
    .limit(1)
    .execute();
  const text =
    '{"action":"member.left","actor":{"email":"olive@example.com","id":null,"name":"Olive","type":"user"},' +
    '"at":"2026-01-01T00:00:00.000Z","data":{"a":1,"z":"Zürich"},"id":"adm_1200","ip":null,"organization":"org_b",' +
    `"prevHash":"${"0".repeat(64)}","seq":1,"target":null,"type":"svc.admin-act","v":1}`;
  expect(first?.hash).toBe(createHash("sha256").update(text).digest("hex"));
  expect((await db.read.selectFrom("admin_audit").select("id").execute()).length).toBe(1200);
  await db.close();
  await rm(folder, { recursive: true, force: true });
});
