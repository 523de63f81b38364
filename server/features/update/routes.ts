import type { RunningHost } from "../../feature.ts";
import { createBell, pingMs } from "../../kernel/bell.ts";
import { type Binding, bind } from "../../kernel/binding.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { ServerSentEvent } from "../../kernel/endpoint.ts";
import { AppError } from "../../kernel/errors.ts";
import type { Actor } from "../../kernel/wire.ts";
import { version } from "../../version.ts";
import {
  endMaintenance,
  endProcess,
  followUpdate,
  getUpdate,
  getUpdateHealth,
  holdMaintenance,
  listUpdates,
  verifyUpdate,
} from "./contract.ts";
import { createSelfTest, type SelfTest } from "./self-test.ts";
import { followRuns, listUpdateRuns, readUpdate, verifyUpdateFile } from "./service.ts";

export function createUpdateBindings(host: RunningHost): Binding[] {
  const { installation, maintenance } = host;
  let selfTest: SelfTest | undefined;
  return [
    bind(getUpdate)({
      handle: async () => ({ status: 200, body: await readUpdate(installation, maintenance.state) }),
    }),
    bind(listUpdates)({
      handle: async () => ({ status: 200, body: { data: await listUpdateRuns(installation) } }),
    }),
    bind(verifyUpdate)({
      handle: async (_, { body }) => ({ status: 200, body: await verifyUpdateFile(installation, body.file) }),
    }),
    bind(followUpdate)({
      handle: async (_, { request }) => ({ status: 200, events: followRuns(installation, request.signal) }),
    }),
    bind(holdMaintenance)({
      async handle(deps, { caller, body, request }) {
        if (maintenance.state) throw new AppError("conflict", { detail: "An update is under way already." });
        return { status: 200, events: holdStill(deps, host, { ...body, actor: caller.actor }, request.signal) };
      },
    }),
    bind(endMaintenance)({
      async handle(deps, { body: { id, outcome } }) {
        await maintenance.end(deps, id, outcome);
        host.jobs.wake();
        return { status: 204 };
      },
    }),
    bind(getUpdateHealth)({
      async handle(deps, { query }) {
        selfTest ??= createSelfTest(deps);
        const about = { version, pid: process.pid, maintenance: maintenance.state?.id ?? null };
        const failed = query.try === true ? selfTest.ask() : null;
        return { status: 200, body: { ...about, trouble: await host.trouble(), failed } };
      },
    }),
    bind(endProcess)({
      async handle() {
        const { end } = host;
        if (end === null) throw new AppError("conflict", { detail: "Nobody would start this process again." });
        // The answer goes out first.
        setImmediate(end);
        return { status: 204 };
      },
    }),
  ];
}

type HoldRequest = { id: string; to: string; drainSeconds: number; actor: Actor };

/** Holds still as long as somebody reads this. */
async function* holdStill(
  deps: Deps,
  { maintenance, jobs }: RunningHost,
  { drainSeconds, ...about }: HoldRequest,
  signal: AbortSignal,
): AsyncGenerator<ServerSentEvent> {
  const bell = createBell(signal);
  const step = (name: "draining" | "quiet"): ServerSentEvent => ({ data: JSON.stringify({ step: name }) });
  try {
    yield step("draining");
    await maintenance.begin(deps, jobs, { ...about, from: version }, drainSeconds * 1000);
    yield step("quiet");
    while (!signal.aborted) if (!(await bell.wait(pingMs))) yield { comment: "ping" };
  } catch (err) {
    deps.log.error({ err }, "the appliance could not hold still for an update");
    throw err;
  } finally {
    bell.close();
    await maintenance
      .abandon(deps, about.id)
      .catch((err: unknown) => deps.log.error({ err }, "the maintenance could not be ended"));
    jobs.wake();
  }
}
