import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  codeAttempts,
  decideSend,
  hashCode,
  judgeAttempt,
  maskPhone,
  newCode,
} from "../../../server/features/signing/codes.ts";
import { acceptedText, consentFor } from "../../../server/features/signing/consent.ts";
import { openSecrets } from "../../../server/kernel/secrets.ts";
import { maskEmail } from "../../../server/kernel/wire.ts";

const minute = 60_000;
const secrets = openSecrets(randomBytes(32));

describe("one-time codes", () => {
  test("are six digits, leading zeros kept, and spread over the whole range", () => {
    const codes = Array.from({ length: 5000 }, newCode);
    expect(codes.every((code) => /^\d{6}$/.test(code))).toBe(true);
    expect(new Set(codes.map((code) => code[0])).size).toBe(10);
    expect(new Set(codes).size).toBeGreaterThan(4900);
  });

  test("are kept under the appliance's key and belong to one row", () => {
    expect(hashCode(secrets, "otp_1", "123456")).not.toBe(hashCode(secrets, "otp_2", "123456"));
    expect(hashCode(secrets, "otp_1", "123456")).not.toBe(hashCode(openSecrets(randomBytes(32)), "otp_1", "123456"));
  });

  test("right, wrong, expired and exhausted", () => {
    const row = {
      id: "otp_1",
      hmac: hashCode(secrets, "otp_1", "123456"),
      attempts: 0,
      expires_at: "2026-11-21T10:10:00.000Z",
    };
    const at = "2026-11-21T10:09:59.999Z";
    expect(judgeAttempt(secrets, row, "123456", at)).toEqual({ result: "verified" });
    expect(judgeAttempt(secrets, row, "654321", at)).toEqual({ result: "invalid", remaining: 4 });
    expect(judgeAttempt(secrets, { ...row, attempts: 4 }, "654321", at)).toEqual({ result: "invalid", remaining: 0 });
    expect(judgeAttempt(secrets, { ...row, attempts: codeAttempts }, "123456", at)).toEqual({ result: "exhausted" });
    expect(judgeAttempt(secrets, row, "123456", row.expires_at)).toEqual({ result: "expired" });
    expect(judgeAttempt(secrets, undefined, "123456", at)).toEqual({ result: "expired" });
  });

  test("five in fifteen minutes a session, ten an hour a recipient", () => {
    const now = 1_000 * minute;
    const ago = (...minutes: number[]) => minutes.map((count) => now - count * minute);
    expect(decideSend([], [], now)).toEqual({ send: true, resendAt: new Date(now + 30_000).toISOString() });
    expect(decideSend(ago(1, 2, 3, 4), ago(1, 2, 3, 4), now)).toEqual({
      send: true,
      resendAt: new Date(now + 11 * minute).toISOString(),
    });
    expect(decideSend(ago(1, 2, 3, 4, 5), ago(1, 2, 3, 4, 5), now)).toEqual({ send: false, retryAfter: 600 });
    expect(decideSend(ago(1, 2, 3, 4, 15), ago(1, 2, 3, 4, 15), now)).toMatchObject({ send: true });
    const ten = ago(20, 21, 22, 23, 24, 25, 26, 27, 28, 30);
    expect(decideSend([], ten, now)).toEqual({ send: false, retryAfter: 1800 });
  });

  test("half a minute apart in a session; other sessions of the recipient do not hold it up", () => {
    const now = 1_000 * minute;
    expect(decideSend([now - 29_001], [now - 29_001], now)).toEqual({ send: false, retryAfter: 1 });
    expect(decideSend([now - 30_000], [now - 30_000], now)).toMatchObject({ send: true });
    expect(decideSend([], [now - 1], now)).toMatchObject({ send: true });
  });

  test("the address is masked", () => {
    expect(maskEmail("anna@example.com")).toBe("a***@example.com");
    expect(maskEmail("𝒜b@example.com")).toBe("𝒜***@example.com");
    expect(maskPhone("+4915112345612")).toBe("+49*****12");
  });
});

describe("consent", () => {
  test("the built-in statement, and what was accepted of it", () => {
    const offered = consentFor({ consentText: null, locale: "de" }, "sv");
    expect(offered.locale).toBe("en");
    expect(acceptedText(offered, { version: offered.version, locale: "en" })?.textSha256).toBe(offered.textSha256);
    expect(acceptedText(offered, { version: "0", locale: "en" })).toBeUndefined();
    expect(acceptedText(offered, { version: offered.version, locale: "de" })).toBeUndefined();
  });

  test("the built-in statement in the signer's language, and English beside it", () => {
    const offered = consentFor({ consentText: null, locale: "en" }, "de-AT");
    const english = consentFor({ consentText: null, locale: "en" }, "en");
    expect(offered).toMatchObject({ locale: "de", version: english.version, english: { text: english.text } });
    expect(offered.text).toContain("elektronische Unterschrift");
    const accepted = (locale: string) => acceptedText(offered, { version: offered.version, locale })?.textSha256;
    expect(accepted("de")).toBe(offered.textSha256);
    expect(accepted("en")).toBe(english.textSha256);
    expect(accepted("fr")).toBeUndefined();
  });

  test("a statement of the template, with English beside it", () => {
    const offered = consentFor({ consentText: "Ich bin einverstanden.", locale: "de" }, "en");
    expect(offered.locale).toBe("de");
    expect(offered.version).toMatch(/^custom-[0-9a-f]{12}$/);
    expect(offered.english.textSha256).not.toBe(offered.textSha256);
    const german = acceptedText(offered, { version: offered.version, locale: "de" });
    const english = acceptedText(offered, { version: offered.version, locale: "en" });
    expect(german?.textSha256).toBe(offered.textSha256);
    expect(english?.textSha256).toBe(offered.english.textSha256);
    const own = consentFor({ consentText: "I agree.", locale: "en-GB" }, "en-GB");
    expect(own.english.text).toBe("I agree.");
  });
});
