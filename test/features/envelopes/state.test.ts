import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Effect,
  type EnvelopeEvent,
  type EnvelopeState,
  inProgress,
  isFinal,
  isSettled,
  transition,
} from "../../../server/features/envelopes/state.ts";

const now = "2026-11-21T09:10:00.000Z";
const past = "2026-11-21T09:00:00.000Z";
const future = "2026-11-22T09:00:00.000Z";

type Person = { turn: number; kind: "signer" | "countersigner"; delivery: "email" | "embedded" };

function fresh(people: readonly Person[], expiresAt: string | null = null): EnvelopeState {
  const recipients = people.map((person, index) => ({ id: `rcp_${index}`, ...person, status: "pending" as const }));
  return { status: "rendering", seal: "not_started", expiresAt, recipients, revision: null };
}

const signer = (turn: number): Person => ({ turn, kind: "signer", delivery: "email" });

const people = fc.array(
  fc.record<Person>({
    turn: fc.integer({ min: 1, max: 3 }),
    kind: fc.constantFrom("signer", "countersigner"),
    delivery: fc.constantFrom("email", "embedded"),
  }),
  { minLength: 1, maxLength: 5 },
);
const who = fc.integer({ min: 0, max: 5 }).map((index) => `rcp_${index}`);
const event: fc.Arbitrary<EnvelopeEvent> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<EnvelopeEvent>({ type: "rendered" }) },
  {
    weight: 4,
    arbitrary: fc.integer({ min: 0, max: 5 }).map((number): EnvelopeEvent => ({ type: "revision-stored", number })),
  },
  { weight: 6, arbitrary: who.map((recipient): EnvelopeEvent => ({ type: "completed", recipient })) },
  { weight: 2, arbitrary: who.map((recipient): EnvelopeEvent => ({ type: "viewed", recipient })) },
  {
    weight: 1,
    arbitrary: fc.oneof(
      who.map((recipient): EnvelopeEvent => ({ type: "declined", recipient })),
      fc.constantFrom<EnvelopeEvent>(
        { type: "voided" },
        { type: "expired" },
        { type: "render-failed" },
        { type: "sealed" },
        { type: "seal-failed" },
      ),
    ),
  },
);

/** Plays events; refused ones leave the state as it is. */
function play(
  start: EnvelopeState,
  events: readonly EnvelopeEvent[],
  each: (before: EnvelopeState, after: EnvelopeState, effects: readonly Effect[]) => void,
) {
  let state = start;
  const effects: Effect[] = [];
  for (const one of events) {
    const step = transition(state, one, now);
    if ("refused" in step) continue;
    each(state, step.next, step.effects);
    effects.push(...step.effects);
    state = step.next;
  }
  return { state, effects };
}

const audits = (effects: readonly Effect[], type: string) =>
  effects.filter((effect) => effect.kind === "audit" && effect.type === type);
const runs = (check: (start: EnvelopeState, events: EnvelopeEvent[]) => void) =>
  fc.assert(
    fc.property(
      people,
      fc.constantFrom(null, past, future),
      fc.array(event, { maxLength: 40 }),
      (all, expiry, events) => check(fresh(all, expiry), events),
    ),
    { numRuns: 2000 },
  );

describe("envelope state machine", () => {
  it("never leaves a final status, and then changes nothing but the seal", () => {
    runs((start, events) => {
      play(start, events, (before, after) => {
        if (!isFinal(before.status)) return;
        expect(after.status).toBe(before.status);
        expect(after.recipients).toEqual(before.recipients);
      });
    });
  });

  it("completes, declines, voids and expires at most once altogether, and seals at most once", () => {
    runs((start, events) => {
      const { effects } = play(start, events, () => undefined);
      const ends = ["envelope.completed", "envelope.declined", "envelope.voided", "envelope.expired"];
      expect(ends.reduce((sum, type) => sum + audits(effects, type).length, 0)).toBeLessThanOrEqual(1);
      expect(audits(effects, "envelope.sealed").length).toBeLessThanOrEqual(1);
      expect(audits(effects, "envelope.ready").length).toBeLessThanOrEqual(1);
      expect(effects.filter(({ kind }) => kind === "seal")).toHaveLength(audits(effects, "envelope.completed").length);
    });
  });

  it("gives each recipient one turn and takes one signature from each", () => {
    runs((start, events) => {
      const { effects } = play(start, events, () => undefined);
      for (const { id } of start.recipients) {
        for (const type of ["recipient.sent", "recipient.viewed", "recipient.signed", "recipient.declined"]) {
          const found = effects.filter(
            (effect) =>
              effect.kind === "audit" && effect.type === type && "recipient" in effect && effect.recipient === id,
          );
          expect(found.length).toBeLessThanOrEqual(1);
        }
        expect(
          effects.filter((effect) => effect.kind === "call" && effect.recipient === id).length,
        ).toBeLessThanOrEqual(1);
      }
    });
  });

  it("calls nobody before everybody in earlier turns has finished and stands in the document", () => {
    runs((start, events) => {
      play(start, events, (before, after) => {
        const called = after.recipients.filter(
          (one, index) => one.status === "sent" && before.recipients[index]?.status === "pending",
        );
        for (const one of called) {
          const earlier = after.recipients.filter((other) => other.turn < one.turn);
          expect(earlier.every(({ status }) => status === "completed")).toBe(true);
          expect(after.revision ?? -1).toBeGreaterThanOrEqual(earlier.length);
        }
      });
    });
  });

  it("is completed exactly when every recipient has finished, and only then is a seal due", () => {
    runs((start, events) => {
      const { state } = play(start, events, () => undefined);
      expect(state.status === "completed").toBe(state.recipients.every(({ status }) => status === "completed"));
      if (state.status !== "completed") expect(state.seal).toBe("not_started");
      if (isFinal(state.status))
        expect(
          state.recipients.some(({ status }) => status === "pending" || status === "sent" || status === "viewed"),
        ).toBe(false);
    });
  });

  it("goes from the rendered document through two turns to the seal", () => {
    const events: EnvelopeEvent[] = [
      { type: "rendered" },
      { type: "viewed", recipient: "rcp_0" },
      { type: "completed", recipient: "rcp_0" },
      { type: "revision-stored", number: 1 },
      { type: "completed", recipient: "rcp_1" },
      { type: "sealed" },
    ];
    const { state, effects } = play(fresh([signer(1), signer(2)]), events, () => undefined);
    expect(effects).toEqual([
      { kind: "audit", type: "envelope.ready" },
      { kind: "audit", type: "recipient.sent", recipient: "rcp_0" },
      { kind: "call", recipient: "rcp_0", by: "mail" },
      { kind: "audit", type: "recipient.viewed", recipient: "rcp_0" },
      { kind: "audit", type: "recipient.signed", recipient: "rcp_0" },
      { kind: "store-revision" },
      { kind: "audit", type: "recipient.sent", recipient: "rcp_1" },
      { kind: "call", recipient: "rcp_1", by: "mail" },
      { kind: "audit", type: "recipient.signed", recipient: "rcp_1" },
      { kind: "audit", type: "envelope.completed" },
      { kind: "seal" },
      { kind: "audit", type: "envelope.sealed" },
    ]);
    expect(state).toMatchObject({ status: "completed", seal: "sealed" });
    expect(isSettled(state.status, state.seal)).toBe(true);
  });

  it("waits with the next turn until the revision is stored", () => {
    const { state } = play(
      fresh([signer(1), signer(1), signer(2)]),
      [
        { type: "rendered" },
        { type: "completed", recipient: "rcp_0" },
        { type: "revision-stored", number: 1 },
        { type: "completed", recipient: "rcp_1" },
      ],
      () => undefined,
    );
    expect(state.recipients.map(({ status }) => status)).toEqual(["completed", "completed", "pending"]);
    const step = transition(state, { type: "revision-stored", number: 2 }, now);
    expect("next" in step && step.next.recipients[2]?.status).toBe("sent");
  });

  it("sends no mail to embedded signers and has countersigners signed for", () => {
    const embedded: Person = { turn: 1, kind: "signer", delivery: "embedded" };
    const own: Person = { turn: 1, kind: "countersigner", delivery: "email" };
    const { effects } = play(fresh([embedded, own]), [{ type: "rendered" }], () => undefined);
    expect(effects.filter(({ kind }) => kind === "call")).toEqual([
      { kind: "call", recipient: "rcp_1", by: "countersign" },
    ]);
    expect(audits(effects, "recipient.sent")).toHaveLength(2);
  });

  it("says why somebody may not sign", () => {
    const { state } = play(
      fresh([signer(1), signer(2)], future),
      [{ type: "rendered" }, { type: "completed", recipient: "rcp_0" }],
      () => undefined,
    );
    const refusal = (one: EnvelopeState, recipient: string, at = now) =>
      transition(one, { type: "completed", recipient }, at);
    expect(refusal(state, "rcp_0")).toEqual({ refused: "recipient-finished" });
    expect(refusal(state, "rcp_1")).toEqual({ refused: "not-recipients-turn" });
    expect(refusal(state, "rcp_9")).toEqual({ refused: "not-found" });
    expect(refusal(state, "rcp_1", "2026-12-24T00:00:00.000Z")).toEqual({ refused: "envelope-not-in-progress" });
    const voided = transition(state, { type: "voided" }, now);
    if (!("next" in voided)) throw new Error("void was refused");
    expect(refusal(voided.next, "rcp_1")).toEqual({ refused: "envelope-not-in-progress" });
    expect(transition(voided.next, { type: "voided" }, now)).toEqual({ refused: "envelope-not-in-progress" });
  });

  it("cancels who has not finished when it ends", () => {
    const { state } = play(
      fresh([signer(1), signer(1), signer(2)]),
      [{ type: "rendered" }, { type: "completed", recipient: "rcp_0" }],
      () => undefined,
    );
    const declined = transition(state, { type: "declined", recipient: "rcp_1" }, now);
    expect("next" in declined && declined.next.recipients.map(({ status }) => status)).toEqual([
      "completed",
      "declined",
      "canceled",
    ]);
    const voided = transition(state, { type: "voided" }, now);
    expect("next" in voided && voided.next.recipients.map(({ status }) => status)).toEqual([
      "completed",
      "canceled",
      "canceled",
    ]);
  });

  it("expires only what is overdue and in progress", () => {
    expect(transition(fresh([signer(1)], future), { type: "expired" }, now)).toEqual({
      refused: "envelope-not-in-progress",
    });
    const step = transition(fresh([signer(1)], past), { type: "expired" }, now);
    expect("next" in step && step.next.status).toBe("expired");
    expect(inProgress("rendering") && inProgress("sent")).toBe(true);
  });
});
