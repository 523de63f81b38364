import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { verifySealedPdf } from "../../../workers/seal/verify.ts";

/**
 * Files that earlier versions of the program sealed (`test/harness/make-sealed-fixtures.ts`). Each must verify for ever: what
 * the seal appends is compared byte for byte with how it is written, so that a new way of writing needs the old one beside it
 * (docs/decisions/028-hostile-uploads.md).
 */

const root = path.resolve(import.meta.dirname, "../../fixtures/sealed");

describe.each(readdirSync(root))("sealed on %s", (day) => {
  const folder = path.join(root, day);
  const trusted = [readFileSync(path.join(folder, "authority.der"))];
  // Within the authority's ten years.
  const at = `${day}T23:00:00.000Z`;
  const files = readdirSync(folder).filter((name) => name.endsWith(".pdf"));

  test.each(files)("%s", (name) => {
    const pdf = readFileSync(path.join(folder, name));
    const report = verifySealedPdf(pdf, { trusted, at });
    expect(report).toMatchObject({ valid: true, level: /(B-[LTA]+)\.pdf$/.exec(name)?.[1], problems: [] });
    // Of the document itself, and of what was appended behind the seal.
    for (const place of [1000, pdf.length - 200]) {
      const changed = Buffer.from(pdf);
      changed[place] = (changed[place] ?? 0) ^ 1;
      expect(verifySealedPdf(changed, { trusted, at }).valid, `byte ${place}`).toBe(false);
    }
  });
});
