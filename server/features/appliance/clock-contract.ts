import { z } from "zod";
import { localEndpoint } from "../../kernel/endpoint.ts";
import { Ts } from "../../kernel/wire.ts";

export const ClockState = z
  .object({
    now: Ts,
    /** What the machine says and what it would have to say, while it is not believed: nothing is signed, sent or deleted. */
    doubt: z.object({ machine: Ts, expected: Ts }).nullable(),
    /** Newest first. */
    events: z.array(
      z.object({ kind: z.enum(["stepped", "doubted", "settled", "accepted"]), machineAt: Ts, expectedAt: Ts }),
    ),
  })
  .meta({ id: "ClockState" });
export type ClockState = z.infer<typeof ClockState>;

export const getClock = localEndpoint({
  method: "GET",
  path: "/local/clock",
  id: "getClock",
  summary: "Whether the machine's clock is believed, and what was done to it",
  responses: { 200: { kind: "json", schema: ClockState } },
});

export const acceptClock = localEndpoint({
  method: "POST",
  path: "/local/clock/accept",
  id: "acceptClock",
  summary: "Say that the machine's clock is right; it is taken up within seconds",
  responses: { 200: { kind: "json", schema: ClockState } },
});

export const clockEndpoints = [getClock, acceptClock];
