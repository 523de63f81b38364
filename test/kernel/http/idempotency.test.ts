import { request as httpRequest } from "node:http";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApiKey, createOrganization } from "../../../server/features/identity/service.ts";
import type { Tx } from "../../../server/kernel/db.ts";
import { purgeIdempotency } from "../../../server/kernel/idempotency.ts";
import { permissions } from "../../../server/kernel/wire.ts";
import { type CallOptions, startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { shiftingClock } from "../../harness/clock.ts";
import { envelopeInput, publishTemplate } from "../../harness/envelopes.ts";
import { problemOf } from "../../harness/http.ts";
import { samplePdf } from "../../harness/pdfs.ts";

const clock = shiftingClock();
let appliance: TestAppliance;
let template: string;
beforeAll(async () => {
  appliance = await startAppliance({ clock });
  template = await publishTemplate(appliance);
});
afterAll(() => appliance.stop());

let used = 0;
const newKey = () => `key ${++used}`;
const post = (key: string | null, json: unknown, options: CallOptions = {}, path = "/v1/templates") =>
  appliance.json(path, { ...options, json, headers: key === null ? {} : { "idempotency-key": key } });
const replayed = ({ headers }: { headers: Headers }) => headers.get("idempotent-replayed") === "true";
const countTemplates = async () => (await appliance.deps.db.read.selectFrom("templates").select("id").execute()).length;

describe("an Idempotency-Key", () => {
  it("makes the second of two equal requests the same answer without a second effect", async () => {
    const key = newKey();
    const before = await countTemplates();
    const first = await post(key, { name: "once" });
    const second = await post(key, { name: "once" });
    expect([first.status, replayed(first)]).toEqual([201, false]);
    expect([second.status, replayed(second)]).toEqual([201, true]);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
    expect(await countTemplates()).toBe(before + 1);
  });

  it("belongs to one request: another body, path or query is refused, the order of the query is not", async () => {
    const key = newKey();
    const input = envelopeInput(template);
    const path = "/v1/envelopes?dry_run=1&test_mode=0";
    expect((await post(key, input, {}, path)).status).toBe(200);
    expect(replayed(await post(key, input, {}, "/v1/envelopes?test_mode=0&dry_run=1"))).toBe(true);
    for (const [json, target] of [
      [{ ...input, title: "x" }, path],
      [input, "/v1/envelopes?dry_run=1&test_mode=1"],
      [input, "/v1/templates"],
    ] as const) {
      const refused = problemOf(await post(key, json, {}, target));
      expect(refused).toMatchObject({ status: 422, code: "idempotency-key-reused" });
    }
  });

  it("keeps refusals below 500, of the schema and of the state", async () => {
    const key = newKey();
    const first = await post(key, { name: 1 });
    const again = await post(key, { name: 1 });
    expect([first.status, again.status, replayed(first), replayed(again)]).toEqual([422, 422, false, true]);
    expect(again.body).toEqual(first.body);
    const unpublished = (await post(null, { name: "empty" })).body as { id: string };
    const [one, two] = [newKey(), newKey()];
    const publish = (key: string) =>
      post(key, undefined, { method: "POST" }, `/v1/templates/${unpublished.id}/publish`);
    expect(await publish(one)).toMatchObject({ status: 409, body: { code: "draft-missing" } });
    expect(replayed(await publish(one))).toBe(true);
    expect(replayed(await publish(two))).toBe(false);
  });

  it("keeps nothing that was refused before it was looked at, and no 429", async () => {
    const key = newKey();
    const lesser = { bearer: await appliance.createKey("live", ["template:read"]) };
    expect((await post(key, { name: "a" }, { key: null })).status).toBe(401);
    expect((await post(key, { name: "a" }, { key: lesser })).status).toBe(403);
    const first = await post(key, { name: "a" });
    expect([first.status, replayed(first)]).toEqual([201, false]);

    const envelope = (await post(null, envelopeInput(template), {}, "/v1/envelopes")).body as {
      id: string;
      recipients: { id: string }[];
    };
    await appliance.jobs.idle();
    const path = `/v1/envelopes/${envelope.id}/recipients/${envelope.recipients[0]?.id}/resend`;
    const resend = (key: string) => post(key, undefined, { method: "POST" }, path);
    const [early, late] = [newKey(), newKey()];
    clock.shift(61_000);
    expect((await resend(early)).status).toBe(200);
    const limited = await resend(late);
    expect(problemOf(limited)).toMatchObject({ status: 429, code: "rate-limited" });
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
    clock.shift(61_000);
    const retried = await resend(late);
    expect([retried.status, replayed(retried)]).toEqual([200, false]);
    expect(replayed(await resend(early))).toBe(true);
  });

  it("keeps no 5xx: the request can be tried again", async () => {
    const key = newKey();
    const { db } = appliance.deps;
    const { tx } = db;
    Object.assign(db, { tx: () => Promise.reject(new Error("disk on fire")) });
    const failed = await post(key, { name: "later" });
    Object.assign(db, { tx });
    expect(problemOf(failed)).toMatchObject({ status: 500, code: "internal-error" });
    expect(JSON.stringify(failed.body)).not.toContain("fire");
    const retried = await post(key, { name: "later" });
    expect([retried.status, replayed(retried)]).toEqual([201, false]);
  });

  it("is 1 to 255 printable ASCII characters", async () => {
    for (const key of ["", "x".repeat(256), "tab\there", "ümlaut"]) {
      const refused = problemOf(await post(key, { name: "a" }));
      expect(refused, key).toMatchObject({ status: 400, code: "invalid-idempotency-key" });
    }
    for (const key of ["x", '"quoted"', "~!@#$%^&*()", "y".repeat(255)]) {
      expect((await post(key, { name: "a" })).status, key).toBe(201);
      expect(replayed(await post(key, { name: "a" })), key).toBe(true);
    }
  });

  it("means something on the operations that take it only", async () => {
    const sha = "0".repeat(64);
    for (let i = 0; i < 2; i++) {
      const verify = await post("", { sha256: sha }, { key: null }, "/v1/public/verify");
      expect([verify.status, replayed(verify)]).toEqual([200, false]);
    }
    const key = newKey();
    for (let i = 0; i < 2; i++) {
      const list = await appliance.call("/v1/templates", { headers: { "idempotency-key": key } });
      expect(list.headers.get("idempotent-replayed")).toBeNull();
    }
  });

  it("is a matter of one caller: another key or organization has its own", async () => {
    const key = newKey();
    const other = await createOrganization(appliance.deps, {
      name: "Other Ltd",
      owner: { email: "other@example.com", name: "Otto", password: null },
    });
    const actor = { type: "user", id: other.user, name: "Otto", email: "other@example.com" } as const;
    const made = await createApiKey(appliance.deps, other.organization, actor, new Set(permissions), {
      name: "other",
      mode: "live",
    });
    const callers: CallOptions["key"][] = [
      "live",
      "test",
      { bearer: await appliance.createKey("live") },
      { bearer: made.key },
    ];
    const ids = new Set<string>();
    for (const caller of callers) {
      const answer = await post(key, { name: "mine" }, caller ? { key: caller } : {});
      expect([answer.status, replayed(answer)]).toEqual([201, false]);
      ids.add((answer.body as { id: string }).id);
    }
    expect(ids.size).toBe(callers.length);
  });

  it("is forgotten after 24 hours, not before, across a restart", async () => {
    const key = newKey();
    const first = await post(key, { name: "a day" });
    await appliance.restart();
    // Every start deletes expired replies; let it finish before the clock moves on.
    await appliance.jobs.idle();
    clock.shift(24 * 3_600_000 - 60_000);
    const before = await post(key, { name: "a day" });
    expect([replayed(before), before.body]).toEqual([true, first.body]);
    clock.shift(60_001);
    const after = await post(key, { name: "another day" });
    expect([after.status, replayed(after)]).toEqual([201, false]);
    clock.shift(24 * 3_600_000 + 1);
    expect(await appliance.deps.db.tx((tx) => purgeIdempotency(tx, appliance.deps))).toBeGreaterThan(0);
    const rows = await appliance.deps.db.read.selectFrom("idempotency_replies").select("key").execute();
    expect(rows).toEqual([]);
  });

  it("repeats bytes too", async () => {
    const key = newKey();
    const render = async () => {
      const response = await appliance.call(`/v1/templates/${template}/versions/latest/render`, {
        json: { variables: { rent: 1 } },
        headers: { "idempotency-key": key },
      });
      return { response, bytes: Buffer.from(await response.arrayBuffer()) };
    };
    const [first, second] = [await render(), await render()];
    expect(first.response.status).toBe(200);
    expect(first.bytes.subarray(0, 5).toString()).toBe("%PDF-");
    expect(second.bytes.equals(first.bytes)).toBe(true);
    expect(second.response.headers.get("idempotent-replayed")).toBe("true");
    for (const name of ["content-type", "content-disposition"])
      expect(second.response.headers.get(name)).toBe(first.response.headers.get(name));
  });

  it("stores answers encrypted: they may hold a secret", async () => {
    const envelope = (await post(null, envelopeInput(template), {}, "/v1/envelopes")).body as {
      id: string;
      recipients: { id: string }[];
    };
    await appliance.jobs.idle();
    const json = { recipient: envelope.recipients[0]?.id };
    const key = newKey();
    const path = `/v1/envelopes/${envelope.id}/sessions`;
    const first = await post(key, json, {}, path);
    expect(first.status, JSON.stringify(first.body)).toBe(201);
    const second = await post(key, json, {}, path);
    expect([replayed(second), second.body]).toEqual([true, first.body]);
    const rows = await appliance.deps.db.read.selectFrom("idempotency_replies").selectAll().execute();
    expect(JSON.stringify(rows)).not.toMatch(/svcs_|ses_/);
  });
});

describe("while the first request runs", () => {
  it("an equal one is 409, a different one 422, another key goes on, and a lost client leaves nothing behind", async () => {
    const key = newKey();
    const { db } = appliance.deps;
    const { tx } = db;
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    let reached = () => {};
    const inside = new Promise<void>((resolve) => {
      reached = resolve;
    });
    Object.assign(db, {
      tx: async (fn: Parameters<typeof tx>[0]) => {
        reached();
        await gate;
        return await tx(fn);
      },
    });
    const first = post(key, { name: "slow" });
    await inside;
    const same = await post(key, { name: "slow" });
    expect(problemOf(same)).toMatchObject({ status: 409, code: "idempotency-in-progress" });
    expect(same.headers.get("retry-after")).toBe("1");
    expect(problemOf(await post(key, { name: "other" }))).toMatchObject({ code: "idempotency-key-reused" });
    Object.assign(db, { tx });
    release();
    expect((await first).status).toBe(201);
    expect(replayed(await post(key, { name: "slow" }))).toBe(true);
  });

  it("of twenty at once one acts, the rest replay or are told to wait", async () => {
    const key = newKey();
    const before = await countTemplates();
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(key, { name: "burst" })));
    expect(answers.filter((answer) => answer.status === 201 && !replayed(answer))).toHaveLength(1);
    for (const answer of answers) expect([201, 409]).toContain(answer.status);
    expect(await countTemplates()).toBe(before + 1);
  });

  it("a body that is still coming holds no key", async () => {
    const key = newKey();
    const url = new URL("/v1/templates", appliance.url);
    const slow = httpRequest(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${appliance.keys.live}`,
        "content-type": "application/json",
        "idempotency-key": key,
      },
    });
    const answered = new Promise<number>((resolve, reject) => {
      slow.once("response", (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      slow.once("error", reject);
    });
    slow.write('{"name":');
    expect((await post(key, { name: "quick" })).status).toBe(201);
    slow.end('"slow"}');
    expect(await answered).toBe(422);
  });
});

describe("the effect and the stored answer", () => {
  type Case = [string, () => Promise<{ path: string; json?: unknown; body?: BodyInit; type?: string }>];
  const envelope = async () => {
    const made = (await post(null, envelopeInput(template), {}, "/v1/envelopes")).body as {
      id: string;
      recipients: { id: string }[];
    };
    await appliance.jobs.idle();
    clock.shift(61_000);
    return { id: made.id, recipient: made.recipients[0]?.id };
  };
  const cases: Case[] = [
    ["createTemplate", async () => ({ path: "/v1/templates", json: { name: "a" } })],
    [
      "uploadTemplateFile",
      async () => ({
        path: `/v1/templates/${template}/files`,
        body: Buffer.from(await samplePdf({ pages: 1 })),
        type: "application/pdf",
      }),
    ],
    [
      "publishTemplate",
      async () => {
        const version = (await appliance.json(`/v1/templates/${template}/versions/latest`)).body as Record<
          string,
          unknown
        >;
        const { content, roles, variables } = version;
        await appliance.json(`/v1/templates/${template}/draft`, { method: "PUT", json: { content, roles, variables } });
        return { path: `/v1/templates/${template}/publish` };
      },
    ],
    ["createEnvelope", async () => ({ path: "/v1/envelopes", json: envelopeInput(template) })],
    ["voidEnvelope", async () => ({ path: `/v1/envelopes/${(await envelope()).id}/void`, json: { reason: "x" } })],
    [
      "resendToRecipient",
      async () => {
        const { id, recipient } = await envelope();
        return { path: `/v1/envelopes/${id}/recipients/${recipient}/resend` };
      },
    ],
    [
      "createSigningSession",
      async () => {
        const { id, recipient } = await envelope();
        return { path: `/v1/envelopes/${id}/sessions`, json: { recipient } };
      },
    ],
  ];
  it.each(cases)("of %s are one transaction", async (_name, prepare) => {
    const { path, json, body, type } = await prepare();
    const key = newKey();
    const { db } = appliance.deps;
    const { tx } = db;
    // How many rows the transaction wrote that stored the answer: alone it would be one.
    let written = 0;
    const changes = async (scope: Tx) =>
      (await sql<{ n: number }>`select total_changes() as n`.execute(scope)).rows[0]?.n ?? 0;
    Object.assign(db, {
      tx: <T>(fn: (scope: Tx) => Promise<T>) =>
        tx(async (scope) => {
          const before = await changes(scope);
          const value = await fn(scope);
          const row = await scope
            .selectFrom("idempotency_replies")
            .select("key")
            .where("key", "=", key)
            .executeTakeFirst();
          if (row && written === 0) written = (await changes(scope)) - before;
          return value;
        }),
    });
    const headers = { "idempotency-key": key, ...(type ? { "content-type": type } : {}) };
    const options: CallOptions = { method: "POST", headers, ...(json ? { json } : {}), ...(body ? { body } : {}) };
    const answer = await appliance.json(path, options);
    Object.assign(db, { tx });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    expect(written).toBeGreaterThan(1);
    const again = await appliance.json(path, options);
    expect([replayed(again), again.status, again.body]).toEqual([true, answer.status, answer.body]);
  });
});
