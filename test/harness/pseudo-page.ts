import type { Page } from "playwright";
import { z } from "zod";

/** Finds what a page in the pseudo language left in English. */

/** What is a name, a number or a time in every language. */
const given = [
  /\b(Signet|Olive Owner|Example Ltd|Google|Microsoft|English|Deutsch|PAdES)\b/g,
  /\b[\w.+-]+@[\w.-]+/g,
  /(https?:\/\/|\/)[\w./:#-]+/g,
  /\b\w+\.(pdf|csv|xlsx|json|yaml|pem|zip|html|txt|so)\b/g,
  /\b[a-z]{2,5}_[A-Za-z0-9]{10,}/g,
  /\b\d{1,2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\w* \d{4}|\b(January|February|March|April|May|June|July|August|September|October|November|December) \d{1,2}, \d{4}|\b[JFMASOND][a-z]{2} \d{1,2}, \d{4}/g,
  /\b(?=[\w-]*\d)[\w-]{20,}/g,
  /\b(AM|PM|at|UTC|GMT|PDF|PDFs|CSV|API|SHA-256|ID|JSON|URL|Ctrl|Esc|Enter|Alt|Shift|Tab|px|pt|mm|GB|MB|kB|KB)\b/g,
];

/** Times and sizes on a page that speaks the pseudo language in place of German. */
export const german =
  /\d{1,2}\. (Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember) \d{4}( um)?|\b\d+ (Byte|Stunden?)\b/g;

const Texts = z.array(z.string());

/**
 * Texts of the page, also those for screen readers, that hold a word without accents.
 * @param language the page's `lang`; text marked with another language is ignored
 * @param names further names that stay as they are
 * @throws Error when the page is in another language, or has no text with accents at all
 */
export async function untranslated(page: Page, language: string, names: readonly RegExp[] = []): Promise<string[]> {
  const texts = await page.evaluate(`(() => {
    const own = (at) => at && !at.closest("script, style, noscript, code, pre, kbd, time, [hidden], .pdf-text") &&
      at.closest("[lang]")?.getAttribute("lang") === ${JSON.stringify(language)} && at.checkVisibility();
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { parentElement: at, textContent: text } = walker.currentNode;
      if (text.trim() && own(at)) found.push(text.trim());
    }
    for (const name of ["aria-label", "placeholder", "title", "alt"])
      for (const at of document.querySelectorAll("[" + name + "]")) if (own(at) && !(["aria-label", "alt"].includes(name) && at.closest("[aria-hidden=true]"))) found.push(at.getAttribute(name));
    return found;
  })()`);
  const all = Texts.parse(texts);
  if (!all.some((text) => /[ááééííóóúú]{2}/.test(text)))
    throw new Error(`The page does not speak the language: ${all.join(" | ")}`);
  return all.filter((text) =>
    /[A-Za-z]{2,}/.test([...names, ...given].reduce((rest, pattern) => rest.replaceAll(pattern, " "), text)),
  );
}
