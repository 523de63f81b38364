import { z } from "zod";
import type { ApplianceState, ApplianceStatus } from "../shared/ipc.ts";
import { type Got, get } from "./get.ts";

const Health = z.object({ status: z.literal("ok") });
const Ready = z.object({ status: z.literal("ready") });
const NotReady = z.object({ status: z.literal("not ready"), cause: z.string() });
const Description = z.object({ info: z.object({ version: z.string().max(40) }) });

const certificateCodes = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

export type WatchOptions = {
  /** The current moment. */
  now: () => Date;
  /** How long one answer may take, in milliseconds. */
  timeoutMs: number;
};

/** Looks whether an appliance answers, and remembers since when it has been found as it is. */
export function watchAppliance({ now, timeoutMs }: WatchOptions) {
  let last: ApplianceStatus | undefined;

  /** What the description of the interface says of its version; asked once while the appliance runs. */
  async function apiVersion(url: string): Promise<string | null> {
    if (last?.url === url && last.found.state === "running" && last.found.apiVersion !== null)
      return last.found.apiVersion;
    const got = await get(new URL("/openapi.json", url), timeoutMs);
    return parse(Description, got)?.info.version ?? null;
  }

  async function look(url: string): Promise<ApplianceState> {
    const health = await get(new URL("/healthz", url), timeoutMs);
    if (health.status === null) return failure(health.code, health.connected);
    if (!parse(Health, health)) return { state: "unreachable", cause: "not-signet" };
    const readiness = await get(new URL("/readyz", url), timeoutMs);
    if (readiness.status === null) return failure(readiness.code, readiness.connected);
    if (readiness.status === 200 && parse(Ready, readiness))
      return { state: "running", apiVersion: await apiVersion(url) };
    const cause = parse(NotReady, readiness)?.cause;
    return cause === undefined
      ? { state: "unreachable", cause: "not-signet" }
      : { state: "not-ready", cause: cause.slice(0, 200) };
  }

  return async (url: string): Promise<ApplianceStatus> => {
    const found = await look(url);
    const checkedAt = now().toISOString();
    const same = last !== undefined && last.url === url && sameState(last.found, found);
    const status = { url, found, since: same && last ? last.since : checkedAt, checkedAt };
    last = status;
    return status;
  };
}

function failure(code: string, connected: boolean): ApplianceState {
  if (code === "ECONNREFUSED") return { state: "stopped" };
  if (certificateCodes.has(code)) return { state: "unreachable", cause: "certificate" };
  if (code === "ETIMEDOUT") return connected ? { state: "starting" } : { state: "unreachable", cause: "timeout" };
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return { state: "unreachable", cause: "name" };
  // A connection that was made and then broken off: another protocol, or a server that just went away.
  return { state: "unreachable", cause: connected && code !== "ECONNRESET" ? "not-signet" : "network" };
}

const sameState = (a: ApplianceState, b: ApplianceState) =>
  a.state === b.state && ("cause" in a ? a.cause : null) === ("cause" in b ? b.cause : null);

function parse<T>(schema: z.ZodType<T>, got: Got): T | undefined {
  if (got.status === null) return undefined;
  try {
    return schema.safeParse(JSON.parse(got.body)).data;
  } catch {
    return undefined;
  }
}
