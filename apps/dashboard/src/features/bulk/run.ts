/** Sends rows one after the other, a few at a time, and keeps going through what passes by itself: limits, pauses of the network, a busy service. */

/** What came of one try. */
export type Outcome =
  | { kind: "sent"; envelope: string; existed: boolean }
  /** Refused for good: the same row would be refused again. */
  | { kind: "refused"; message: string; requestId: string | null }
  /** Refused, and so will be every other row: somebody has to do something first. */
  | { kind: "blocked"; message: string; requestId: string | null }
  /** Try again later; nobody has to do anything. `offline`: the service was not reached at all. */
  | { kind: "later"; afterMs: number | null; message: string; requestId: string | null; offline: boolean };

export type RowState =
  | { kind: "waiting" }
  | { kind: "sending" }
  | { kind: "sent"; envelope: string; existed: boolean }
  | { kind: "failed"; message: string; requestId: string | null };

export type RunState = {
  phase: "ready" | "running" | "paused" | "done" | "cancelled";
  rows: ReadonlyMap<number, RowState>;
  counts: { total: number; sent: number; failed: number; waiting: number };
  /** Why nothing is sent at the moment, or why the run stopped. */
  hindrance: { kind: "limited" | "offline" | "blocked"; message: string; requestId: string | null } | null;
};

export type RunOptions = {
  rows: readonly number[];
  /** Rows that have their envelope from an earlier time. */
  sent: Readonly<Record<string, string>>;
  send: (row: number) => Promise<Outcome>;
  /** Resolves after the time or, for whoever is offline, as soon as the network is back. */
  wait: (ms: number, offline: boolean) => Promise<void>;
  atOnce?: number;
};

export type Run = {
  subscribe(listener: () => void): () => void;
  state(): RunState;
  start(): void;
  pause(): void;
  cancel(): void;
  /** Puts the failed rows back into the queue and starts. */
  retryFailed(): void;
};

/** A service that is out of order for longer than these tries is not waited for, row by row. */
const mostTries = 6;

export function createRun({ rows: numbers, sent, send, wait, atOnce = 4 }: RunOptions): Run {
  const rows = new Map<number, RowState>();
  for (const row of numbers) {
    const envelope = sent[String(row)];
    rows.set(row, envelope === undefined ? { kind: "waiting" } : { kind: "sent", envelope, existed: false });
  }
  const tries = new Map<number, number>();
  const listeners = new Set<() => void>();
  let phase: RunState["phase"] = "ready";
  let hindrance: RunState["hindrance"] = null;
  let busy = 0;
  /** Everybody waits for the one who was told to. */
  let rest: Promise<void> | null = null;
  let failures = 0;
  /** Rows to be sent, in their order. */
  const queue = numbers.filter((row) => rows.get(row)?.kind === "waiting");
  const counts = { total: rows.size, sent: rows.size - queue.length, failed: 0, waiting: queue.length };
  let snapshot = describe();

  /** A new object says that something changed; thousands of rows are not copied for that. */
  function describe(): RunState {
    return { phase, rows, counts: { ...counts }, hindrance };
  }

  function set(row: number, state: RowState): void {
    const counted = ({ kind }: RowState) => (kind === "sending" ? "waiting" : kind);
    const before = rows.get(row);
    if (before) counts[counted(before)] -= 1;
    counts[counted(state)] += 1;
    rows.set(row, state);
  }

  function changed(): void {
    snapshot = describe();
    for (const listener of listeners) listener();
  }

  function fill(): void {
    while (phase === "running" && rest === null && busy < atOnce) {
      const row = queue.shift();
      if (row === undefined) break;
      set(row, { kind: "sending" });
      busy += 1;
      void one(row);
    }
    if (phase === "running" && busy === 0 && rest === null && queue.length === 0) phase = "done";
    changed();
  }

  function putBack(row: number): void {
    set(row, { kind: "waiting" });
    queue.unshift(row);
  }

  async function one(row: number): Promise<void> {
    let outcome: Outcome;
    try {
      outcome = await send(row);
    } catch (error) {
      outcome = { kind: "refused", message: error instanceof Error ? error.message : String(error), requestId: null };
    }
    busy -= 1;
    take(row, outcome);
    fill();
  }

  function take(row: number, outcome: Outcome): void {
    switch (outcome.kind) {
      case "sent":
        failures = 0;
        if (hindrance?.kind !== "blocked") hindrance = null;
        set(row, outcome);
        return;
      case "refused":
        failures = 0;
        set(row, { ...outcome, kind: "failed" });
        return;
      case "blocked":
        putBack(row);
        phase = phase === "cancelled" ? phase : "paused";
        hindrance = { kind: "blocked", message: outcome.message, requestId: outcome.requestId };
        return;
      case "later":
        again(row, outcome);
        return;
    }
  }

  function again(row: number, outcome: Extract<Outcome, { kind: "later" }>): void {
    const { message, requestId, offline } = outcome;
    const tried = (tries.get(row) ?? 0) + 1;
    // A limit or a lost network ends by itself; an error of the service may not.
    if (outcome.afterMs === null && !offline) tries.set(row, tried);
    if (tried > mostTries) {
      set(row, { kind: "failed", message, requestId });
      return;
    }
    putBack(row);
    hindrance = { kind: offline ? "offline" : "limited", message, requestId };
    if (rest !== null) return;
    failures += 1;
    const pause = outcome.afterMs ?? Math.min(30_000, 500 * 2 ** Math.min(failures, 6));
    rest = wait(pause, offline).then(() => {
      rest = null;
      fill();
    });
  }

  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    state: () => snapshot,
    start() {
      if (phase === "running") return;
      phase = "running";
      hindrance = null;
      fill();
    },
    pause() {
      if (phase !== "running") return;
      phase = "paused";
      hindrance = null;
      changed();
    },
    cancel() {
      if (phase === "done") return;
      phase = "cancelled";
      hindrance = null;
      changed();
    },
    retryFailed() {
      for (const [row, { kind }] of rows) {
        if (kind !== "failed") continue;
        set(row, { kind: "waiting" });
        queue.push(row);
      }
      tries.clear();
      phase = "running";
      hindrance = null;
      fill();
    },
  };
}
