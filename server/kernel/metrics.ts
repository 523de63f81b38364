import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** Asked at each scrape. */
export type QueueMeasures = {
  depths(): Promise<{ queued: number; running: number; dead: number }>;
  /** For how many seconds the first job of each queue has been due; 0 when none waits. */
  ages(): Promise<ReadonlyMap<string, number>>;
};

/** Everything that is counted, in a registry of its own. Labels come from closed sets: never an id, a URL or a name. */
export type Metrics = {
  httpRequests: Counter<"method" | "route" | "status">;
  httpSeconds: Histogram<"method" | "route">;
  jobs: Counter<"name" | "outcome">;
  jobSeconds: Histogram<"name">;
  jobQueue: Gauge<"status">;
  seals: Counter<"outcome">;
  sealSeconds: Histogram;
  rateLimited: Counter<"rule">;
  outbound: Counter<"purpose" | "outcome">;
  /** Names who is asked at each scrape how deep the queues are and how long their first jobs wait. */
  measureQueue(measures: QueueMeasures): void;
  /** The text of the Prometheus exposition format. */
  render(): Promise<{ contentType: string; text: string }>;
};

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  let queue: QueueMeasures | undefined;
  let collecting = false;
  const jobQueue = new Gauge({
    name: "signet_jobs",
    help: "Jobs in the queue by status",
    labelNames: ["status"],
    registers,
    async collect() {
      if (queue === undefined) return;
      const counts = await queue.depths();
      this.set({ status: "queued" }, counts.queued);
      this.set({ status: "running" }, counts.running);
      this.set({ status: "dead" }, counts.dead);
    },
  });
  new Gauge({
    name: "signet_job_queue_age_seconds",
    help: "How long the first job of the queue has been due without being begun",
    labelNames: ["queue"],
    registers,
    async collect() {
      if (queue === undefined) return;
      for (const [name, age] of await queue.ages()) this.set({ queue: name }, age);
    },
  });
  return {
    httpRequests: new Counter({
      name: "signet_http_requests_total",
      help: "Answered requests by route template",
      labelNames: ["method", "route", "status"],
      registers,
    }),
    httpSeconds: new Histogram({
      name: "signet_http_request_seconds",
      help: "Time to answer by route template",
      labelNames: ["method", "route"],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    jobs: new Counter({
      name: "signet_job_attempts_total",
      help: "Attempts to run a job by outcome",
      labelNames: ["name", "outcome"],
      registers,
    }),
    jobSeconds: new Histogram({
      name: "signet_job_seconds",
      help: "Time that a job's attempt took",
      labelNames: ["name"],
      buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
      registers,
    }),
    jobQueue,
    seals: new Counter({ name: "signet_seals_total", help: "Seals by outcome", labelNames: ["outcome"], registers }),
    sealSeconds: new Histogram({
      name: "signet_seal_seconds",
      help: "Time from the start of sealing to the durable sealed document",
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
      registers,
    }),
    rateLimited: new Counter({
      name: "signet_rate_limited_total",
      help: "Refused calls by rule",
      labelNames: ["rule"],
      registers,
    }),
    outbound: new Counter({
      name: "signet_outbound_requests_total",
      help: "Outgoing HTTP calls by purpose and outcome",
      labelNames: ["purpose", "outcome"],
      registers,
    }),
    measureQueue(measures) {
      queue = measures;
    },
    async render() {
      // The observers of the process itself start with the first scrape: an appliance without Prometheus has none.
      if (!collecting) collectDefaultMetrics({ register: registry });
      collecting = true;
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}
