/** What a worker thread runs: each task by its name. A failure comes back as a value; only a defect throws. */
import { move, transferableSymbol, valueSymbol } from "piscina";
import { portsOf } from "./asking.ts";
import { certificate } from "./certificate.ts";
import { measureTexts } from "./fit.ts";
import { inspect } from "./inspect.ts";
import { ownMemory } from "./own-memory.ts";
import type { TaskName, TaskPorts, TaskResult, Tasks } from "./protocol.ts";
import { extendTask, sealTask, timestampTask } from "./seal/task.ts";
import { verifyTimestamp } from "./seal/timestamp-verify.ts";
import { verifySealedPdf } from "./seal/verify.ts";
import { stamp } from "./stamp.ts";

/** What the main thread posts to a worker. `call` is there for `seal`, `extend` and `timestamp` only. */
export type TaskMessage = {
  [N in TaskName]: { task: N; input: Tasks[N]["input"]; call?: number | undefined };
}[TaskName];

/** The entry that Piscina calls. A rewritten file changes its owner instead of being copied; what else comes back is small. */
export default async function run(message: TaskMessage): Promise<unknown> {
  const result = await perform(message);
  const pdf = message.task === "inspect" && result.ok && "pdf" in result.value ? result.value.pdf : null;
  // A view on a pooled buffer cannot change its owner alone.
  if (!pdf || pdf.byteLength !== pdf.buffer.byteLength) return result;
  return move({ [transferableSymbol]: pdf.buffer, [valueSymbol]: result });
}

async function perform(message: TaskMessage): Promise<TaskResult<TaskName>> {
  switch (message.task) {
    case "inspect":
      return inspect(message.input);
    case "stamp":
      return stamp(message.input);
    case "fit":
      return measureTexts(message.input);
    case "certificate":
      return certificate(message.input);
    case "seal":
      return alone(await asking(message.call, (ports) => sealTask(message.input, ports)));
    case "extend":
      return alone(await asking(message.call, (ports) => extendTask(message.input, ports)));
    case "verifyPdf":
      return { ok: true, value: verifySealedPdf(message.input.pdf, message.input) };
    case "timestamp":
      return await asking(message.call, (ports) => timestampTask(message.input, ports));
    case "verifyToken": {
      const { token, imprint, trusted } = message.input;
      return { ok: true, value: verifyTimestamp(token, { algorithm: "sha256", digest: () => imprint, trusted }) };
    }
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
