import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { inflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { examinePdf, examineToken } from "../../../apps/shared/validation/examine.ts";
import { checkBundle, type Pins } from "../../../server/features/evidence/bundle.ts";
import { pemsIn } from "../../../server/features/evidence/bundle-read.ts";
import { readZip } from "../../../server/features/evidence/zip.ts";
import { AnchorKeys } from "../../../server/features/keys/contract.ts";
import { verifySealedPdf } from "../../../workers/seal/verify.ts";

/** What whole appliances of earlier versions handed out (`test/harness/make-evidence-fixtures.ts`). It must verify for ever. */

const root = path.resolve(import.meta.dirname, "../../fixtures/evidence");
const Flip = z.object({
  bundle: z.string(),
  name: z.string(),
  place: z.int(),
  bit: z.int(),
  verdict: z.string(),
});
/** Within the authorities' ten years. */
const at = "2026-11-23T00:00:00.000Z";

describe.each(readdirSync(root))("handed out by %s", (commit) => {
  const read = (name: string) => readFileSync(path.join(root, commit, name));
  const pemsOf = (name: string) => pemsIn(read(name).toString());
  const prints = (name: string) => pemsOf(name).map((der) => createHash("sha256").update(der).digest("hex"));
  const pins: Pins = {
    kids: AnchorKeys.parse(JSON.parse(read("keys.json").toString())).keys.map(({ kid }) => kid),
    certificates: prints("certificates.pem"),
    timestamps: prints("timestamp-certificates.pem"),
  };
  const names = readdirSync(path.join(root, commit)).flatMap((name) => /^(.+)\.zip$/.exec(name)?.[1] ?? []);
  const files = (name: string) => readZip(read(`${name}.zip`), async (bytes) => inflateRawSync(bytes));
  const check = async (name: string, document?: Uint8Array) =>
    await checkBundle(await files(name), pins, { pdf: examinePdf, token: examineToken, at }, document);

  test.each(names)("the bundle of %s", async (name) => {
    const report = await check(name);
    expect(report.steps.filter(({ ok }) => ok === false)).toEqual([]);
    expect(report.verdict).toBe("valid");
    const document = Buffer.from((await files(name)).get("document.pdf") ?? []);
    for (const place of [document.length >> 1, document.length - 200]) {
      const changed = Buffer.from(document);
      changed[place] = (changed[place] ?? 0) ^ 1;
      expect((await check(name, changed)).verdict, `byte ${place}`).toBe("invalid");
    }
  });

  // `test/harness/make-flip-fixtures.ts`, in the checkout of that commit.
  test("600 flipped bits, each judged as it was judged then", async () => {
    const lines = read("flips.jsonl").toString().trim().split("\n");
    expect(lines).toHaveLength(600);
    const otherwise: string[] = [];
    for (const line of lines) {
      const { bundle, name, place, bit, verdict } = Flip.parse(JSON.parse(line));
      const changed = new Map(await files(bundle.replace(/\.zip$/, "")));
      const bytes = Buffer.from(changed.get(name) ?? []);
      bytes[place] = (bytes[place] ?? 0) ^ (1 << bit);
      changed.set(name, bytes);
      const report = await checkBundle(changed, pins, { pdf: examinePdf, token: examineToken, at });
      if (report.verdict !== verdict) otherwise.push(`${name} ${place}: ${verdict}, now ${report.verdict}`);
    }
    // The spare bits at the end of a base64 text, which no longer pass.
    expect(otherwise).toEqual(["checkpoint.txt 174: valid, now invalid"]);
  });

  test.each(names)("the certificate of completion of %s", (name) => {
    const report = verifySealedPdf(read(`${name}-certificate.pdf`), { trusted: pemsOf("certificates.pem"), at });
    expect(report).toMatchObject({ valid: true, level: "B-LTA", problems: [] });
  });
});
