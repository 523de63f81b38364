import { describe, expect, test } from "vitest";
import { locales } from "../../../locales/read.ts";
import { messagesIn } from "../../../locales/translate.ts";
import type { MailContent } from "../../../server/features/mail/contract.ts";
import { renderMail } from "../../../server/features/mail/render.ts";
import { contents, context, personal, title } from "../../harness/mails.ts";

const en = locales().words("en", "mail");
const keys = [...messagesIn(en).keys()];

describe("words", () => {
  test.each(contents.map((content) => [content.kind, content] as const))(
    "%s says everything",
    async (_kind, content) => {
      const { subject, html, text } = await renderMail(content, { ...context, locale: "en" });
      for (const form of [subject, html, text]) {
        expect(form).toContain(title);
        // Neither an unfilled mark nor the key of a missing word.
        expect(form).not.toMatch(/\{\w+\}|plural|undefined|null/);
        for (const key of keys) expect(form).not.toContain(key);
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
      for (const key of keys) expect(form).not.toContain(key);
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
