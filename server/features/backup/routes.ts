import { type Binding, bind } from "../../kernel/binding.ts";
import type { ServerSentEvent } from "../../kernel/endpoint.ts";
import type { Activity } from "./activity.ts";
import * as contract from "./contract.ts";
import * as service from "./service.ts";

/** @param activity what the running process does about backups */
export function createBackupBindings(activity: Activity): Binding[] {
  return [
    bind(contract.getBackupState)({
      handle: async (deps) => ({ status: 200, body: await service.readBackupState(deps, activity) }),
    }),
    bind(contract.followBackup)({
      handle: async (_, { request }) => ({ status: 200, events: follow(activity, request.signal) }),
    }),
    bind(contract.cancelBackup)({
      handle: async (deps, { caller }) => ({
        status: 200,
        body: await service.cancelBackup(deps, activity, caller.actor),
      }),
    }),
    bind(contract.listBackups)({
      handle: async (deps) => ({ status: 200, body: { data: await service.listBackups(deps) } }),
    }),
    bind(contract.startBackup)({
      handle: async (deps, { caller }) => ({
        status: 202,
        body: await service.startBackup(deps, activity, caller.actor),
      }),
    }),
    bind(contract.verifyBackup)({
      handle: async (deps, { caller, params }) => ({
        status: 202,
        body: await service.startVerify(deps, activity, caller.actor, params.id),
      }),
    }),
    bind(contract.startDrill)({
      handle: async (deps, { caller, body }) => ({
        status: 202,
        body: await service.startDrill(deps, activity, caller.actor, body.backup),
      }),
    }),
  ];
}

const pingMs = 15_000;

/** Ends when what runs has ended. */
async function* follow(activity: Activity, signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
  let changed = Promise.withResolvers<"changed">();
  const end = activity.onChange(() => changed.resolve("changed"));
  const gone = () => changed.resolve("changed");
  signal.addEventListener("abort", gone);
  try {
    while (!signal.aborted) {
      const current = activity.current();
      if (current === null) return;
      changed = Promise.withResolvers();
      yield { data: JSON.stringify(current) };
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<"late">((resolve) => {
        timer = setTimeout(() => resolve("late"), pingMs);
      });
      const rung = await Promise.race([changed.promise, late]);
      clearTimeout(timer);
      if (rung === "late") yield { comment: "ping" };
    }
  } finally {
    end();
    signal.removeEventListener("abort", gone);
  }
}
