import { Writable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLog } from "../../../server/kernel/log.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";
import { streamed } from "../../harness/envelopes.ts";
import { ok, publishTemplate, send } from "../../harness/scenario.ts";
import { exchangeViewer, statusFor, viewerToken } from "../../harness/viewers.ts";

const clock = movableClock();
let app: TestAppliance;
let template: string;
let logged = "";

beforeAll(async () => {
  const lines = new Writable({
    write(chunk: Buffer, _encoding, done) {
      logged += chunk.toString();
      done();
    },
  });
  app = await startAppliance({ clock, log: createLog("debug", lines) });
  template = await publishTemplate(app);
});
afterAll(async () => app.stop());

async function open(email: string) {
  const { id } = await send(app, template, { envelope: { viewers: [{ email }] } });
  const { accessToken, viewer } = await exchangeViewer(app, await viewerToken(app, email));
  await statusFor(app, accessToken);
  const connect = async (headers: Record<string, string> = {}) => {
    const response = await app.call(`/v1/viewer/stream?access_token=${accessToken}`, { key: null, headers });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const events = streamed(response);
    expect((await events.next()).value).toEqual({ retry: "3000" });
    return events;
  };
  return { id, viewer, accessToken, connect };
}

const addViewer = (id: string, email: string) =>
  ok(app, 200, `/v1/envelopes/${id}/viewers`, { json: { viewers: [{ email }] } });

test("a change is told with its place, and what was missed is told to who comes back", async () => {
  const { id, connect, accessToken } = await open("a@example.org");
  const events = await connect();
  const { id: _, ...before } = (await ok(app, 200, `/v1/envelopes/${id}/events`)).body as {
    id?: string;
    data: unknown[];
  };
  await addViewer(id, "b@example.org");
  const { value } = await events.next();
  expect(value).toEqual({
    event: "update",
    id: String(before.data.length + 1),
    data: JSON.stringify({ at: clock.ts() }),
  });
  await events.return(undefined);
  const again = await connect({ "last-event-id": "1" });
  expect((await again.next()).value).toMatchObject({ event: "update", id: String(before.data.length + 1) });
  await again.return(undefined);
  await app.deps.db.tx(async () => undefined);
  expect(logged).toContain("/v1/viewer/stream");
  expect(logged).not.toContain(accessToken);
});

test("a stream ends with its viewer", async () => {
  const { id, viewer, connect } = await open("c@example.org");
  const events = await connect();
  await ok(app, 204, `/v1/envelopes/${id}/viewers/${viewer}`, { method: "DELETE" });
  expect((await events.next()).value).toEqual({ event: "expired", data: "{}" });
  expect((await events.next()).done).toBe(true);
});

test("a stream ends with its access", async () => {
  const { id, connect } = await open("d@example.org");
  const events = await connect();
  clock.advance(61 * 60_000);
  await addViewer(id, "e@example.org");
  expect((await events.next()).value).toEqual({ event: "expired", data: "{}" });
  expect((await events.next()).done).toBe(true);
});

test("whoever follows a stream does not hold up the end of the service", async () => {
  const { connect } = await open("f@example.org");
  const events = await connect();
  const begun = performance.now();
  const ended = events.next().then(
    () => performance.now() - begun,
    () => performance.now() - begun,
  );
  await app.restart();
  // Without hanging up, the service would wait ten seconds for whoever follows.
  expect(await ended).toBeLessThan(8000);
});
