import { createHash } from "node:crypto";
import Papa from "papaparse";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { recordAdminAct } from "../../../server/features/identity/admin-audit.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { heldBytes } from "../../harness/memory.ts";
import { auditOf, ok, publishTemplate, refusal, send } from "../../harness/scenario.ts";

const path = "/v1/organization/audit-export";
let app: TestAppliance;
let template: string;
let live: string;
let other: string;
let tested: string;
beforeAll(async () => {
  app = await startAppliance();
  template = await publishTemplate(app);
  live = (await send(app, template, { tenant: { name: "=HYPERLINK(evil)" } })).id;
  other = (await send(app, template)).id;
  tested = (await send(app, template, { key: "test" })).id;
});
afterAll(() => app.stop());

const Line = z.object({ type: z.string(), v: z.literal(1) }).catchall(z.json());
type Line = z.infer<typeof Line>;

/** RFC 8785 for what a chain holds (text, integers, objects), written apart from the server's own. */
function jcs(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jcs).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${jcs(member)}`).join(",")}}`;
}

const hashOf = ({ hash: _, ...rest }: Record<string, unknown>): string =>
  createHash("sha256").update(jcs(rest)).digest("hex");

/** Every entry follows the one before. @returns the hash of the last */
function follows(chain: readonly Line[]): string {
  let previous = "0".repeat(64);
  for (const [index, entry] of chain.entries()) {
    expect(entry).toMatchObject({ seq: index + 1, prevHash: previous, hash: hashOf(entry) });
    previous = String(entry.hash);
  }
  return previous;
}

async function linesOf(query: string, key: "live" | "test" = "live"): Promise<{ text: string; lines: Line[] }> {
  const response = await app.call(`${path}${query}`, { key });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/jsonl");
  expect(response.headers.get("content-disposition")).toMatch(/^attachment; filename="audit-(live|test)-.*\.jsonl"$/);
  const text = await response.text();
  return {
    text,
    lines: text
      .trimEnd()
      .split("\n")
      .map((line) => Line.parse(JSON.parse(line))),
  };
}

test("JSON Lines hold every chain of the mode, so that each hash can be computed again up to its head", async () => {
  const { text, lines } = await linesOf("?format=jsonl");
  expect(text.split("\n").slice(0, -1)).toEqual(lines.map(jcs));
  expect(lines[0]).toMatchObject({ type: "svc.audit-export", organization: app.organization, testMode: false });
  const acts = lines.filter(({ type }) => type === "svc.admin-act");
  expect(acts.length).toBeGreaterThan(1);
  expect(lines.filter(({ type }) => type === "svc.admin-head")).toEqual([
    { type: "svc.admin-head", v: 1, length: acts.length, headHash: follows(acts) },
  ]);
  const entries = lines.filter(({ type }) => !type.startsWith("svc."));
  const heads = lines.filter(({ type }) => type === "svc.audit-head");
  expect(heads.map(({ envelope }) => envelope)).toEqual([live, other].sort());
  for (const head of heads) {
    const chain = entries.filter(({ envelope }) => envelope === head.envelope);
    expect(head).toMatchObject({ length: chain.length, headHash: follows(chain) });
    const { verification } = await auditOf(app, String(head.envelope));
    expect(head).toMatchObject({ length: verification.length, headHash: verification.headHash });
  }
  expect(lines.at(-1)).toMatchObject({ type: "svc.audit-export-end", envelopes: 2, entries: entries.length });
});

test("a key exports its own mode, a session the one that it asks for", async () => {
  const heads = ({ lines }: { lines: Line[] }) =>
    lines.filter(({ type }) => type === "svc.audit-head").map(({ envelope }) => envelope);
  expect(heads(await linesOf("", "test"))).toEqual([tested]);
  expect(heads(await linesOf("?testMode=1", "live"))).toEqual([]);
  const cookie = await app.signIn();
  for (const [query, wanted] of [
    ["", [live, other].sort()],
    ["?testMode=true", [tested]],
  ] as const) {
    const response = await app.call(`${path}${query}`, { key: null, headers: { cookie } });
    const lines = (await response.text()).trimEnd().split("\n");
    expect(heads({ lines: lines.map((line) => Line.parse(JSON.parse(line))) })).toEqual(wanted);
  }
});

test("CSV says the same, and no cell is a formula", async () => {
  await app.deps.db.tx((tx) =>
    recordAdminAct(tx, app.deps, app.organization, {
      actor: { type: "user", id: null, name: "=1+1", email: "+1@example.com" },
      action: "member.left",
      target: "@SUM(A1)",
      ip: 'x;=1+1;+2\t-3\n@4; "=5',
      data: { name: 'says "hello"; \r\n-2' },
    }),
  );
  const response = await app.call(`${path}?format=csv`);
  expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  const bytes = Buffer.from(await response.arrayBuffer());
  expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
  const { data, errors } = Papa.parse<Record<string, string>>(bytes.toString("utf8"), {
    header: true,
    skipEmptyLines: true,
  });
  expect(errors).toEqual([]);
  for (const row of data) for (const cell of Object.values(row)) expect(cell).not.toMatch(/^[=+\-@\t\r\n]/);
  expect(data.find(({ target }) => target === "'@SUM(A1)")).toMatchObject({
    record: "act",
    actorName: "'=1+1",
    actorEmail: "'+1@example.com",
    target: "'@SUM(A1)",
    // Whoever opens the file with another separator gets no formula either.
    ip: `x;'=1+1;'+2\t'-3\n'@4; "'=5`,
    data: String.raw`{"name":"says \"hello\"; \r\n-2"}`,
  });
  const { lines } = await linesOf("");
  const hashes = (record: string) => data.filter((row) => row.record === record).map(({ hash }) => hash);
  expect(hashes("entry")).toEqual(lines.filter(({ type }) => !type.startsWith("svc.")).map(({ hash }) => hash));
  expect(hashes("act")).toEqual(lines.filter(({ type }) => type === "svc.admin-act").map(({ hash }) => hash));
  expect(hashes("acts-head")).toEqual(
    lines.filter(({ type }) => type === "svc.admin-head").map((line) => line.headHash),
  );
  expect(hashes("head")).toEqual(lines.filter(({ type }) => type === "svc.audit-head").map((line) => line.headHash));
});

test("another format, a key without the permission and a smaller plan are refused", async () => {
  expect(await refusal(app, `${path}?format=xml`)).toMatchObject({ status: 422, code: "validation-failed" });
  const bearer = await app.createKey("live", ["envelope:read"]);
  expect(await refusal(app, path, { key: { bearer } })).toMatchObject({ status: 403, code: "forbidden" });
  const smaller = await startAppliance({ env: { SIGNET_PLAN: "team" } });
  const refused = await smaller.json(path);
  expect(refused).toMatchObject({ status: 403, body: { code: "plan-upgrade-required" } });
  expect(refused.body).toMatchObject({ upgradeUrl: expect.stringContaining("/settings/billing") });
  await smaller.stop();
});

test("a hundred thousand entries are sent without holding them", { timeout: 120_000 }, async () => {
  const count = 100_000;
  const { deps } = app;
  const row = (seq: number) => ({
    envelope: other,
    seq,
    id: `evt_many${seq}`,
    type: "envelope.downloaded" as const,
    at: deps.clock.ts(),
    actor: JSON.stringify({ type: "system", id: null, name: null, email: null }),
    ip: null,
    user_agent: "x".repeat(300),
    data: "{}",
    prev_hash: "0".repeat(64),
    hash: "0".repeat(64),
  });
  const from = (await auditOf(app, other)).verification.length;
  await deps.db.tx(async (tx) => {
    for (let at = 0; at < count; at += 1000)
      await tx
        .insertInto("audit_entries")
        .values(Array.from({ length: 1000 }, (_, index) => row(from + at + index + 1)))
        .execute();
    await tx
      .updateTable("envelopes")
      .set({ audit_length: from + count })
      .where("id", "=", other)
      .execute();
  });
  const response = await app.call(path);
  let bytes = 0;
  let tail = "";
  let most = 0;
  let looked = 0;
  const before = await heldBytes();
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    tail = Buffer.from(piece).toString("utf8").slice(-400);
    if (bytes - looked < 5e6) continue;
    looked = bytes;
    most = Math.max(most, await heldBytes());
  }
  expect(tail).toContain("svc.audit-export-end");
  expect(bytes).toBeGreaterThan(60e6);
  // Server and reader are this one process; the file alone would take these bytes, and its entries several times as many.
  expect(most).toBeGreaterThan(0);
  expect(most - before).toBeLessThan(35e6);
});

test("whoever goes away in the middle stops the reading", async () => {
  const gone = new AbortController();
  const response = await app.call(path, { signal: gone.signal });
  const reader = response.body?.getReader();
  await reader?.read();
  gone.abort();
  await expect(reader?.read()).rejects.toThrow();
  await ok(app, 200, "/v1/organization/settings");
});
