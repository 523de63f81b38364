import { describe, expect, test } from "vitest";
import { examinePdf, examineToken } from "../../../apps/shared/validation/examine.ts";
import { checkBundle } from "../../../server/features/evidence/bundle/check.ts";
import { pemsIn } from "../../../server/features/evidence/bundle/read.ts";
import { verifySealedPdf } from "../../../workers/seal/verify.ts";
import { bundlesAt as at, bundleCommits, earlierBundles } from "../../harness/earlier-bundles.ts";

/** What earlier versions handed out must verify for ever. */

describe.each(bundleCommits)("handed out by %s", (commit) => {
  const { read, pins, names, files, flipped } = earlierBundles(commit);
  const check = (of: ReadonlyMap<string, Uint8Array>, document?: Uint8Array) =>
    checkBundle(of, pins, { pdf: examinePdf, token: examineToken, at }, document);

  test.each(names)("the bundle of %s", async (name) => {
    const report = await check(await files(name));
    expect(report.steps.filter(({ ok }) => ok === false)).toEqual([]);
    expect(report.verdict).toBe("valid");
    const document = Buffer.from((await files(name)).get("document.pdf") ?? []);
    for (const place of [document.length >> 1, document.length - 200]) {
      const changed = Buffer.from(document);
      changed[place] = (changed[place] ?? 0) ^ 1;
      expect((await check(await files(name), changed)).verdict, `byte ${place}`).toBe("invalid");
    }
  });

  test("600 flipped bits, each judged as it was judged then", async () => {
    let count = 0;
    for await (const one of flipped()) {
      expect((await check(one.files)).verdict, one.about).toBe(one.verdict);
      count += 1;
    }
    expect(count).toBe(600);
  });

  test.each(names)("the certificate of completion of %s", (name) => {
    const trusted = pemsIn(read("certificates.pem").toString());
    const report = verifySealedPdf(read(`${name}-certificate.pdf`), { trusted, at });
    expect(report).toMatchObject({ valid: true, level: "B-LTA", problems: [] });
  });
});
