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

/** What a use case may use. Built once in open-deps.ts; nothing else is shared. `server/feature.ts` adds the observers. */
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
}
