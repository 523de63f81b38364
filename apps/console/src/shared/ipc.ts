import { z } from "zod";

/** Everything that the window may ask of the main process: method → what goes in and what comes out. */

// The page's content security policy forbids `new Function`, which zod would otherwise try.
z.config({ jitless: true });

/** A moment: ISO 8601 in UTC with milliseconds. */
const Ts = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** The address of an appliance: an origin and nothing behind it. Plain http only on this machine. */
export const ApplianceUrl = z
  .string()
  .max(2000)
  .transform((text) => text.trim())
  .pipe(z.url({ protocol: /^https?$/ }))
  .transform((text, context) => {
    const url = new URL(text);
    const bare = !url.username && !url.password && url.pathname === "/" && !/[?#]/.test(text);
    if (!bare || (url.protocol === "http:" && !loopback.test(url.hostname))) {
      context.addIssue({ code: "custom", message: bare ? "plain-http" : "not-an-origin" });
      return z.NEVER;
    }
    return url.origin;
  });

/** Why an address gives no appliance. */
const Unreachable = z.enum(["name", "timeout", "certificate", "not-signet", "network"]);

/**
 * What was found at the configured address.
 * - `running`: /readyz says ready
 * - `not-ready`: it answers and says that it is not ready; `cause` is its own text
 * - `starting`: it takes connections and does not answer yet
 * - `stopped`: nothing listens there
 * - `unreachable`: everything else, by `cause`
 */
const State = z.discriminatedUnion("state", [
  z.object({ state: z.literal("running"), apiVersion: z.string().max(40).nullable() }),
  z.object({ state: z.literal("not-ready"), cause: z.string().max(200) }),
  z.object({ state: z.literal("starting") }),
  z.object({ state: z.literal("stopped") }),
  z.object({ state: z.literal("unreachable"), cause: Unreachable }),
]);
export type ApplianceState = z.infer<typeof State>;

const Status = z.object({
  url: z.string(),
  found: State,
  /** When the console saw this state for the first time without another in between. */
  since: Ts,
  checkedAt: Ts,
});
export type ApplianceStatus = z.infer<typeof Status>;

const nothing = z.undefined();

export const methods = {
  status: { input: nothing, output: Status },
  "settings.url.get": { input: nothing, output: z.object({ url: z.string() }) },
  "settings.url.set": { input: z.strictObject({ url: ApplianceUrl }), output: z.object({ url: z.string() }) },
  openInBrowser: {
    input: z.strictObject({ page: z.enum(["start", "docs", "verify"]) }),
    output: z.object({ opened: z.url() }),
  },
} as const satisfies Record<string, { input: z.ZodType; output: z.ZodType }>;

export type Method = keyof typeof methods;
export type Input<M extends Method> = z.input<(typeof methods)[M]["input"]>;
/** What a handler gets: the input after its schema. */
export type Parsed<M extends Method> = z.output<(typeof methods)[M]["input"]>;
export type Output<M extends Method> = z.output<(typeof methods)[M]["output"]>;

export const methodNames = Object.keys(methods) as Method[];

/** Errors are values: what Electron makes of a thrown one is a sentence. */
export type Reply<M extends Method> =
  | { ok: true; value: Output<M> }
  | { ok: false; code: "forbidden" | "invalid-input" | "failed" };

/** What the preload script puts into the page as `window.signet`: one function a method. */
export type Bridge = { [M in Method]: (input?: unknown) => Promise<Reply<M>> };
