import { describe, expect, test } from "vitest";
import { envelopeStatuses, recipientStatuses } from "../../../server/features/envelopes/contract.ts";
import { actionRefusal, opensSession, type Standing, signingState } from "../../../server/features/signing/state.ts";
import { verifications } from "../../../server/features/templates/contract.ts";

const now = "2026-11-21T10:00:00.000Z";
const standing: Standing = {
  envelope: "sent",
  expiresAt: null,
  recipient: "viewed",
  verification: "email_otp",
  verified: true,
};

/** Every combination that can be stored. */
const all = envelopeStatuses.flatMap((envelope) =>
  recipientStatuses.flatMap((recipient) =>
    verifications.flatMap((verification) =>
      [true, false].flatMap((verified) =>
        [null, "2026-11-21T09:59:59.999Z", "2026-11-22T10:00:00.000Z"].map(
          (expiresAt): Standing => ({
            envelope,
            recipient,
            verification,
            verified,
            expiresAt,
          }),
        ),
      ),
    ),
  ),
);

describe("what a signer sees", () => {
  test.each<[Partial<Standing>, string]>([
    [{}, "ready"],
    [{ recipient: "sent" }, "ready"],
    [{ verified: false }, "otp_required"],
    [{ verified: false, verification: "none" }, "ready"],
    [{ recipient: "pending" }, "waiting"],
    [{ recipient: "completed" }, "completed"],
    [{ recipient: "completed", envelope: "completed" }, "completed"],
    [{ recipient: "completed", verified: false }, "otp_required"],
    [{ recipient: "completed", envelope: "voided" }, "closed"],
    [{ recipient: "declined", envelope: "declined" }, "declined"],
    [{ recipient: "canceled", envelope: "declined" }, "closed"],
    [{ recipient: "canceled", envelope: "voided" }, "closed"],
    [{ recipient: "canceled", envelope: "expired" }, "closed"],
    [{ expiresAt: now }, "closed"],
    [{ recipient: "completed", envelope: "completed", expiresAt: now }, "completed"],
  ])("%o is %s", (change, state) => {
    expect(signingState({ ...standing, ...change }, now)).toBe(state);
  });

  test("the document is open only after the code, whatever else holds", () => {
    for (const one of all) {
      if (one.verified || one.verification === "none") continue;
      expect(["ready", "completed"]).not.toContain(signingState(one, now));
    }
  });
});

describe("what a signer may do", () => {
  test.each<[Partial<Standing>, string | undefined]>([
    [{}, undefined],
    [{ recipient: "sent" }, undefined],
    [{ recipient: "completed" }, "recipient-finished"],
    [{ recipient: "completed", envelope: "voided" }, "recipient-finished"],
    [{ recipient: "declined", envelope: "declined" }, "recipient-finished"],
    [{ recipient: "pending" }, "not-recipients-turn"],
    [{ recipient: "pending", envelope: "rendering" }, "not-recipients-turn"],
    [{ recipient: "canceled", envelope: "voided" }, "envelope-not-in-progress"],
    [{ envelope: "expired" }, "envelope-not-in-progress"],
    [{ expiresAt: "2026-11-21T10:00:00.000Z" }, "envelope-not-in-progress"],
  ])("%o: %s", (change, refusal) => {
    expect(actionRefusal({ ...standing, ...change }, now)).toBe(refusal);
  });

  test("a page that says ready is one whose submission is taken, and only that", () => {
    for (const one of all) {
      if (signingState(one, now) !== "ready") continue;
      // The last signature and the envelope's completion are one transaction, so this pair is never stored.
      if (one.envelope === "completed" || one.envelope === "rendering") continue;
      expect(actionRefusal(one, now)).toBeUndefined();
    }
    for (const one of all) {
      if (actionRefusal(one, now) === undefined) expect(["ready", "otp_required"]).toContain(signingState(one, now));
    }
  });

  test("links open for signing, and for reading after having signed", () => {
    expect(opensSession(standing, now)).toBe(true);
    expect(opensSession({ ...standing, recipient: "completed", envelope: "completed" }, now)).toBe(true);
    for (const envelope of ["voided", "declined", "expired"] as const) {
      expect(opensSession({ ...standing, recipient: "completed", envelope }, now)).toBe(false);
    }
    expect(opensSession({ ...standing, recipient: "declined", envelope: "declined" }, now)).toBe(false);
    expect(opensSession({ ...standing, recipient: "pending" }, now)).toBe(false);
  });
});
