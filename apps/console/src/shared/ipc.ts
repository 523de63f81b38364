import { z } from "zod";
import { Problem } from "../../../../server/kernel/problem.ts";
import { localMethods } from "./local-methods.ts";
import { nativeMethods, PageName, SubscriptionId } from "./native.ts";

/** Everything that the window may ask of the main process, and everything that it is told unasked. */

// The page's content security policy forbids `new Function`, which zod would otherwise try.
z.config({ jitless: true });

export type MethodSpec = { input: z.ZodType; output: z.ZodType };

/** Method → what goes in and what comes out. */
export const methods: Readonly<Record<string, MethodSpec>> = {
  ...nativeMethods,
  ...Object.fromEntries(localMethods.map(({ name, input, output }) => [name, { input, output }])),
};
export const methodNames: readonly string[] = Object.keys(methods);

/**
 * Why a call came to nothing. Errors are values: what Electron makes of a thrown one is a sentence.
 * - `forbidden`: not the console's own page asked
 * - `invalid-input`: not what the method takes
 * - `stopped`, `not-allowed`, `broken`: see ConnectionState
 * - `other-version`: the appliance answered otherwise than this console expects
 * - `problem`: the appliance answered with a problem document
 * - `failed`: everything else; the cause is in the console's log
 */
export const Refusal = z.object({
  ok: z.literal(false),
  code: z.enum([
    "forbidden",
    "invalid-input",
    "failed",
    "stopped",
    "not-allowed",
    "broken",
    "other-version",
    "problem",
  ]),
  problem: Problem.optional(),
});
export type Refusal = z.infer<typeof Refusal>;
export type Reply<T> = { ok: true; value: T } | Refusal;

/** What the main process tells the window unasked. */
export const Message = z.discriminatedUnion("kind", [
  /** Somebody asked for a page: a link, the tray's menu. */
  z.object({ kind: z.literal("page"), page: PageName }),
  z.object({ kind: z.literal("event"), subscription: SubscriptionId, event: z.unknown() }),
  /** A stream is over; `refusal` when it did not end by itself. */
  z.object({ kind: z.literal("end"), subscription: SubscriptionId, refusal: Refusal.nullable() }),
]);
export type Message = z.infer<typeof Message>;
export const messageChannel = "message";

/** What the preload script puts into the page as `window.signet`. */
export type Bridge = {
  /** One function a method. */
  readonly methods: Readonly<Record<string, (input?: unknown) => Promise<Reply<unknown>>>>;
  /** Calls back with each message. @returns ends it */
  readonly listen: (listener: (message: unknown) => void) => () => void;
};
