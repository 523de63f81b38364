import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { Piscina } from "piscina";
import type { Answer, Ask, Questions } from "../../workers/asking.ts";
import type { TaskName, TaskPorts, TaskResult, Tasks } from "../../workers/protocol.ts";

export type TaskOptions = {
  /** Answer what a seal asks for while it runs. What they throw comes out of `run` unchanged. */
  ports?: TaskPorts;
  signal?: AbortSignal;
  /**
   * The same for the waiting alone: what has begun goes on. A short task costs less than the thread that ends with it, and that
   * the next one must start anew.
   */
  whileWaiting?: AbortSignal;
  /** Milliseconds of work, waiting for a free worker not counted. */
  timeoutMs?: number;
};

/** Runs the pure tasks of `workers/` in threads. */
export type Pool = {
  /**
   * @returns the task's value or its coded failure
   * @throws PoolBusy, TaskTimeout, TaskCrashed (after a second try on a fresh worker), or the reason of a signal
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
  fit: 10_000,
  certificate: 30_000,
  seal: 120_000,
  extend: 120_000,
  verifyPdf: 30_000,
  timestamp: 90_000,
  verifyToken: 10_000,
};
/** Those that read what strangers send: they never take the last thread, so that seals do not wait for them. */
const untrusted: ReadonlySet<TaskName> = new Set(["inspect", "fit", "verifyPdf", "verifyToken"]);
const idleTimeoutMs = 60_000;
const heapLimitMb = 1024;

export type PoolOptions = {
  threads?: number | undefined;
  maxQueue?: number | undefined;
  /** Asked before each task: whether tasks should run one by one, for want of memory. */
  oneByOne?: (() => boolean) | undefined;
  /** The file that the threads run; the tests put in one that misbehaves. */
  file?: URL | undefined;
};

/** Threads start with the first task and end when idle, so an appliance at rest is small and starts fast. */
export function openPool(options: PoolOptions = {}): Pool {
  const threads = options.threads ?? Math.max(2, Math.min(availableParallelism(), 4));
  const maxQueue = options.maxQueue ?? 200;
  const maxUntrusted = Math.max(1, threads - 1);
  const waiting: { task: TaskName; turn: () => void }[] = [];
  /** What is waiting or running, each with what ends it. */
  const begun = new Set<AbortController>();
  const calls = openCalls();
  let closed: Error | undefined;
  let piscina: Promise<Piscina> | undefined;
  let running = 0;
  let runningUntrusted = 0;
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
    pool.on("message", calls.answer);
    // A worker that fails while it has no task; the next task starts another.
    pool.on("error", () => {
      crashed += 1;
    });
    return pool;
  }

  function enter(task: TaskName): boolean {
    const isUntrusted = untrusted.has(task);
    // One goes on in any case, and with its end the next is let in.
    if (running > 0 && options.oneByOne?.() === true) return false;
    if (running >= threads || (isUntrusted && runningUntrusted >= maxUntrusted)) return false;
    running += 1;
    if (isUntrusted) runningUntrusted += 1;
    return true;
  }

  /** Our own queue in front of Piscina's, so that the time limit covers the work and not the waiting. */
  async function slot(task: TaskName, signal: AbortSignal): Promise<void> {
    if (enter(task)) return;
    if (waiting.length >= maxQueue) throw new PoolBusy();
    await new Promise<void>((resolve, reject) => {
      const turn = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const entry = { task, turn };
      const leave = () => {
        waiting.splice(waiting.indexOf(entry), 1);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      waiting.push(entry);
    });
  }

  /** The next in line for which there is room follows. */
  function release(task: TaskName): void {
    running -= 1;
    if (untrusted.has(task)) runningUntrusted -= 1;
    // More than one, where tasks ran one by one and there is memory again.
    for (;;) {
      const next = waiting.findIndex((entry) => enter(entry.task));
      if (next < 0) return;
      waiting.splice(next, 1)[0]?.turn();
    }
  }

  async function attempt<N extends TaskName>(
    task: N,
    input: Tasks[N]["input"],
    signal: AbortSignal,
    ports: TaskPorts | undefined,
  ): Promise<TaskResult<N>> {
    piscina ??= start();
    const pool = await piscina;
    if (ports === undefined) return await pool.run({ task, input }, { signal });
    const call = calls.begin(ports);
    try {
      return await pool.run({ task, input, call: call.id }, { signal });
    } catch (error) {
      throw call.failure ?? error;
    } finally {
      calls.end(call);
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
    async run(task, input, { ports, signal, whileWaiting, timeoutMs = timeouts[task] } = {}) {
      if (closed) throw closed;
      signal?.throwIfAborted();
      whileWaiting?.throwIfAborted();
      // One that is made anew costs less than one that is joined of several.
      const ending = new AbortController();
      const callOff = () => ending.abort(signal?.reason);
      signal?.addEventListener("abort", callOff);
      const stopWaiting = () => ending.abort(whileWaiting?.reason);
      whileWaiting?.addEventListener("abort", stopWaiting);
      begun.add(ending);
      try {
        await slot(task, ending.signal);
        whileWaiting?.removeEventListener("abort", stopWaiting);
        const timer = setTimeout(() => ending.abort(new TaskTimeout(task, timeoutMs)), timeoutMs);
        try {
          const result = await twice(task, sharing(input), ending.signal, ports);
          completed += 1;
          return result;
        } finally {
          clearTimeout(timer);
          release(task);
        }
      } finally {
        begun.delete(ending);
        signal?.removeEventListener("abort", callOff);
        whileWaiting?.removeEventListener("abort", stopWaiting);
      }
    },
    stats: () => ({ threads, running, waiting: waiting.length, completed, crashed }),
    async close() {
      closed = new Error("the worker pool is closed");
      for (const ending of begun) ending.abort(closed);
      const pool = await piscina;
      await pool?.destroy();
    },
  };
}

// Below this a copy costs less than what it takes to share.
const sharedFrom = 256 * 1024;
/** Bytes behind a shared document in which the task may join to it what it appends. */
const roomBehind = 1024 * 1024;

/**
 * A large document is copied once into memory that the thread reads too. Left to the message it would be copied twice,
 * and again for a second try; handed over it would be gone for the second try and for the caller.
 */
function sharing<T extends object>(input: T): T {
  if (!("pdf" in input) || !(input.pdf instanceof Uint8Array) || input.pdf.length < sharedFrom) return input;
  const pdf = new Uint8Array(new SharedArrayBuffer(input.pdf.length + roomBehind), 0, input.pdf.length);
  pdf.set(input.pdf);
  return { ...input, pdf };
}

/** Marks an error of a port, which is the caller's own and no reason to try again. */
class PortFailure extends Error {}

/** A task that may ask. `failure` is the first one of its ports, kept for the caller. */
type Call = { id: number; ports: TaskPorts; failure: PortFailure | undefined };

/**
 * Answers what tasks ask while they run. Each thread opens one channel with its first question and keeps it: to open one
 * for each task costs a tenth of a signature.
 */
function openCalls() {
  const open = new Map<number, Call>();
  let last = 0;

  function reply(port: Questions["port"], { call, id, ask, bytes }: Ask): void {
    const asking = open.get(call);
    // Its thread is being ended.
    if (!asking) return;
    const send = (answer: Answer) => port.postMessage(answer);
    asking.ports[ask](bytes).then(
      (answer) => send({ id, bytes: answer }),
      (cause: unknown) => {
        asking.failure ??= new PortFailure("a port failed", { cause });
        send({ id, error: cause instanceof Error ? cause.message : String(cause) });
      },
    );
  }

  return {
    begin(ports: TaskPorts): Call {
      const call = { id: ++last, ports, failure: undefined };
      open.set(call.id, call);
      return call;
    },
    end: ({ id }: Call) => open.delete(id),
    /** The other end of a thread's channel. */
    answer({ port }: Questions): void {
      port.on("message", (ask: Ask) => reply(port, ask));
      port.unref();
    },
  };
}
