/**
 * What the threads run that sign: each task by its name. A failure comes back as a value; only a defect throws. Of uploads
 * they read only documents that were tried and accepted (`seal/trial.ts`), and only what a seal needs of them.
 */
import { portsOf } from "./asking.ts";
import { ownMemory } from "./own-memory.ts";
import type { SealingTasks, TaskPorts, TaskResult } from "./protocol.ts";
import { extendTask, sealTask, timestampTask } from "./seal/task.ts";

/** What the main thread posts to such a thread; `call` is the number that its questions carry. */
type Message = {
  [N in keyof SealingTasks]: { task: N; input: SealingTasks[N]["input"]; call?: number | undefined };
}[keyof SealingTasks];

/** The entry that Piscina calls. */
export default async function run(message: Message): Promise<TaskResult<keyof SealingTasks>> {
  switch (message.task) {
    case "seal":
      return alone(await asking(message.call, (ports) => sealTask(message.input, ports)));
    case "extend":
      return alone(await asking(message.call, (ports) => extendTask(message.input, ports)));
    case "timestamp":
      return await asking(message.call, (ports) => timestampTask(message.input, ports));
  }
}

async function asking<R>(call: number | undefined, task: (ports: TaskPorts) => Promise<R>): Promise<R> {
  if (call === undefined) throw new TypeError("a seal needs somebody to ask for signatures and timestamps");
  return await task(portsOf(call));
}

/** What was appended goes back without the pool of buffers that it may lie in. */
function alone<R extends { ok: true; value: { tail: Uint8Array } } | { ok: false }>(result: R): R {
  return result.ok ? { ...result, value: { ...result.value, tail: ownMemory(result.value.tail) } } : result;
}
