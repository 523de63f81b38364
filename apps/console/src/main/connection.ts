import { userInfo } from "node:os";
import { z } from "zod";
import { getStatus } from "../../../../server/features/appliance/status-contract.ts";
import { callLocal, type LocalAddress, LocalProblem, NoAppliance } from "../../../../server/local-client.ts";
import type { Connection, ConnectionState } from "../shared/native.ts";
import { readLastStart } from "./last-start.ts";
import type { Store } from "./store.ts";

/** Where the appliance of this machine listens for its administrators, unless the environment names another place. */
export function defaultSocket(platform: NodeJS.Platform, named: string | undefined): string {
  if (named !== undefined && named !== "") return named;
  return platform === "win32" ? "\\\\.\\pipe\\signet-admin" : "/run/signet/admin.sock";
}

export type ConnectionOptions = {
  store: Store;
  /** Used while none is chosen. */
  socket: string;
  now: () => Date;
  /** How long the appliance may take to say how it is, in milliseconds. */
  timeoutMs: number;
};

/** The way to the appliance, and how it was found at the last look. */
export function openConnection({ store, socket, now, timeoutMs }: ConnectionOptions) {
  let last: Connection | null = null;
  const chosen = () => {
    const { connection } = store.get();
    return connection ? { ...connection, byDefault: false } : { socket, remote: false, byDefault: true };
  };
  const address = (): LocalAddress => ({ socket: chosen().socket, operator: operator() });

  /** Asks the appliance how it is; its answer, or a failure, decides the state. */
  async function look(): Promise<Connection> {
    const place = chosen();
    const found = await find(address(), timeoutMs);
    // What lies beside a forwarded socket is not the other machine's.
    const lastStart = found.state === "stopped" && !place.remote ? await readLastStart(place.socket) : null;
    const checkedAt = now().toISOString();
    const same = last !== null && last.socket === place.socket && last.state === found.state;
    const connection = {
      ...found,
      lastStart,
      socket: place.socket,
      remote: place.remote,
      since: same && last ? last.since : checkedAt,
      checkedAt,
    };
    last = connection;
    return connection;
  }
  return { chosen, address, look };
}
export type ApplianceConnection = ReturnType<typeof openConnection>;

/** No more of the status is needed here: an appliance of another version says how it is all the same. */
const getVersion = {
  ...getStatus,
  responses: { 200: { kind: "json", schema: z.object({ version: z.string() }) } },
} as const;

type Found = Pick<Connection, "state" | "detail" | "version">;

async function find(address: LocalAddress, timeoutMs: number): Promise<Found> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const { version } = await callLocal(address, getVersion, {}, { signal });
    return { state: "running", detail: null, version };
  } catch (error) {
    const detail = error instanceof Error ? error.message.slice(0, 500) : null;
    // The connection was taken, or it would have been refused at once.
    if (signal.aborted) return { state: "starting", detail: null, version: null };
    return { state: stateOf(error), detail, version: null };
  }
}

const states = { stopped: "stopped", forbidden: "not-allowed", broken: "broken", "other-version": "broken" } as const;

function stateOf(error: unknown): Exclude<ConnectionState, "running" | "starting"> {
  if (error instanceof NoAppliance) return states[error.reason];
  if (error instanceof LocalProblem) return "broken";
  // An answer of another shape than this console knows.
  return "broken";
}

/** The operating-system user, also where it has no entry in the user database. */
function operator(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
