import { z } from "zod";
import { callLocal, downloadLocal, followLocal, type LocalAddress } from "../../../../server/local-client.ts";
import type { Message } from "../shared/ipc.ts";
import { type LocalMethod, localMethods } from "../shared/local-methods.ts";
import { FileName, SubscriptionId } from "../shared/native.ts";
import type { Files } from "./files.ts";
import { type Handlers, refusalOf } from "./ipc.ts";

export type LocalOptions = {
  address: () => LocalAddress;
  files: Files;
  /** Tells the window something unasked. */
  send: (message: Message) => void;
  logError: (error: unknown) => void;
};

const Parts = z.object({ params: z.unknown(), query: z.unknown(), body: z.unknown() }).partial();
const Follow = z.object({ input: Parts, subscription: SubscriptionId });
const Save = z.object({ input: Parts, name: FileName });

/** Passes the calls of the page on to the appliance. */
export function createLocalHandlers(options: LocalOptions) {
  const following = new Map<string, AbortController>();
  const stop = (subscription: string) => {
    following.get(subscription)?.abort();
    following.delete(subscription);
  };

  async function follow({ endpoint }: LocalMethod, given: unknown): Promise<void> {
    const { input, subscription } = Follow.parse(given);
    stop(subscription);
    const ended = new AbortController();
    following.set(subscription, ended);
    try {
      for await (const event of followLocal(options.address(), endpoint, input, { signal: ended.signal }))
        options.send({ kind: "event", subscription, event });
      options.send({ kind: "end", subscription, refusal: null });
    } catch (error) {
      if (!ended.signal.aborted)
        options.send({ kind: "end", subscription, refusal: refusalOf(error, options.logError) });
    } finally {
      if (following.get(subscription) === ended) following.delete(subscription);
    }
  }

  const handle = (method: LocalMethod) => async (input: unknown) => {
    if (method.kind === "call") return await callLocal(options.address(), method.endpoint, Parts.parse(input));
    if (method.kind === "follow") {
      // The answer says that it began; what comes and how it ends are messages.
      void follow(method, input);
      return {};
    }
    const save = Save.parse(input);
    return await options.files.save(save.name, () => downloadLocal(options.address(), method.endpoint, save.input));
  };

  const handlers: Handlers = new Map(localMethods.map((method) => [method.name, handle(method)]));
  return {
    handlers,
    stop,
    /** The window has gone or shows another page: nobody listens any more. */
    stopAll: () => {
      for (const subscription of [...following.keys()]) stop(subscription);
    },
  };
}
