import { connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CallOptions, startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { placesOf, problemOf, raw } from "../../harness/http.ts";
import { heldBytes } from "../../harness/memory.ts";

let appliance: TestAppliance;
beforeAll(async () => {
  appliance = await startAppliance();
});
afterAll(() => appliance.stop());

const json = { "content-type": "application/json" };
const create = (body: BodyInit, headers: Record<string, string> = json) =>
  appliance.json("/v1/templates", { body, headers });
const codeOf = async (path: string, options: CallOptions) => problemOf(await appliance.json(path, options)).code;
const missing = "/v1/templates/tpl_000000000000000000000000";
const mib = 1024 * 1024;

describe("JSON bodies", () => {
  it("must be JSON", async () => {
    const bad: BodyInit[] = ["{", '{"name":"a",}', Uint8Array.from([0x22, 0xff, 0x22]), '{"name":"\\ud800"}'];
    for (const body of [...bad, `{"name":${"[".repeat(100)}${"]".repeat(100)}}`]) {
      const problem = problemOf(await create(body));
      expect(problem).toMatchObject({ status: 400, code: "malformed-request", instance: "/v1/templates" });
      expect(problem.errors).toBeUndefined();
    }
  });

  it("that are empty lack everything", async () => {
    expect(placesOf(problemOf(await create("")))).toEqual(["# required"]);
    expect(placesOf(problemOf(await appliance.json("/v1/templates", { method: "POST" })))).toEqual(["# required"]);
    expect(placesOf(problemOf(await create("{}")))).toEqual(["#/name required"]);
  });

  it("need their media type, parameters and case aside", async () => {
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/jsonx",
      "multipart/form-data",
    ]) {
      const problem = problemOf(await create('{"name":"a"}', { "content-type": type }));
      expect(problem.status, type).toBe(415);
      expect(problem.detail).toContain("application/json");
    }
    const bare = await create(new Blob(['{"name":"a"}']).stream(), { "content-type": "" }).catch(() => null);
    if (bare) expect(bare.status).toBe(415);
    for (const type of ["Application/JSON; charset=utf-8", "application/vnd.example+json"])
      expect((await create('{"name":"a"}', { "content-type": type })).status, type).toBe(201);
  });

  it("report every wrong member in the order of the document, also what only looks like one", async () => {
    const body = `{"7":1,"metadata":{"b c":"x","ok":1},"__proto__":{"a":1},"mode":"pdf","description":3,"constructor":{}}`;
    const problem = problemOf(await create(body));
    expect(problem.status).toBe(422);
    expect(placesOf(problem)).toEqual([
      "#/7 unknown",
      "#/metadata/b%20c pattern",
      "#/metadata/ok type",
      "#/__proto__ unknown",
      "#/mode enum",
      "#/description type",
      "#/constructor unknown",
      "#/name required",
    ]);
    expect(problem.detail).toContain("8");
    for (const error of problem.errors ?? []) expect(error.detail).toMatch(/^.+[.!?]$/);
  });

  it("get at most 50 errors", async () => {
    const body = JSON.stringify(Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`x${i}`, i])));
    expect(placesOf(problemOf(await create(body)))).toHaveLength(50);
  });

  it("may name a member twice: the last counts", async () => {
    expect(await create('{"name":1,"name":"a"}')).toMatchObject({ status: 201, body: { name: "a" } });
  });
});

describe("parameters", () => {
  it("are named as such", async () => {
    const query = problemOf(await appliance.json("/v1/templates?limit=101&cursor=zzz"));
    expect(query.status).toBe(422);
    expect(placesOf(query)).toContain("?limit max");
    expect(placesOf(problemOf(await appliance.json("/v1/templates?cursor=zzz")))).toEqual(["?cursor format"]);
    expect(placesOf(problemOf(await appliance.json("/v1/envelopes?status=nope")))).toEqual(["?status enum"]);
    expect((await appliance.json("/v1/templates?limit=1")).status).toBe(200);
    expect((await appliance.json("/v1/templates?limit=100")).status).toBe(200);
    for (const limit of ["0", "-1", "1.5", "", "1e1", " 1", "99999999999999999999"])
      expect((await appliance.json(`/v1/templates?limit=${limit}`)).status, limit).toBe(422);
  });

  it("of lists lead from page to page without loss, and a changed cursor nowhere", async () => {
    for (let i = 0; i < 3; i++) await create(JSON.stringify({ name: `page ${i}` }));
    type Page = { data: { id: string }[]; nextCursor: string | null };
    const whole = (await appliance.json("/v1/templates?limit=100")).body as Page;
    const ids: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const suffix = cursor ? `&cursor=${cursor}` : "";
      const page = (await appliance.json(`/v1/templates?limit=1${suffix}`)).body as Page;
      ids.push(...page.data.map(({ id }) => id));
      if (page.nextCursor) {
        const forged = `${page.nextCursor.slice(0, -1)}${page.nextCursor.endsWith("A") ? "B" : "A"}`;
        expect(await codeOf(`/v1/templates?cursor=${forged}`, {})).toBe("validation-failed");
      }
      cursor = page.nextCursor;
    }
    expect(ids).toEqual(whole.data.map(({ id }) => id));
  });
});

describe("bodies that are too large", () => {
  const head = (path: string, more: string) =>
    `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${appliance.keys.live}\r\ncontent-type: application/json\r\n${more}\r\n\r\n`;

  it("are refused at the declared length, before they are sent", async () => {
    const answer = await raw(appliance.url, head("/v1/templates", "connection: close\r\ncontent-length: 99999999999"));
    expect(problemOf(answer)).toMatchObject({ status: 413, code: "payload-too-large" });
  });

  it("are refused as soon as they are too long when no length is declared, with flat memory", async () => {
    const before = await heldBytes();
    for (let round = 0; round < 3; round++) {
      const { hostname, port } = new URL(appliance.url);
      const socket = connect(Number(port), hostname);
      let text = "";
      socket.on("data", (data) => {
        text += data.toString("latin1");
      });
      socket.on("error", () => undefined);
      const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
      socket.write(head("/v1/templates", "transfer-encoding: chunked"));
      const block = Buffer.from(`10000\r\n${" ".repeat(64 * 1024)}\r\n`);
      let sent = 0;
      while (!socket.destroyed && sent < 100 * mib) {
        const room = socket.write(block);
        sent += block.length;
        if (!room) await Promise.race([closed, new Promise((resolve) => socket.once("drain", resolve))]);
        else await nextTurn();
        if (sent === 80 * block.length * 16) expect((await heldBytes()) - before).toBeLessThan(8 * mib);
      }
      socket.destroy();
      await closed;
      expect(text).toContain("HTTP/1.1 413");
      expect(text).toContain("payload-too-large");
      expect(sent).toBeGreaterThanOrEqual(100 * mib);
    }
    expect((await create('{"name":"still here"}')).status).toBe(201);
  });

  it("are refused by content type where an operation takes several", async () => {
    const { body } = await create('{"name":"files"}');
    const path = `/v1/templates/${(body as { id: string }).id}/files`;
    const upload = async (size: number, type: string) =>
      await codeOf(path, { body: new Uint8Array(size), headers: { "content-type": type } });
    expect(await upload(25 * mib + 1, "application/pdf")).toBe("payload-too-large");
    expect(await upload(1024, "application/pdf")).toBe("invalid-document");
    expect(await upload(1024, "image/png")).toBe("unsupported-media-type");
  });

  it("that end early leave no trace but an answer to nobody", async () => {
    const { hostname, port } = new URL(appliance.url);
    const socket = connect(Number(port), hostname);
    socket.write(`${head("/v1/templates", "content-length: 100")}{"name"`);
    await new Promise((resolve) => socket.once("connect", resolve));
    socket.destroy();
    await new Promise((resolve) => socket.once("close", resolve));
    expect((await create('{"name":"still here"}')).status).toBe(201);
  });
});

describe("checks come in the order of the contract", () => {
  // Each request breaks two neighbouring rules; the first one of the list answers.
  const big = JSON.stringify({ name: "x".repeat(2 * mib) });
  const cases: [string, string, () => Promise<string>][] = [
    ["route", "credential", async () => await codeOf("/v1/nothing", { key: null })],
    ["method", "credential", async () => await codeOf("/v1/templates", { key: null, method: "PATCH" })],
    ["credential", "scope", async () => await codeOf("/v1/organization/settings", { key: { bearer: "svc_live_x" } })],
    [
      "scope",
      "size",
      async () => await codeOf("/v1/templates", { key: { bearer: await lesser() }, body: big, headers: json }),
    ],
    [
      "type",
      "idempotency",
      async () =>
        await codeOf("/v1/templates", { body: "x", headers: { "content-type": "text/x", "idempotency-key": "" } }),
    ],
    [
      "size",
      "idempotency",
      async () => await codeOf("/v1/templates", { body: big, headers: { ...json, "idempotency-key": "" } }),
    ],
    [
      "idempotency",
      "syntax",
      async () => await codeOf("/v1/templates", { body: "{", headers: { ...json, "idempotency-key": "" } }),
    ],
    ["syntax", "resource", async () => await codeOf(`${missing}/draft`, { method: "PUT", body: "{", headers: json })],
    ["resource", "schema", async () => await codeOf(`${missing}/draft`, { method: "PUT", body: "{}", headers: json })],
    [
      "query",
      "body",
      async () => placesOf(problemOf(await appliance.json("/v1/envelopes?dry_run=x", { json: {} }))).join(),
    ],
    ["schema", "reference", async () => await codeOf("/v1/envelopes", { json: { template: "tpl_x", recipients: [] } })],
  ];
  const lesser = () => appliance.createKey("live", ["envelope:read"]);
  const expected: Record<string, string> = {
    route: "not-found",
    method: "method-not-allowed",
    credential: "unauthorized",
    scope: "forbidden",
    type: "unsupported-media-type",
    size: "payload-too-large",
    idempotency: "invalid-idempotency-key",
    syntax: "malformed-request",
    resource: "not-found",
    query: "?dry_run enum",
    schema: "validation-failed",
  };
  it.each(cases)("%s before %s", async (first, _second, ask) => {
    expect(await ask()).toBe(expected[first]);
  });
});
