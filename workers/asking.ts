/** What a task asks of the main thread while it runs, and the answers: over one channel that the thread keeps. */
import { MessageChannel, type MessagePort, parentPort } from "node:worker_threads";
import { ownMemory } from "./own-memory.ts";
import type { TaskPorts } from "./protocol.ts";

/** What a thread posts to the main thread before its first question; answers come back through the same port. */
export type Questions = { port: MessagePort };
/** `call` is the number that the task came with. */
export type Ask = { call: number; id: number; ask: keyof TaskPorts; bytes: Uint8Array };
export type Answer = { id: number; bytes: Uint8Array } | { id: number; error: string };

type Ports = (call: number) => TaskPorts;
let opened: Ports | undefined;

/** The ports of the task that came with this number. A failure is thrown with its message only. */
export const portsOf: Ports = (call) => {
  opened ??= openChannel();
  return opened(call);
};

function openChannel(): Ports {
  const waiting = new Map<number, { resolve: (bytes: Uint8Array) => void; reject: (error: Error) => void }>();
  const { port1, port2 } = new MessageChannel();
  let last = 0;
  port1.on("message", (answer: Answer) => {
    const asked = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ("bytes" in answer) asked?.resolve(answer.bytes);
    else asked?.reject(new Error(answer.error));
  });
  parentPort?.postMessage({ port: port2 } satisfies Questions, [port2]);
  return (call) => {
    const ask = (what: Ask["ask"], bytes: Uint8Array): Promise<Uint8Array> => {
      const id = ++last;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        port1.postMessage({ call, id, ask: what, bytes: ownMemory(bytes) } satisfies Ask);
      });
    };
    return {
      sign: (bytes) => ask("sign", bytes),
      signTimestamp: (bytes) => ask("signTimestamp", bytes),
      timestampTime: (bytes) => ask("timestampTime", bytes),
      requestTimestamp: (bytes) => ask("requestTimestamp", bytes),
      revocationList: (bytes) => ask("revocationList", bytes),
    };
  };
}
