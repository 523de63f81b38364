import type { Config } from "../config.ts";
import type { Blobs } from "./blobs.ts";
import type { Capacity } from "./capacity.ts";
import type { Clock } from "./clock.ts";
import type { Database } from "./db.ts";
import type { Events } from "./events.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { Outbound } from "./outbound.ts";
import type { Pool } from "./pool.ts";
import type { RateLimits } from "./rate-limits.ts";
import type { Secrets } from "./secrets.ts";

/**
 * What features hear of each other, or are asked about, without one importing the other. Whoever tells or asks adds its kind by
 * `declare module "…/kernel/deps.ts" { interface Observers { … } }`; features register in their `feature.ts`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it
export interface Observers {}

/** What a use case may use. Built once in open-deps.ts; nothing else is shared. */
export interface Deps {
  config: Config;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  db: Database;
  blobs: Blobs;
  secrets: Secrets;
  pool: Pool;
  outbound: Outbound;
  events: Events;
  limits: RateLimits;
  capacity: Capacity;
  /** Loaded at the first call: a command that tells nobody anything loads no feature for it. */
  observers: () => Promise<Observers>;
}
