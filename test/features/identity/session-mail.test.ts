import { expect, test } from "vitest";
import { mailOf } from "../../../server/features/identity/session-present.ts";

test("the session says what becomes of mails", () => {
  const smtpUrl = "smtp://mail.example.org";
  expect(mailOf({ smtpUrl: undefined, baseUrl: "https://sign.example.org" })).toBe("outbox");
  expect(mailOf({ smtpUrl, baseUrl: "https://sign.example.org" })).toBe("smtp");
  for (const baseUrl of ["http://127.0.0.1:8080", "http://[::1]:8080", "http://localhost:8080"]) {
    expect(mailOf({ smtpUrl, baseUrl })).toBe("held");
  }
});
