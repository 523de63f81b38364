import { describe, expect, test } from "vitest";
import { en } from "../../../server/features/mail/catalogues/en.ts";
import type { MailContent } from "../../../server/features/mail/contract.ts";
import { renderMail } from "../../../server/features/mail/render.ts";

const title = "Lease";
const contents: MailContent[] = [
  {
    kind: "signing_request",
    sender: "A",
    title,
    message: "M",
    recipientName: "R",
    link: "https://x.example/",
    expiresAt: "2026-12-01T12:00:00.000Z",
  },
  { kind: "code", code: "123456", title, minutes: 10 },
  { kind: "code", code: "123456", title, minutes: 1 },
  {
    kind: "completed",
    title,
    link: "https://x.example/",
    sealedSha256: null,
    certificateSha256: null,
    filename: "x",
    sealFailed: false,
  },
  {
    kind: "completed",
    title,
    link: null,
    sealedSha256: null,
    certificateSha256: null,
    filename: "x",
    sealFailed: true,
  },
  { kind: "voided", title, reason: "because", sender: "A" },
  { kind: "declined", title, by: "B", reason: "no" },
  { kind: "viewer_invite", title, link: "https://x.example/", sender: "A" },
  { kind: "render_failed", title, message: "broken" },
  { kind: "stalled", title, message: "broken" },
];
const context = { organization: "Example Ltd", address: "sam@example.com", attached: true };

function keysOf(words: object, base = ""): string[] {
  return Object.entries(words).flatMap(([key, value]: [string, unknown]) =>
    typeof value === "object" && value !== null ? keysOf(value, `${base}${key}.`) : [`${base}${key}`],
  );
}

describe("words", () => {
  test.each(contents.map((content) => [content.kind, content] as const))(
    "%s says everything",
    async (_kind, content) => {
      const { subject, html, text } = await renderMail(content, { ...context, locale: "en" });
      for (const form of [subject, html, text]) {
        expect(form).toContain(title);
        // Neither an unfilled mark nor the key of a missing word.
        expect(form).not.toMatch(/\{\{|\}\}|undefined|null/);
        for (const key of keysOf(en)) expect(form).not.toContain(key);
      }
      expect(text).toContain("Example Ltd");
      expect(text.endsWith("\n")).toBe(true);
    },
  );

  test("a language without a catalogue gets English, marked as English", async () => {
    const content: MailContent = { kind: "code", code: "123456", title, minutes: 10 };
    const { html, language } = await renderMail(content, { ...context, locale: "ar-EG" });
    expect(html).toContain('<html lang="en" dir="ltr">');
    expect(language).toBe("en");
  });
});
