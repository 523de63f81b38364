import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { Piscina } from "piscina";
import type { Answer, Ask, Questions } from "../../workers/asking.ts";
import type { ParsingTasks, SealingTasks, TaskName, TaskPorts, TaskResult, Tasks } from "../../workers/protocol.ts";
import { compileCacheFolder } from "./compile-cache.ts";
import { plainData } from "./plain-data.ts";
import { openTaskQueue } from "./task-queue.ts";

export { PoolBusy } from "./task-queue.ts";

export type TaskOptions = {
  signal?: AbortSignal;
  /**
   * The same for the waiting alone: what has begun goes on. A short task costs less than the thread that ends with it, and that
   * the next one must start anew.
   */
  whileWaiting?: AbortSignal;
  /** Milliseconds of work, waiting for a free worker not counted. */
  timeoutMs?: number;
};
/** `ports` answer what a seal asks for while it runs. What they throw comes out of `run` unchanged. */
export type SealingOptions = TaskOptions & { ports?: TaskPorts };
type OptionsOf<N extends TaskName> = N extends keyof SealingTasks ? SealingOptions : TaskOptions & { ports?: never };

/** Runs the pure tasks of `workers/` in threads: those on bytes from outside in others than those that sign. */
export type Pool = {
  /**
   * @returns the task's value or its coded failure
   * @throws PoolBusy, TaskTimeout, TaskCrashed (after a second try on a fresh worker), or the reason of a signal;
   * TypeError when a parsing task is given anything but plain data
   */
  run<N extends TaskName>(task: N, input: Tasks[N]["input"], options?: OptionsOf<N>): Promise<TaskResult<N>>;
  stats(): { threads: number; running: number; waiting: number; completed: number; crashed: number };
  /** Refuses new tasks, ends the running ones. */
  close(): Promise<void>;
};

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

type Kind<Threads extends "parsing" | "sealing"> = {
  threads: Threads;
  /** `uploads` and `pictures` come from outside: neither takes the last thread by itself. `own` is what envelopes wait for. */
  lane: "uploads" | "pictures" | "own";
  /** Milliseconds. */
  timeout: number;
};

const kinds: { [N in keyof ParsingTasks]: Kind<"parsing"> } & { [N in keyof SealingTasks]: Kind<"sealing"> } = {
  inspect: { threads: "parsing", lane: "uploads", timeout: 15_000 },
  propose: { threads: "parsing", lane: "uploads", timeout: 20_000 },
  takeProposals: { threads: "parsing", lane: "uploads", timeout: 60_000 },
  readPicture: { threads: "parsing", lane: "pictures", timeout: 30_000 },
  stamp: { threads: "parsing", lane: "own", timeout: 60_000 },
  fit: { threads: "parsing", lane: "uploads", timeout: 10_000 },
  certificate: { threads: "parsing", lane: "own", timeout: 30_000 },
  verifyPdf: { threads: "parsing", lane: "uploads", timeout: 30_000 },
  verifyToken: { threads: "parsing", lane: "uploads", timeout: 10_000 },
  seal: { threads: "sealing", lane: "own", timeout: 120_000 },
  extend: { threads: "sealing", lane: "own", timeout: 120_000 },
  timestamp: { threads: "sealing", lane: "own", timeout: 90_000 },
};
const idleTimeoutMs = 60_000;
const heapLimitMb = 1024;

export type PoolOptions = {
  /** How many tasks run at once, those of all threads together. */
  threads?: number | undefined;
  /** How many may wait in each lane. */
  maxQueue?: number | undefined;
  /** Asked before each task: whether tasks should run one by one, for want of memory. */
  oneByOne?: (() => boolean) | undefined;
  /** The file that all threads run; the tests put in one that misbehaves. */
  file?: URL | undefined;
};

/** Threads start with the first task and end when idle, so an appliance at rest is small and starts fast. */
export function openPool(options: PoolOptions = {}): Pool {
  const threads = options.threads ?? Math.max(2, Math.min(availableParallelism(), 4));
  const butOne = Math.max(1, threads - 1);
  const queue = openTaskQueue({
    places: threads,
    lanes: { uploads: butOne, pictures: butOne, own: threads },
    // Seals hold their places while they wait for the network: nobody's signature waits for that.
    besides: "pictures",
    maxWaiting: options.maxQueue ?? 200,
    oneByOne: options.oneByOne,
  });
  /** What is waiting or running, each with what ends it. */
  const begun = new Set<AbortController>();
  const calls = openCalls();
  let closed: Error | undefined;
  let completed = 0;
  let crashed = 0;
  // A worker that fails while it has no task; the next task starts another.
  const failed = () => {
    crashed += 1;
  };
  const files = {
    parsing: options.file ?? new URL("../../workers/parsing-tasks.ts", import.meta.url),
    sealing: options.file ?? new URL("../../workers/sealing-tasks.ts", import.meta.url),
  };
  const sets = {
    // What these ask is not heard: one that was taken over could ask for a signature in the name of a seal.
    parsing: lazyThreads({ file: files.parsing, threads: threads + 1, failed }),
    sealing: lazyThreads({ file: files.sealing, threads, failed, heard: calls.answer }),
  };

  async function attempt<N extends TaskName>(
    task: N,
    input: unknown,
    signal: AbortSignal,
    ports: TaskPorts | undefined,
  ): Promise<TaskResult<N>> {
    const set = await sets[kinds[task].threads].started();
    if (ports === undefined) return await set.run({ task, input }, { signal });
    const call = calls.begin(ports);
    try {
      return await set.run({ task, input, call: call.id }, { signal });
    } catch (error) {
      throw call.failure ?? error;
    } finally {
      calls.end(call);
    }
  }

  async function twice<N extends TaskName>(
    task: N,
    input: unknown,
    signal: AbortSignal,
    ports: TaskPorts | undefined,
  ): Promise<TaskResult<N>> {
    for (let left = 1; ; left -= 1) {
      try {
        signal.throwIfAborted();
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
    async run(task, input, options = {}) {
      const { threads: set, lane, timeout } = kinds[task];
      const { ports, signal, whileWaiting, timeoutMs = timeout } = options;
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
        await queue.enter(lane, ending.signal);
        whileWaiting?.removeEventListener("abort", stopWaiting);
        const timer = setTimeout(() => ending.abort(new TaskTimeout(task, timeoutMs)), timeoutMs);
        try {
          const shared = sharing(input);
          const data = set === "parsing" ? plainData(shared) : shared;
          const result = await twice(task, data, ending.signal, ports);
          completed += 1;
          return result;
        } finally {
          clearTimeout(timer);
          queue.leave(lane);
        }
      } finally {
        begun.delete(ending);
        signal?.removeEventListener("abort", callOff);
        whileWaiting?.removeEventListener("abort", stopWaiting);
      }
    },
    stats: () => ({ threads, ...queue.stats(), completed, crashed }),
    async close() {
      closed = new Error("the worker pool is closed");
      for (const ending of begun) ending.abort(closed);
      await Promise.all([sets.parsing.close(), sets.sealing.close()]);
    },
  };
}

type ThreadsOptions = {
  file: URL;
  threads: number;
  /** Called when a thread ends that had no task. */
  failed: () => void;
  /** Takes what threads post besides their results. */
  heard?: (message: Questions) => void;
};

/** Threads that run one file, all of them started when there is something to do. */
function lazyThreads({ file, threads, failed, heard }: ThreadsOptions) {
  let piscina: Promise<Piscina> | undefined;

  async function start(): Promise<Piscina> {
    // The typesetter adds the fonts of the system to its own unless fontconfig is told of a folder without any; it reads
    // the environment of the process, which a thread cannot change.
    process.env.FONTCONFIG_FILE ??= fileURLToPath(new URL("../../workers/typst/fonts.conf", import.meta.url));
    const { Piscina } = await import("piscina");
    const set = new Piscina({
      filename: file.href,
      minThreads: 0,
      maxThreads: threads,
      idleTimeout: idleTimeoutMs,
      resourceLimits: { maxOldGenerationSizeMb: heapLimitMb },
      recordTiming: false,
      // Settings hold passwords and tokens: no thread needs them. The cache of compiled code is told by the environment.
      env: { NODE_COMPILE_CACHE: compileCacheFolder },
    });
    if (heard) set.on("message", heard);
    set.on("error", failed);
    return set;
  }

  return {
    started: () => (piscina ??= start()),
    close: async () => await (await piscina)?.destroy(),
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
