import { describe, expect, it } from "vitest";
import { certificate } from "../../workers/certificate.ts";
import type { CertificateData, CertificatePerson } from "../../workers/protocol.ts";
import { inkPng } from "./pictures.ts";
import { faultsOf, render, textOf, wordsOf } from "./rendering.ts";

const hash = (digit: string): string => digit.repeat(64);

const person: CertificatePerson = {
  name: "Zoë Müller",
  email: "zoe@example.com",
  role: "Tenant",
  kind: "signer",
  order: 1,
  verification: "e-mail code",
  verifiedAt: "2026-11-21T09:11:12.345Z",
  sentAt: "2026-11-21T09:00:12.000Z",
  viewedAt: "2026-11-21T09:11:15.000Z",
  consentedAt: "2026-11-21T09:12:10.000Z",
  completedAt: "2026-11-21T09:12:11.000Z",
  declinedAt: null,
  ip: "2001:db8::7334",
  userAgent: "Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0",
  signatureImage: null,
  signatureText: { text: "Zoë Müller", font: "Caveat" },
  consentLocale: "de-DE",
  consentSha256: hash("c"),
  attachments: [{ filename: "passport.pdf", sha256: hash("d"), size: 123_456 }],
};

const data: CertificateData = {
  envelope: "env_4fKq81LmZ0pQ9aWbXcYdEeFf",
  title: "Residential lease",
  organization: "Example & Partners",
  template: "Lease",
  templateVersion: 7,
  testMode: false,
  createdAt: "2026-11-21T08:59:00.000Z",
  completedAt: "2026-11-21T10:01:00.000Z",
  revisions: [
    { label: "Original as rendered", sha256: hash("a") },
    { label: "After Tenant", sha256: hash("b") },
  ],
  people: [person],
  cc: [{ name: "Archive", email: "archive@example.com" }],
  viewers: [{ name: null, email: "auditor@example.com" }],
  audit: { length: 23, headHash: hash("e") },
  seal: {
    certificateSha256: hash("f"),
    subject: "CN=Example seal",
    level: "B-LTA",
    timestampAuthority: "Built-in authority",
    internalTime: true,
  },
  warnings: ["The uploaded document carried a signature."],
  verifyUrl: "https://sign.example.com/verify/env_4fKq81LmZ0pQ9aWbXcYdEeFf",
  pageSize: { width: 595.28, height: 841.89 },
};

async function made(change: Partial<CertificateData> = {}) {
  const result = await certificate({ ...data, ...change });
  if (!result.ok) throw new Error(result.error.message);
  expect(faultsOf(result.value.pdf)).toBe("");
  const pages = Array.from({ length: result.value.pageCount }, (_, index) => textOf(result.value.pdf, index + 1));
  return { ...result.value, text: pages.join("\n").replace(/\s+/g, " ") };
}

describe("the certificate of completion", () => {
  it("prints everything that is known", async () => {
    const { text } = await made();
    const lines = [
      data.title,
      data.organization,
      data.envelope,
      "Lease, version 7",
      "2026-11-21 08:59:00 UTC",
      "2026-11-21 10:01:00 UTC",
    ];
    lines.push(...data.revisions.flatMap(({ label, sha256 }) => [label, sha256]));
    lines.push(
      "Zoë Müller",
      person.email,
      "Tenant · signer · order 1",
      "e-mail code",
      "2001:db8::7334",
      "Firefox/150.0",
      "de-DE",
    );
    lines.push(
      "2026-11-21 09:11:12 UTC",
      "2026-11-21 09:00:12 UTC",
      "2026-11-21 09:11:15 UTC",
      "2026-11-21 09:12:10 UTC",
      "2026-11-21 09:12:11 UTC",
    );
    lines.push(
      hash("c"),
      "passport.pdf",
      "123.5 kB",
      hash("d"),
      "Archive <archive@example.com>",
      "auditor@example.com",
    );
    lines.push(
      "23",
      hash("e"),
      hash("f"),
      "CN=Example seal",
      "PAdES B-LTA",
      "Built-in authority (internal time source",
      data.warnings[0] ?? "",
    );
    for (const line of lines) expect(text).toContain(line);
    expect(text.replace(/\s/g, "")).toContain(data.verifyUrl);
    expect(text).not.toContain("not recorded");
    expect(text).toContain("Page 1 of 1");
  });

  it("never invents a time", async () => {
    const blank = {
      verifiedAt: null,
      viewedAt: null,
      consentedAt: null,
      completedAt: null,
      ip: null,
      userAgent: null,
      consentLocale: null,
      consentSha256: null,
    };
    const { text } = await made({ people: [{ ...person, ...blank, attachments: [] }] });
    expect(text.match(/not recorded/g)).toHaveLength(8);
    const declined = await made({ people: [{ ...person, completedAt: null, declinedAt: "2026-11-21T09:13:00.000Z" }] });
    expect(declined.text).toContain("Declined 2026-11-21 09:13:00 UTC");
    const unchecked = await made({
      people: [{ ...person, verification: "none", verifiedAt: null, kind: "countersigner" }],
    });
    expect(unchecked.text).toContain("not required");
    expect(unchecked.text).toContain("Countersigned");
  });

  it("sets names in every script, right to left too, and keeps everything on the paper", async () => {
    const names = ["株式会社 山田太郎", "김철수", "王小明", "สมชาย", "Дмитрий Щербаков", "Ελένη"];
    const rtl = ["يوسف بن عبد الرحمن", "ישראל כהן", "हिन्दी"];
    const filename = `${"a-very-long-name-without-any-space".repeat(5)}.pdf`;
    const people = [...names, ...rtl].map((name) => ({
      ...person,
      name,
      attachments: [{ filename, sha256: hash("1"), size: 9 }],
    }));
    const { pdf, pageCount, text } = await made({ people, title: "T".repeat(200), organization: "شركة الاختبار" });
    for (const name of names) expect(text).toContain(name);
    expect(text.replace(/\s/g, "")).toContain(filename);
    for (let page = 1; page <= pageCount; page++) {
      for (const word of wordsOf(pdf, page))
        expect([word, word.x >= 40 && word.right <= 560 && word.bottom <= 842]).toEqual([word, true]);
    }
  });

  it("takes the document's paper, A4 where that cannot be read", async () => {
    const sizeOf = async (width: number, height: number) => {
      const image = render((await made({ pageSize: { width, height } })).pdf, 1);
      return [image.width, image.height];
    };
    expect(await sizeOf(612, 792)).toEqual([612, 792]);
    expect(await sizeOf(842, 595)).toEqual([842, 595]);
    expect(await sizeOf(100, 100)).toEqual([596, 842]);
  });

  it("marks test mode, shows the drawn signature and the code to scan", async () => {
    const live = render(
      (await made({ people: [{ ...person, signatureText: null, signatureImage: inkPng(600, 200, 1) }] })).pdf,
      1,
    );
    const test = await made({ testMode: true });
    expect(test.text).toContain("Made in test mode");
    const marked = render(test.pdf, 1);
    const grey = (image: typeof live): number => {
      let count = 0;
      for (let y = 200; y < 700; y++)
        for (let x = 100; x < 500; x++) if (image.at(x, y) > 236 && image.at(x, y) < 248) count++;
      return count;
    };
    expect(grey(marked)).toBeGreaterThan(grey(live) + 500);
    // The code stands at the upper right, about half of its squares dark.
    let dark = 0;
    for (let y = 48; y < 105; y++) for (let x = 482; x < 542; x++) if (live.at(x, y) < 128) dark++;
    expect(dark).toBeGreaterThan(900);
  });

  it("refuses a broken picture and is the same bytes for the same data", async () => {
    const broken = await certificate({ ...data, people: [{ ...person, signatureImage: Buffer.from("no picture") }] });
    expect(broken).toMatchObject({ ok: false, error: { code: "bad-image" } });
    expect(Buffer.from((await made()).pdf).equals((await made()).pdf)).toBe(true);
  });
});
