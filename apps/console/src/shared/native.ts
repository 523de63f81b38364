import { z } from "zod";
import { Locale, StartFault, Ts } from "../../../../server/kernel/wire.ts";

/** What the window may ask of the console itself: method → what goes in and what comes out. */

/** An absolute path of a unix socket, or the name of a pipe on Windows. */
export const SocketPath = z
  .string()
  .trim()
  .min(1, "not-a-path")
  .max(4096, "not-a-path")
  // A control character is in no path that somebody meant.
  .regex(/^(\/|\\\\\.\\pipe\\)\P{Cc}+$/u, "not-a-path");

/** Which appliance the console speaks to; `remote`: the socket is forwarded from another machine. */
const Chosen = z.strictObject({ socket: SocketPath, remote: z.boolean() });

/**
 * How the appliance was found.
 * - `running`: it answers
 * - `starting`: it takes connections and does not answer yet
 * - `stopped`: no socket, or no process behind it
 * - `not-allowed`: this user may not open the socket
 * - `broken`: something else answers, or the connection is cut
 */
export const connectionStates = ["running", "starting", "stopped", "not-allowed", "broken"] as const;
export type ConnectionState = (typeof connectionStates)[number];

const Connection = z.object({
  socket: z.string(),
  remote: z.boolean(),
  state: z.enum(connectionStates),
  /** What the operating system or the appliance says of it, in its own words. */
  detail: z.string().nullable(),
  version: z.string().nullable(),
  /** Why the last start failed; null where it did not, where this user may not read it, and of another machine. */
  lastStart: StartFault.nullable(),
  /** Seen like this since. */
  since: Ts,
  checkedAt: Ts,
});
export type Connection = z.infer<typeof Connection>;

/** The name of a page: what stands behind `signet-console://page/`. */
export const PageName = z.string().regex(/^[a-z][a-z-]{0,39}$/);

/** A file's name without any folder. */
export const FileName = z
  .string()
  .max(200)
  .regex(/^[^/\\:*?"<>|\p{Cc}.][^/\\:*?"<>|\p{Cc}]*$/u);

export const Preferences = z.strictObject({
  /** Null: the system's. */
  language: Locale.nullable(),
  colorScheme: z.enum(["auto", "light", "dark"]),
  /** Whether the console stays in the tray when its window is closed, and says when the appliance is in trouble. */
  background: z.boolean(),
});
export type Preferences = z.infer<typeof Preferences>;
export const StoredConnection = Chosen;

export const SubscriptionId = z.string().regex(/^[\w-]{1,64}$/);

const nothing = z.undefined();
const Saved = z.object({
  /** Where it lies now; null when the person chose no place. */
  saved: z.string().nullable(),
});

export const nativeMethods = {
  "connection.look": { input: nothing, output: Connection },
  "connection.set": {
    /** Null: where the appliance of this machine is found by itself. */
    input: z.strictObject({ chosen: Chosen.nullable() }),
    output: z.object({ socket: z.string(), remote: z.boolean(), byDefault: z.boolean() }),
  },
  "connection.get": {
    input: nothing,
    output: z.object({ socket: z.string(), remote: z.boolean(), byDefault: z.boolean(), platform: z.string() }),
  },
  "service.control": {
    input: z.strictObject({ verb: z.enum(["start", "stop", "restart"]) }),
    output: z.object({
      /** `declined`: the question for an administrator's password was closed. */
      outcome: z.enum(["done", "declined", "failed", "unavailable"]),
      detail: z.string(),
    }),
  },
  "preferences.get": { input: nothing, output: Preferences },
  "preferences.set": { input: Preferences.partial(), output: Preferences },
  openInBrowser: {
    input: z.strictObject({ page: z.enum(["start", "docs", "verify"]) }),
    output: z.object({ opened: z.url() }),
  },
  "file.save": {
    input: z.strictObject({ name: FileName, text: z.string().max(20_000_000) }),
    output: Saved,
  },
  /** Reads one small file that the person picks. */
  "file.pick": {
    input: z.strictObject({ kind: z.enum(["certificate", "key", "any"]) }),
    output: z.object({ name: z.string(), base64: z.string() }).nullable(),
  },
  /** Names a place on this machine that the person picks; nothing is read or written. */
  "path.pick": {
    input: z.strictObject({ kind: z.enum(["folder", "file"]) }),
    output: z.object({ path: z.string() }).nullable(),
  },
  "clipboard.write": { input: z.strictObject({ text: z.string().max(1_000_000) }), output: z.object({}) },
  unfollow: { input: z.strictObject({ subscription: SubscriptionId }), output: z.object({}) },
} as const satisfies Record<string, { input: z.ZodType; output: z.ZodType }>;

export type NativeMethod = keyof typeof nativeMethods;
export type NativeInput<M extends NativeMethod> = z.input<(typeof nativeMethods)[M]["input"]>;
/** What a handler gets: the input after its schema. */
export type NativeParsed<M extends NativeMethod> = z.output<(typeof nativeMethods)[M]["input"]>;
export type NativeOutput<M extends NativeMethod> = z.output<(typeof nativeMethods)[M]["output"]>;
