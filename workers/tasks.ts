/** What a worker thread runs: each task by its name. A failure comes back as a value; only a defect throws. */
import type { MessagePort } from "node:worker_threads";
import { move, transferableSymbol, valueSymbol } from "piscina";
import { certificate } from "./certificate.ts";
import { inspect } from "./inspect.ts";
import type { TaskName, TaskPorts, TaskResult, Tasks } from "./protocol.ts";
import { sealTask } from "./seal/task.ts";
import { verifySealedPdf } from "./seal/verify.ts";
import { stamp } from "./stamp.ts";

/** What the main thread posts to a worker. `port` is there for `seal` only. */
export type TaskMessage = {
  [N in TaskName]: { task: N; input: Tasks[N]["input"]; port?: MessagePort | undefined };
}[TaskName];
/** What a seal posts through its port, and the answer with the same id. */
export type Ask = { id: number; ask: keyof TaskPorts; bytes: Uint8Array };
export type Answer = { id: number; bytes: Uint8Array } | { id: number; error: string };

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
    case "certificate":
      return certificate(message.input);
    case "seal": {
      if (!message.port) throw new TypeError("a seal needs a port to ask for its signature");
      const port = message.port;
      try {
        return await sealTask(message.input, portsOver(port));
      } finally {
        port.close();
      }
    }
    case "verifyPdf":
      return { ok: true, value: verifySealedPdf(message.input.pdf, message.input) };
  }
}

/** Questions to the main thread, answered by id; a closed port fails all that wait. */
function portsOver(port: MessagePort): TaskPorts {
  const waiting = new Map<number, { resolve: (bytes: Uint8Array) => void; reject: (error: Error) => void }>();
  let next = 1;
  port.on("message", (answer: Answer) => {
    const asked = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ("bytes" in answer) asked?.resolve(answer.bytes);
    else asked?.reject(new Error(answer.error));
  });
  port.on("close", () => {
    for (const asked of waiting.values()) asked.reject(new Error("the caller went away"));
    waiting.clear();
  });
  const ask = (what: Ask["ask"], bytes: Uint8Array): Promise<Uint8Array> => {
    const id = next++;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      port.postMessage({ id, ask: what, bytes } satisfies Ask);
    });
  };
  return {
    sign: (bytes) => ask("sign", bytes),
    signTimestamp: (bytes) => ask("signTimestamp", bytes),
    timestampTime: (bytes) => ask("timestampTime", bytes),
    requestTimestamp: (bytes) => ask("requestTimestamp", bytes),
  };
}
