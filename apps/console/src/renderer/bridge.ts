import type { Bridge, Input, Method, Output } from "../shared/ipc.ts";

declare global {
  interface Window {
    /** Put there by the preload script. */
    readonly signet: Bridge;
  }
}

/**
 * Asks the main process.
 * @throws Error whose message is the code of the refusal
 */
export async function ask<M extends Method>(method: M, input?: Input<M>): Promise<Output<M>> {
  const reply = await window.signet[method](input);
  if (!reply.ok) throw new Error(reply.code);
  return reply.value;
}
