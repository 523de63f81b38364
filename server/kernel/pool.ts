import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import type { Piscina } from "piscina";
import type { TaskName, TaskPorts, TaskResult, Tasks } from "../../workers/protocol.ts";
import type { Answer, Ask } from "../../workers/tasks.ts";

export type TaskOptions = {
  /** Answer what a seal asks for while it runs. What they throw comes out of `run` unchanged. */
  ports?: TaskPorts;
  signal?: AbortSignal;
  /** Milliseconds of work, waiting for a free worker not counted. */
  timeoutMs?: number;
};

/** Runs the pure tasks of `workers/` in threads. */
export type Pool = {
  /**
   * @returns the task's value or its coded failure
   * @throws PoolBusy, TaskTimeout, TaskCrashed (after a second try on a fresh worker), or the reason of the signal
   */
  run<N extends TaskName>(task: N, input: Tasks[N]["input"], options?: TaskOptions): Promise<TaskResult<N>>;
  stats(): { threads: number; running: number; waiting: number; completed: number; crashed: number };
  /** Refuses new tasks, ends the running ones. */
  close(): Promise<void>;
};

/** So many tasks wait already that another would only wait in vain; try again later. */
export class PoolBusy extends Error {
  constructor() {
    super("too many tasks wait for a worker");
    this.name = "PoolBusy";
  }
}

export class TaskTimeout extends Error {
  constructor(task: string, timeoutMs: number) {
    super(`the task ${task} took longer than ${timeoutMs} ms`);
    this.name = "TaskTimeout";
  }
}

/** A worker ended or threw, twice. */
export class TaskCrashed extends Error {
  constructor(task: string, cause: unknown) {
    super(`the task ${task} crashed`, { cause });
    this.name = "TaskCrashed";
  }
}

const timeouts: Record<TaskName, number> = {
  inspect: 15_000,
  stamp: 60_000,
  certificate: 30_000,
  seal: 120_000,
  verifyPdf: 60_000,
};
const idleTimeoutMs = 60_000;
const heapLimitMb = 1024;

export type PoolOptions = {
  threads?: number | undefined;
  maxQueue?: number | undefined;
  /** The file that the threads run; the tests put in one that misbehaves. */
  file?: URL | undefined;
};

/** Threads start with the first task and end when idle, so an appliance at rest is small and starts fast. */
export function openPool(options: PoolOptions = {}): Pool {
  const threads = options.threads ?? Math.max(1, Math.min(availableParallelism(), 4));
  const maxQueue = options.maxQueue ?? 200;
  const waiting: (() => void)[] = [];
  const closing = new AbortController();
  let piscina: Promise<Piscina> | undefined;
  let running = 0;
  let completed = 0;
  let crashed = 0;

  async function start(): Promise<Piscina> {
    // The typesetter adds the fonts of the system to its own unless fontconfig is told of a folder without any; it reads
    // the environment of the process, which a thread cannot change.
    process.env.FONTCONFIG_FILE ??= fileURLToPath(new URL("../../workers/typst/fonts.conf", import.meta.url));
    const { Piscina } = await import("piscina");
    const pool = new Piscina({
      filename: (options.file ?? new URL("../../workers/tasks.ts", import.meta.url)).href,
      minThreads: 0,
      maxThreads: threads,
      idleTimeout: idleTimeoutMs,
      resourceLimits: { maxOldGenerationSizeMb: heapLimitMb },
      recordTiming: false,
    });
    // A worker that fails while it has no task; the next task starts another.
    pool.on("error", () => {
      crashed += 1;
    });
    return pool;
  }

  /** Our own queue in front of Piscina's, so that the time limit covers the work and not the waiting. */
  async function slot(signal: AbortSignal): Promise<void> {
    if (running < threads) {
      running += 1;
      return;
    }
    if (waiting.length >= maxQueue) throw new PoolBusy();
    await new Promise<void>((resolve, reject) => {
      const turn = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        waiting.splice(waiting.indexOf(turn), 1);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      waiting.push(turn);
    });
  }

  function release(): void {
    // The slot goes straight to the next in line, so `running` stays as it is.
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }

  async function attempt<N extends TaskName>(
    task: N,
    input: Tasks[N]["input"],
    signal: AbortSignal,
    ports: TaskPorts | undefined,
  ): Promise<TaskResult<N>> {
    piscina ??= start();
    const pool = await piscina;
    const bridge = ports === undefined ? undefined : openBridge(ports);
    const message = bridge === undefined ? { task, input } : { task, input, port: bridge.remote };
    try {
      return await pool.run(message, { signal, transferList: bridge === undefined ? [] : [bridge.remote] });
    } catch (error) {
      throw bridge?.failure ?? error;
    } finally {
      bridge?.close();
    }
  }

  async function twice<N extends TaskName>(
    task: N,
    input: Tasks[N]["input"],
    signal: AbortSignal,
    ports: TaskPorts | undefined,
  ): Promise<TaskResult<N>> {
    for (let left = 1; ; left -= 1) {
      try {
        return await attempt(task, input, signal, ports);
      } catch (error) {
        if (error instanceof PortFailure) throw error.cause;
        if (signal.aborted) throw signal.reason;
        crashed += 1;
        if (left === 0) throw new TaskCrashed(task, error);
      }
    }
  }

  return {
    async run(task, input, { ports, signal, timeoutMs = timeouts[task] } = {}) {
      closing.signal.throwIfAborted();
      signal?.throwIfAborted();
      const ended = signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal]);
      await slot(ended);
      const limit = new AbortController();
      const timer = setTimeout(() => limit.abort(new TaskTimeout(task, timeoutMs)), timeoutMs);
      try {
        const result = await twice(task, sharing(input), AbortSignal.any([ended, limit.signal]), ports);
        completed += 1;
        return result;
      } finally {
        clearTimeout(timer);
        release();
      }
    },
    stats: () => ({ threads, running, waiting: waiting.length, completed, crashed }),
    async close() {
      closing.abort(new Error("the worker pool is closed"));
      const pool = await piscina;
      await pool?.destroy();
    },
  };
}

// Below this a copy costs less than what it takes to share.
const sharedFrom = 256 * 1024;

/**
 * A large document is copied once into memory that the thread reads too. Left to the message it would be copied twice,
 * and again for a second try; handed over it would be gone for the second try and for the caller.
 */
function sharing<T extends object>(input: T): T {
  if (!("pdf" in input) || !(input.pdf instanceof Uint8Array) || input.pdf.length < sharedFrom) return input;
  const pdf = new Uint8Array(new SharedArrayBuffer(input.pdf.length));
  pdf.set(input.pdf);
  return { ...input, pdf };
}

/** Marks an error of a port, which is the caller's own and no reason to try again. */
class PortFailure extends Error {}

/** Answers a worker's questions over a channel. The first failure of a port is kept for the caller. */
function openBridge(ports: TaskPorts): { remote: MessagePort; failure: PortFailure | undefined; close(): void } {
  const { port1, port2 } = new MessageChannel();
  const bridge = { remote: port2, failure: undefined as PortFailure | undefined, close: () => port1.close() };
  port1.on("message", ({ id, ask, bytes }: Ask) => {
    const reply = (answer: Answer) => port1.postMessage(answer);
    ports[ask](bytes).then(
      (answer) => reply({ id, bytes: answer }),
      (cause: unknown) => {
        bridge.failure ??= new PortFailure("a port failed", { cause });
        reply({ id, error: cause instanceof Error ? cause.message : String(cause) });
      },
    );
  });
  return bridge;
}
