import { compileCacheFolder } from "../../kernel/compile-cache.ts";
import { askHelper, type Helper, startHelper, type Watched } from "./helper-process.ts";
import { BackupDamaged, damagedCode } from "./manifest.ts";
import type { Asked, Failure, Message, Order, Outcome, Progress, TargetOrder } from "./steps.ts";
import { StepLost, TargetSilent } from "./target-errors.ts";

/** What a step met: the error of the machine (its code), or a part of a backup that is damaged. */
class StepFailed extends Error {
  readonly code: string;
  override name = "StepFailed";
  constructor(message: string, code: string | null, cause: Error | undefined) {
    super(message, { cause });
    this.code = code ?? damagedCode;
  }
}

/** The error that another process met. */
export function fromFailure({ message, code, cause }: Failure): Error {
  const inner = cause === null ? undefined : fromFailure(cause);
  return code === damagedCode ? new BackupDamaged(message, { cause: inner }) : new StepFailed(message, code, inner);
}

/** To start a process and load its code costs more than most steps: one waits so long for the next step, and keeps nothing up. */
const restMs = 5000;
let resting: (Helper & { end: NodeJS.Timeout }) | null = null;

function takeResting(): Helper | null {
  const taken = resting;
  if (!taken) return null;
  resting = null;
  clearTimeout(taken.end);
  taken.child.ref();
  taken.child.channel?.ref();
  return taken;
}

/** A thread beside the one that answers would slow it down: starting `sync` and touching fresh memory hold up the whole process. */
function start(): Helper {
  const helper = startHelper(new URL("./step-process.ts", import.meta.url), {
    args: [String(process.pid)],
    env: helperEnvironment(),
    serialization: "advanced",
  });
  const { child } = helper;
  // Nobody may take one that ended, or that hears nothing.
  const forget = () => {
    if (resting?.child !== child) return;
    clearTimeout(resting.end);
    resting = null;
  };
  child.on("error", forget).on("disconnect", forget).on("exit", forget);
  return helper;
}

/** What it takes to run, to start fast and to find `sync`. Settings hold secrets, and who waits for a word of this process wants none of that one. */
export function helperEnvironment(): NodeJS.ProcessEnv {
  const needed = ["PATH", "SystemRoot", "LD_LIBRARY_PATH", "OPENSSL_CONF", "OPENSSL_MODULES"];
  return {
    ...Object.fromEntries(needed.map((name) => [name, process.env[name]])),
    NODE_COMPILE_CACHE: compileCacheFolder,
  };
}

/** Of two that rest one is enough. */
function layDown(helper: Helper): void {
  const { child } = helper;
  if (!child.connected) return;
  if (resting) return void child.kill("SIGKILL");
  const end = setTimeout(() => {
    resting = null;
    child.kill("SIGKILL");
  }, restMs);
  resting = { ...helper, end: end.unref() };
  child.unref();
  child.channel?.unref();
}

type Told = { told?: ((progress: Progress) => void) | undefined };

/**
 * Runs one step in a process beside this one. When it has ended, so has the step, however it ended: whoever holds locks for it may
 * let them go.
 * @throws the reason of the signal when it is aborted, StepLost, and what the step throws
 */
export async function runInProcess(order: Order, watched: Watched & Told = {}): Promise<Outcome> {
  const message = await send(order, watched);
  if ("outcome" in message) return message.outcome;
  throw new StepLost(`the step ${order.step} was answered as if it were another`);
}

type Patience = {
  /** From when the process calls the system: it may be long in starting on a busy machine. Without it, it waits for ever. */
  patienceMs?: number;
  /** Waits until nothing of it goes on; who only reads may leave behind what nothing ends. */
  writes?: boolean;
};

/**
 * Has something done in the folder of backups, which may be on a share that answers nothing any more.
 * @throws the reason of the signal when it is aborted, TargetSilent, StepLost, and what the call throws
 */
export async function askTarget(
  order: TargetOrder,
  { patienceMs, writes, ...watched }: Watched & Patience,
): Promise<unknown> {
  if (patienceMs === undefined) return valueIn(await send(order, watched));
  const late = waitAtMost(order.folder, patienceMs);
  try {
    return valueIn(await send(order, { ...watched, signal: late.signal, begun: late.begin, leave: !writes }));
  } finally {
    late.end();
  }
}

/** A limit of time for what is asked of the folder of backups. @returns `begin` starts it, `signal` is aborted with TargetSilent */
export function waitAtMost(folder: string, patienceMs: number) {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  return {
    signal: late.signal,
    begin() {
      timer ??= setTimeout(() => late.abort(new TargetSilent(folder, patienceMs)), patienceMs);
    },
    end: () => clearTimeout(timer),
  };
}

function valueIn(message: Done): unknown {
  if ("value" in message) return message.value;
  throw new StepLost("a call was answered as if it were a step");
}

type Answer = Exclude<Message, { progress: Progress } | { begun: true }>;
type Done = Exclude<Answer, { failure: Failure }>;

type Sent = Watched & Told & { begun?: () => void; leave?: boolean };

async function send(order: Asked, { told, begun, ...watched }: Sent): Promise<Done> {
  const { signal } = watched;
  signal?.throwIfAborted();
  let heard = false;
  const hear = (message: Message): Answer | undefined => {
    heard = true;
    if ("begun" in message) return void begun?.();
    if (!("progress" in message)) return message;
    told?.(message.progress);
  };
  const ask = async (helper: Helper) => {
    const answer = await askHelper(helper, order, { ...watched, hear });
    layDown(helper);
    return answer;
  };
  const askOne = async () => {
    const rested = takeResting();
    if (rested === null) return await ask(start());
    // It runs already: when it says nothing, it still waits in the call before.
    begun?.();
    return await ask(rested).catch((error: unknown) => {
      // It was killed while it rested, and nobody had noticed.
      if (heard || signal?.aborted) throw error;
      return ask(start());
    });
  };
  const answer = await askOne().catch((cause: unknown) => {
    signal?.throwIfAborted();
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StepLost(`the step ${order.step} could not be done: ${reason}`, { cause });
  });
  signal?.throwIfAborted();
  if ("failure" in answer) throw fromFailure(answer.failure);
  return answer;
}
