import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { z } from "zod";
import { locales } from "../../locales/read.ts";
import { certificate } from "../../workers/certificate.ts";
import { certificateSample } from "../harness/certificates.ts";
import { copySources } from "../harness/copied-sources.ts";
import { contents, personal } from "../harness/mails.ts";
import { pseudoLanguage, pseudoWords } from "../harness/pseudo.ts";
import { faultsOf, textOf } from "../harness/rendering.ts";

/** What has no page, in the pseudo language: a word without accents is one of no catalogue. `test/e2e/pseudo.test.ts` walks the pages. */

const wordsOf = (catalogue: string) => pseudoWords(locales().words("en", catalogue));

/** Words of plain letters that are left when what was given is taken away. */
function untranslated(text: string, given: readonly RegExp[]): string[] {
  const rest = given.reduce((left, pattern) => left.replaceAll(pattern, " "), text);
  return [...new Set(rest.match(/(?<![\p{L}\p{M}])[A-Za-z]{2,}(?![\p{L}\p{M}])/gu))];
}

const Mails = z.array(z.object({ subject: z.string(), text: z.string(), html: z.string(), language: z.string() }));

/** Names, addresses and dates of the samples. */
const ofMails = [
  /https?:[\w./-]+|[\w.]+@[\w.]+|sign\.example\.com|AAAA|Example Ltd|Lease|Signet|Ada|Olive|because|broken|\bno\b/g,
  /\b(January|February|March|April|May|June|July|August|September|October|November|December)\b|\b(at|AM|PM|UTC)\b/g,
];

test("mails have no word of their own", async () => {
  const copy = await copySources(["server", "workers", "locales", "package.json", "test/harness/mails.ts"]);
  const folder = path.join(copy, "locales", pseudoLanguage);
  await mkdir(folder);
  await writeFile(path.join(folder, "mail.json"), JSON.stringify(wordsOf("mail")));
  const script = path.join(copy, "say.ts");
  await writeFile(
    script,
    `import { renderMail } from "./server/features/mail/render.ts";
import { contents, context, personal } from "./test/harness/mails.ts";
const said = [...contents, ...personal].map((content) => renderMail(content, { ...context, locale: "${pseudoLanguage}" }));
console.log(JSON.stringify(await Promise.all(said)));
`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [script], { maxBuffer: 64 * 1024 * 1024 });
  const mails = Mails.parse(JSON.parse(stdout));
  expect(mails).toHaveLength(contents.length + personal.length);
  for (const { subject, text, html, language } of mails) {
    expect(language).toBe(pseudoLanguage);
    const shown = html.replaceAll(/<style[\s\S]*?<\/style>|<[^>]*>|&\w+;/g, " ");
    for (const form of [subject, text, shown]) expect(untranslated(form, ofMails), form).toEqual([]);
  }
});

/** What the sample was given, and what is a name in every language. */
const ofCertificates = [
  /Residential lease|Example & Partners|Zoë Müller|[\w.]+@[\w.]+|env_\w+|2001:db8::7334|https?:\S+|CN=Example seal|Built-in authority/g,
  /Archive|Lease|Tenant|passport\.pdf|Mozilla.*Firefox\/150\.0|Caveat|\bde-DE\b|B-LTA?|[0-9a-f]{8,}|\b[a-f]{4,}\b/g,
  /\b(UTC|SHA|PDF|PAdES|IP|RFC|ETSI|EN|CC|kB|MB|ID)\b/g,
];

test("the certificate has no word of its own, and its longer words fit", async () => {
  const made = await certificate({ ...certificateSample, language: pseudoLanguage, words: wordsOf("certificate") });
  if (!made.ok) throw new Error(made.error.message);
  expect(faultsOf(made.value.pdf)).toBe("");
  const pages = Array.from({ length: made.value.pageCount }, (_, index) => textOf(made.value.pdf, index + 1));
  expect(untranslated(pages.join("\n"), ofCertificates)).toEqual([]);
});
