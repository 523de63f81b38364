import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Agent, request } from "undici";
import { waitFor } from "../../server/commands/demo/main-job.ts";
import { loadConfig } from "../../server/config.ts";
import { createApiKey, createOrganization } from "../../server/features/identity/service.ts";
import { queueDeliveries } from "../../server/features/webhooks/deliveries.ts";
import { newSealedSecret } from "../../server/features/webhooks/secrets.ts";
import { insertEndpoint, insertEvents } from "../../server/features/webhooks/store.ts";
import type { EndpointRow, EventRow } from "../../server/features/webhooks/tables.ts";
import { newId } from "../../server/kernel/ids.ts";
import { createLog } from "../../server/kernel/log.ts";
import { openDeps } from "../../server/open-deps.ts";
import { allowing, type Receiver, startReceiver } from "../harness/webhook-receiver.ts";
import { median, percentile, timed } from "./median.ts";
import type { BenchResult } from "./seal.ts";

/** Events to webhooks, against the same POSTs from a bare loop, and with receivers that never answer. */

const rounds = 3;
const port = 18483;
/** About what an envelope with two recipients takes. */
const body = JSON.stringify({ padding: "x".repeat(2500) });

export async function benchWebhooks(): Promise<BenchResult[]> {
  const receiver = await startReceiver();
  try {
    const one: number[] = [];
    const many: number[] = [];
    const alone: number[] = [];
    const mixed: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      bare.push(await bareLoop(receiver, 2000));
      one.push(await deliverAll(receiver, { live: 1, dead: 0, events: 2000 }));
      many.push(await deliverAll(receiver, { live: 20, dead: 0, events: 500 }));
      alone.push(await deliverAll(receiver, { live: 15, dead: 0, events: 500 }));
      mixed.push(await deliverAll(receiver, { live: 15, dead: 5, events: 500 }));
    }
    const perSecond = (count: number, times: number[]) => `${Math.round((count * 1000) / median(times))} a second`;
    const { late, bare: post } = await soon(receiver);
    return [
      {
        name: "webhooks: from the call that stores an event to its arrival, against one bare POST (medians)",
        ratio: median(late) / median(post),
        target: "-",
        detail: `${median(late).toFixed(1)} ms, 95 of 100 within ${percentile(late, 0.95).toFixed(1)} ms; bare ${median(post).toFixed(1)} ms`,
      },
      {
        name: "webhooks: 2 000 events to one endpoint, against a bare loop over connections of their own",
        ratio: median(one) / median(bare),
        target: "-",
        detail: `${perSecond(2000, one)}, bare ${perSecond(2000, bare)}`,
      },
      {
        name: "webhooks: 10 000 to 20 endpoints, a delivery against one of the bare loop",
        ratio: median(many) / 10_000 / (median(bare) / 2000),
        target: "-",
        detail: perSecond(10_000, many),
      },
      {
        name: "webhooks: 500 events to 15 endpoints beside 5 that never answer, against the 15 alone",
        ratio: median(mixed) / median(alone),
        target: "<= 1.2",
        detail: `7 500 deliveries in ${Math.round(median(mixed))} ms; alone ${Math.round(median(alone))} ms`,
      },
    ];
  } finally {
    await receiver.stop();
  }
}

/** A hundred test pings one after the other, and as many bare POSTs in turn with them. */
async function soon(receiver: Receiver): Promise<{ late: number[]; bare: number[] }> {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-bench-events-"));
  const env = envOf(folder, receiver);
  const { key, endpoints } = await prepare(env, receiver, { live: 1, dead: 0, events: 0 });
  const server = start(env);
  const late: number[] = [];
  const bare: number[] = [];
  try {
    const url = `http://127.0.0.1:${port}`;
    await waitFor(
      "the appliance",
      async () => (await fetch(`${url}/readyz`).catch(() => null))?.ok || null,
      30_000,
      20,
    );
    for (let round = -5; round < 100; round += 1) {
      const arrived = Promise.withResolvers<number>();
      receiver.answer = (_call, response) => {
        arrived.resolve(performance.now());
        response.writeHead(204).end();
      };
      const begun = performance.now();
      const headers = { authorization: `Bearer ${key}` };
      await fetch(`${url}/v1/webhook-endpoints/${endpoints[0]}/test`, { method: "POST", headers });
      const took = (await arrived.promise) - begun;
      const alone = await bareLoop(receiver, 1);
      if (round < 0) continue;
      late.push(took);
      bare.push(alone);
    }
  } finally {
    server.kill("SIGKILL");
    await delay(200);
    await rm(folder, { recursive: true, force: true });
  }
  return { late, bare };
}

/** Eight at a time, each over a connection of its own, as deliveries are. @returns milliseconds */
async function bareLoop({ url }: Receiver, count: number): Promise<number> {
  const post = async () => {
    const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
    const answer = await request(url, { method: "POST", body, dispatcher });
    await answer.body.dump();
    await dispatcher.destroy();
  };
  let left = count;
  const lane = async () => {
    while (left-- > 0) await post();
  };
  return await timed(() => Promise.all(Array.from({ length: 8 }, lane)));
}

/** @returns milliseconds from the first to the last delivery at those that answer */
async function deliverAll(
  receiver: Receiver,
  { live, dead, events }: { live: number; dead: number; events: number },
): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-bench-events-"));
  const env = envOf(folder, receiver);
  await prepare(env, receiver, { live, dead, events });
  receiver.received.length = 0;
  receiver.answer = (call, response) => {
    if (call.url?.endsWith("dead") !== true) response.writeHead(204).end();
  };
  const server = start(env);
  try {
    const answered = () => receiver.received.filter(({ path: to }) => !to.endsWith("dead"));
    await waitFor("the deliveries", async () => (answered().length >= live * events ? true : null), 600_000, 50);
    const times = answered().map(({ at }) => at);
    return Math.max(...times) - Math.min(...times);
  } finally {
    server.kill("SIGKILL");
    await delay(200);
    await rm(folder, { recursive: true, force: true });
  }
}

const envOf = (folder: string, receiver: Receiver): Record<string, string> => ({
  SIGNET_DATA_DIR: folder,
  SIGNET_PORT: String(port),
  SIGNET_LOG_LEVEL: "error",
  ...allowing(receiver),
});

async function prepare(
  env: Record<string, string>,
  { url }: Receiver,
  { live, dead, events }: { live: number; dead: number; events: number },
): Promise<{ key: string; endpoints: string[] }> {
  const { deps, close } = await openDeps({ config: loadConfig(env), log: createLog("silent"), createKey: true });
  const owner = { email: "owner@example.com", name: "Olive Owner", password: null };
  const { organization, user } = await createOrganization(deps, { name: "Example Ltd", owner });
  const actor = { type: "user" as const, id: user, name: owner.name, email: owner.email };
  const scopes = ["org:manage"] as const;
  const wish = { name: "bench", mode: "live" as const, scopes: [...scopes] };
  const { key } = await createApiKey(deps, organization, actor, new Set(scopes), wish);
  const now = deps.clock.ts();
  const endpoints = Array.from({ length: live + dead }, (_, index): EndpointRow => {
    const id = newId("whe");
    return {
      id,
      organization,
      test_mode: 0,
      url: `${url}/${index < live ? "live" : "dead"}`,
      description: null,
      events: "[]",
      enabled: 1,
      secret: newSealedSecret(deps, id).sealed,
      previous_secret: null,
      previous_expires_at: null,
      rotated_at: null,
      last_success_at: null,
      last_failure_at: null,
      last_status_code: null,
      failing_since: null,
      alarmed_at: null,
      created_at: now,
      updated_at: now,
    };
  });
  await deps.db.tx(async (tx) => {
    for (const endpoint of endpoints) await insertEndpoint(tx, endpoint);
  });
  for (let done = 0; done < events; done += 50) {
    await deps.db.tx(async (tx) => {
      const rows = Array.from({ length: Math.min(50, events - done) }, (): EventRow => {
        const of = { organization, test_mode: 0, envelope: null, body, created_at: now };
        return { id: newId("evt"), type: "envelope.created", ...of };
      });
      await insertEvents(tx, rows);
      const addressed = rows.flatMap((event) => endpoints.map((endpoint) => ({ endpoint, event })));
      await queueDeliveries(tx, deps, addressed, "event");
    });
  }
  await close();
  return { key, endpoints: endpoints.map(({ id }) => id) };
}

function start(env: Record<string, string>): ChildProcess {
  const main = path.resolve(import.meta.dirname, "../../server/main.ts");
  return spawn(process.execPath, [main, "serve"], {
    env: { PATH: process.env.PATH ?? "", ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
}
