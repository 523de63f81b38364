import { type ChildProcess, fork } from "node:child_process";

/** A program of ours that runs beside this process and answers what it is asked. */

/** @property ended settles once nothing of it runs any more, or nothing ever did, with the reason */
export type Helper = { child: ChildProcess; ended: Promise<Error> };

export type Watched = {
  signal?: AbortSignal | undefined;
  /** Called when a process that was ended is still there after a while: a call to a share that does not answer holds it. */
  stuck?: ((message: string) => void) | undefined;
};

type Start = { args?: string[]; env?: NodeJS.ProcessEnv; serialization?: "json" | "advanced" };

/** @throws what the system says at once (no memory); what it says later is the reason of `ended` */
export function startHelper(
  program: URL,
  { args = [], env = process.env, serialization = "json" }: Start = {},
): Helper {
  const child = fork(program, args, {
    // It has the rights of whoever starts it, and the service may send signals to it (the packages' command line says the same).
    execArgv: ["--disable-sigusr1"],
    env,
    serialization,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const ended = Promise.withResolvers<Error>();
  child.on("exit", (code, signal) => ended.resolve(new Error(`its process ended with ${signal ?? `code ${code}`}`)));
  child.on("error", (error) => {
    // Of one that never began there is no other word; whatever else fails, it runs on.
    if (child.pid === undefined) ended.resolve(error);
  });
  return { child, ended: ended.promise };
}

const stuckAfterMs = 5000;

/**
 * Ends it, and waits until it is gone: before that it may write.
 * @param patienceMs after which `stuck` is told
 */
export async function endHelper(
  { child, ended }: Helper,
  stuck: Watched["stuck"],
  patienceMs = stuckAfterMs,
): Promise<void> {
  child.kill("SIGKILL");
  const message = `the process ${child.pid} was ended and is still there: a folder that it works in does not answer`;
  const late = setTimeout(() => stuck?.(message), patienceMs);
  await ended;
  clearTimeout(late);
}

type Asking<Message, Answer> = Watched & {
  /** Takes each of its messages; the first that it makes something of is the answer. */
  hear: (message: Message) => Answer | undefined;
  /** One that only reads is told to end and left alone: what a dead share holds ends with the share, and keeps nobody waiting. */
  leave?: boolean | undefined;
};

/**
 * Says something to it, and waits for its answer.
 * @throws the reason of the signal when it is aborted, or why there is no answer; then the process is gone, unless it was left
 */
export async function askHelper<Message, Answer extends object>(
  helper: Helper,
  order: object,
  { hear, signal, stuck, leave }: Asking<Message, Answer>,
): Promise<Answer> {
  const { child, ended } = helper;
  const stop = Promise.withResolvers<never>();
  const abort = () => stop.reject(signal?.reason);
  const answer = Promise.withResolvers<Answer>();
  const listen = (message: Message) => {
    const made = hear(message);
    if (made !== undefined) answer.resolve(made);
  };
  signal?.addEventListener("abort", abort);
  child.on("message", listen);
  try {
    signal?.throwIfAborted();
    // That nothing could be said to it is not why: how it ended is.
    say(child, order).catch(() => child.kill("SIGKILL"));
    return await Promise.race([answer.promise, stop.promise, ended.then((reason) => Promise.reject(reason))]);
  } catch (error) {
    if (leave) leaveHelper(helper);
    else await endHelper(helper, stuck);
    throw error;
  } finally {
    signal?.removeEventListener("abort", abort);
    child.off("message", listen);
  }
}

function leaveHelper({ child }: Helper): void {
  child.kill("SIGKILL");
  child.unref();
  child.channel?.unref();
}

/** One that could not be started says so itself, and has not even a channel. */
async function say(child: ChildProcess, message: object): Promise<void> {
  if (child.pid === undefined) return;
  await new Promise<void>((resolve, reject) => {
    child.send(message, (error) => (error ? reject(error) : resolve()));
  });
}
