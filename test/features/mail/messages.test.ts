import { describe, expect, test } from "vitest";
import { locales } from "../../../locales/read.ts";
import { type MailContent, securityNotices, viewerNews } from "../../../server/features/mail/contract.ts";
import { renderMail } from "../../../server/features/mail/render.ts";

const en = locales().words("en", "mail");
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
  {
    kind: "reminder",
    sender: "A",
    title,
    message: null,
    recipientName: "R",
    link: "https://x.example/",
    expiresAt: null,
  },
  ...viewerNews.map((status) => ({ kind: "viewer_update" as const, title, link: "https://x.example/", status })),
];
const personal: MailContent[] = [
  { kind: "sign_in_code", code: "123456", minutes: 10 },
  { kind: "confirm_account", code: "123456", minutes: 1 },
  { kind: "magic_link", link: "https://x.example/", minutes: 10 },
  { kind: "password_reset", link: "https://x.example/", minutes: 60 },
  { kind: "account_exists", link: "https://x.example/" },
  ...securityNotices.map((notice) => ({
    kind: "security_notice" as const,
    notice,
    at: "2026-12-01T12:00:00.000Z",
  })),
  { kind: "anchor_witness", sequence: 7, checkpoint: "sign.example.com\n12\nAAAA\n" },
  ...(["owner", "admin"] as const).map((role) => ({
    kind: "member_promoted" as const,
    organizationName: "Example Ltd",
    name: "Ada",
    email: "ada@example.com",
    role,
    by: "Olive",
    at: "2026-12-01T12:00:00.000Z",
  })),
  ...(["owner", "admin", "member"] as const).map((role) => ({
    kind: "invitation" as const,
    organizationName: "Example Ltd",
    invitedBy: "Olive",
    role,
    link: "https://x.example/",
  })),
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
        expect(form).not.toMatch(/\{\w+\}|plural|undefined|null/);
        for (const key of keysOf(en)) expect(form).not.toContain(key);
      }
      expect(text).toContain("Example Ltd");
      expect(text.endsWith("\n")).toBe(true);
    },
  );

  test.each(
    ["en", "de"].flatMap((locale) =>
      [...contents, ...personal].map((content) => [locale, content.kind, content] as const),
    ),
  )("in %s %s has every word", async (locale, _kind, content) => {
    const { subject, html, text, language } = await renderMail(content, { ...context, locale: `${locale}-CH` });
    expect(language).toBe(locale);
    for (const form of [subject, html, text]) {
      expect(form).not.toMatch(/\{\w+\}|plural|undefined|null/);
      for (const key of keysOf(en)) expect(form).not.toContain(key);
    }
    expect(html).toContain(`<html lang="${locale}" dir="ltr">`);
    if ("link" in content && content.link) expect(text).toContain(content.link);
    if ("code" in content) expect(text).toContain(content.code);
  });

  test("a language without a catalogue gets English, marked as English", async () => {
    const content: MailContent = { kind: "code", code: "123456", title, minutes: 10 };
    const { html, language } = await renderMail(content, { ...context, locale: "ar-EG" });
    expect(html).toContain('<html lang="en" dir="ltr">');
    expect(language).toBe("en");
  });
});
