import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertEntries } from "../../../server/features/envelopes/audit-store.ts";
import { createApiKey } from "../../../server/features/identity/service.ts";
import { systemActor } from "../../../server/kernel/wire.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { shiftingClock } from "../../harness/clock.ts";
import {
  createEnvelope,
  getEnvelope,
  publishTemplate as publishSimple,
  sentEnvelope,
  streamed,
  trailOf,
} from "../../harness/envelopes.ts";
import { enter, ok, publishTemplate, submission } from "../../harness/scenario.ts";

const clock = shiftingClock();
const streamsPerCaller = 5;
let app: TestAppliance;
beforeAll(async () => {
  app = await startAppliance({ clock, env: { SIGNET_STREAMS_PER_CALLER: String(streamsPerCaller) } });
});
afterAll(() => app.stop());

const owner = { type: "system" as const, id: null, name: null, email: null };

test.concurrent("an idle stream says every fifteen seconds that it lives, and ends then when its key has expired", async ({
  expect,
}) => {
  const { id } = await sentEnvelope(app, await publishSimple(app));
  const scopes = new Set(["envelope:read" as const]);
  const input = { name: "for a day", mode: "live" as const, expiresInDays: 1 };
  const { key: bearer } = await createApiKey(app.deps, app.organization, owner, scopes, input);
  const follow = async (key: "live" | { bearer: string }) => {
    const { body } = await app.call(`/v1/envelopes/${id}/events/stream`, { key, headers: { "last-event-id": "1000" } });
    return body?.pipeThrough(new TextDecoderStream()).getReader();
  };
  const [lasting, short] = [await follow("live"), await follow({ bearer })];
  for (const reader of [lasting, short]) expect((await reader?.read())?.value).toBe("retry: 3000\n\n");
  clock.shift(25 * 3_600_000);
  expect(await Promise.all([lasting?.read(), short?.read()])).toEqual([
    { done: false, value: ": ping\n\n" },
    { done: true, value: undefined },
  ]);
  await lasting?.cancel();
}, 30_000);

/** What came over a connection that answers with an event stream: the ids in their order. */
const idsIn = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));

test.concurrent("a client that does not read is cut after ten seconds, and comes back to what it missed", async ({
  expect,
}) => {
  const { id } = await sentEnvelope(app, await publishSimple(app));
  const length = await lengthenTrail(id, 12_000);
  const bearer = await app.createKey("live");
  const { host, hostname, port } = new URL(app.url);
  const clients: { socket: Socket; closed: Promise<unknown> }[] = [];
  for (let count = 0; count < streamsPerCaller; count += 1) {
    const socket = connect({ host: hostname, port: Number(port) });
    // A reset is one of the ways in which the server may hang up.
    socket.on("error", () => undefined);
    clients.push({ socket, closed: new Promise((resolve) => socket.once("close", resolve)) });
    await once(socket, "connect");
    socket.write(
      `GET /v1/envelopes/${id}/events/stream HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${bearer}\r\n\r\n`,
    );
  }
  // Every place is taken until the server gives it back by itself.
  const free = async () => {
    const gone = new AbortController();
    const path = `/v1/envelopes/${id}/events/stream`;
    const all = clients.map(() => app.call(path, { key: { bearer }, signal: gone.signal }));
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    gone.abort();
    return statuses.filter((status) => status === 200).length;
  };
  for (const { socket } of clients) await expect.poll(() => socket.bytesRead).toBeGreaterThan(0);
  expect(await free()).toBe(0);
  const begun = performance.now();
  await expect.poll(free, { timeout: 20_000, interval: 250 }).toBe(streamsPerCaller);
  expect(performance.now() - begun).toBeGreaterThan(8000);
  const texts = await Promise.all(
    clients.map(async ({ socket, closed }) => {
      let text = "";
      socket.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      await closed;
      return text;
    }),
  );
  for (const text of texts) {
    const ids = idsIn(text);
    expect(ids).toEqual(ids.map((_, index) => index + 1));
    // What the system holds for a connection is all that was ever written for it.
    expect(ids.length).toBeLessThan(length);
  }
  const last = idsIn(texts[0] ?? "").at(-1) ?? 0;
  const rest: number[] = [];
  const headers = { "last-event-id": String(last) };
  for await (const event of streamed(await app.call(`/v1/envelopes/${id}/events/stream`, { headers }))) {
    if (event.id !== undefined) rest.push(Number(event.id));
    if (rest.at(-1) === length) break;
  }
  expect(rest).toEqual(Array.from({ length: length - last }, (_, index) => last + 1 + index));
}, 60_000);

/** Many more entries, of a kilobyte and a half each; their chain does not hold, which no stream looks at. */
async function lengthenTrail(id: string, more: number): Promise<number> {
  const { data: entries } = await trailOf(app, id);
  const length = entries.length + more;
  const last = entries.at(-1);
  if (!last) throw new Error("no entries");
  const made = Array.from({ length: more }, (_, index) => ({
    ...last,
    v: 1 as const,
    id: `${last.id}-${index}`,
    seq: entries.length + 1 + index,
    actor: systemActor,
    data: { filler: "x".repeat(1500) },
  }));
  await app.deps.db.tx(async (tx) => {
    for (let at = 0; at < made.length; at += 1000) await insertEntries(tx, made.slice(at, at + 1000));
    await tx.updateTable("envelopes").set({ audit_length: length }).where("id", "=", id).execute();
  });
  return length;
}

/**
 * Follows an envelope to its end as a client does whose connection breaks again and again.
 * @param patience after how many events, and at most how many milliseconds, each connection breaks
 */
async function followWithBreaks(path: string, patience: readonly { events: number; ms: number }[], query = "") {
  const got: string[] = [];
  let last: string | undefined;
  for (let turn = 0; ; turn += 1) {
    const { events, ms } = patience[turn % patience.length] ?? { events: 1, ms: 10 };
    const gone = new AbortController();
    const timer = setTimeout(() => gone.abort(), ms);
    try {
      const headers: Record<string, string> = last === undefined ? {} : { "last-event-id": last };
      const response = await app.call(`${path}${query}`, { headers, signal: gone.signal });
      if (response.status === 204) return got;
      // Until the server has noticed that the connections before are gone.
      if (response.status === 429) await delay(20);
      else if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
      let seen = 0;
      for await (const event of streamed(response)) {
        if (event.event === "end") return got;
        if (event.id === undefined) continue;
        last = event.id;
        got.push(event.id);
        seen += 1;
        if (seen >= events) break;
      }
    } catch (error) {
      // Refused, cut or aborted: like any client it waits a moment and comes back.
      if (error instanceof Error && error.message.includes("answered")) throw error;
      await delay(20);
    } finally {
      clearTimeout(timer);
      gone.abort();
    }
  }
}

test("whoever comes back with Last-Event-ID loses and doubles nothing, while the server is restarted too", async () => {
  const template = await publishTemplate(app);
  const patience = fc.array(
    fc.record({ events: fc.integer({ min: 1, max: 3 }), ms: fc.integer({ min: 5, max: 300 }) }),
    {
      minLength: 1,
      maxLength: 6,
    },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(patience, { minLength: 3, maxLength: 3 }), fc.nat({ max: 2 }), async (all, restartAt) => {
      const { id } = await createEnvelope(app, template, {
        recipients: [
          { role: "Tenant", name: "Ada", email: "ada@example.com" },
          { role: "Landlord", name: "Ben", email: "ben@example.com" },
        ],
        variables: {},
      });
      const path = `/v1/envelopes/${id}/events/stream`;
      const followers = all.map((one) => followWithBreaks(path, one));
      for (const [step, email] of ["ada@example.com", "ben@example.com"].entries()) {
        await app.jobs.idle();
        if (restartAt === step) await app.restart();
        const bearer = await enter(app, email);
        const key = { bearer };
        await ok(app, 200, "/v1/signing/submit", { key, json: await submission(app, bearer) });
      }
      if (restartAt === 2) await app.restart();
      await app.jobs.idle();
      await expect.poll(async () => (await getEnvelope(app, id)).seal).toBe("sealed");
      const expected = (await trailOf(app, id)).data.map(({ seq }) => String(seq));
      expect(expected.length).toBeGreaterThan(8);
      for (const got of await Promise.all(followers)) expect(got).toEqual(expected);
    }),
    { numRuns: 2 },
  );
}, 120_000);
