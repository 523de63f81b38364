import { describe, expect, it } from "vitest";
import { locales } from "../../locales/read.ts";
import { certificate } from "../../workers/certificate.ts";
import type { CertificateData } from "../../workers/protocol.ts";
import { certificateSample as data, hash, person } from "../harness/certificates.ts";
import { inkPng } from "../harness/pictures.ts";
import { faultsOf, render, textOf, wordsOf } from "../harness/rendering.ts";

const wordsIn = (language: string) => ({ language, words: locales().words(language, "certificate") });

async function made(change: Partial<CertificateData> = {}) {
  const result = await certificate({ ...data, ...change });
  if (!result.ok) throw new Error(result.error.message);
  expect(faultsOf(result.value.pdf)).toBe("");
  const pages = Array.from({ length: result.value.pageCount }, (_, index) => textOf(result.value.pdf, index + 1));
  return { ...result.value, text: pages.join("\n").replace(/\s+/g, " ") };
}

describe("the certificate of completion", () => {
  it.each([
    ["en", "the signature was removed"],
    ["de", "die Signatur wurde entfernt"],
  ])("says that a signature of the upload was removed, not that it ended (%s)", async (language, words) => {
    const { text } = await made({ ...wordsIn(language), remarks: [{ code: "signatures-removed" }] });
    expect(text).toContain(words);
    expect(text).not.toMatch(/ended the validity|nicht mehr gültig/);
  });

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
    lines.push(...data.revisions.map(({ sha256 }) => sha256), "As sent to sign", "After Zoë Müller");
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
      hash("9"),
      "PAdES B-LTA",
      "Built-in authority (internal time source",
      "2026-11-21 10:01:01 UTC",
      "ended the validity of that signature",
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

  it("says on its own file what became of the seal, and what fell short", async () => {
    const outcome = { documentSha256: hash("7"), stampedAt: "2026-11-21T10:01:03.000Z", archivedAt: null };
    const lowered = await made({ seal: { ...data.seal, internalTime: false, made: { ...outcome, level: "B-T" } } });
    for (const line of [
      "PAdES B-T when it was sealed; the settings ask for B-LTA",
      "the level B-LTA could not be reached",
      "2026-11-21 10:01:03 UTC",
      hash("7"),
    ])
      expect(lowered.text).toContain(line);
    expect(lowered.text).not.toMatch(/internal time source|not recorded|Document time stamp/);
    const archivedAt = "2026-11-21T10:01:04.000Z";
    const whole = await made({ seal: { ...data.seal, made: { ...outcome, archivedAt, level: "B-LTA" } } });
    expect(whole.text).toContain("Signature level PAdES B-LTA Time source");
    expect(whole.text).toContain("2026-11-21 10:01:04 UTC");
  });

  it("speaks German where the envelope does, English otherwise, and keeps UTC", async () => {
    const remarks: CertificateData["remarks"] = [
      { code: "already-signed" },
      { code: "repaired" },
      { code: "decrypted" },
      {
        code: "reassigned",
        from: { name: "\u05d9\u05e9\u05e8\u05d0\u05dc", email: "i@example.com" },
        to: { name: null, email: "b@example.com" },
        at: data.createdAt,
        reason: "Urlaub",
      },
    ];
    const { text, pageCount } = await made({ ...wordsIn("de"), testMode: true, remarks });
    for (const word of [
      "Abschlusszertifikat",
      "Im Testmodus erstellt",
      "UMSCHLAG",
      "Lease, Version 7",
      "Code per E-Mail",
      "Nach Zo\u00eb M\u00fcller",
      "Zum Pr\u00fcfen scannen",
      "2026-11-21 09:12:10 UTC",
      "gab das Unterschreiben an b@example.com weiter, am 2026-11-21 08:59:00 UTC: Urlaub",
      `Seite 1 von ${pageCount}`,
    ])
      expect(text).toContain(word);
    expect(text).not.toMatch(/\{\w+\}|Certificate|Completed|Identity|Signed|Page|Verify/);
  });

  it.each([
    ["ja", "完了証明書", "完了証明書"],
    ["he", "תעודת סיום", "תעודת סיום"],
    ["pt-BR", "Certificado de conclusão", "Certificado de conclusão"],
    // No font that comes along has runes: they are told by their numbers, and the document can be sealed all the same.
    ["non", "ᚠᚢ", "[U+16A0][U+16A2]"],
  ])("takes the words that it is given, in letters that it has (%s)", async (language, title, printed) => {
    const { text } = await made({ language, words: { ...data.words, title, created: "Made" } });
    expect(text.replaceAll(" ", "")).toContain(printed.replaceAll(" ", ""));
    expect(text).toContain("2026-11-21 08:59:00 UTC");
    expect(text).toContain("Made");
  });

  it("keeps fifty people, two hundred attachments and endless words on the paper, every page numbered", async () => {
    const endless = ["w", "\u0429", "\u03a9", "\u064a", "\u05d0", "\u0915", "\u0e44", "\u6587"].map((letter) =>
      letter.repeat(200),
    );
    const files = Array.from({ length: 200 }, (_, index) => ({
      filename: `${"x".repeat(100)}-${index}.pdf`,
      sha256: hash("1"),
      size: index,
    }));
    const people = Array.from({ length: 50 }, (_, index) => ({
      ...person,
      name: endless[index] ?? `z${"\u0301".repeat(60)}`,
      role: endless[index] ?? person.role,
      email: `${"e".repeat(60)}@${"d".repeat(150)}.example.com`,
      userAgent: "M".repeat(1000),
      attachments: index === 3 ? files : [],
    }));
    const { pdf, pageCount, text } = await made({ people });
    expect(text.match(/e-mail code/g)).toHaveLength(50);
    expect(text.replace(/\s/g, "").match(new RegExp(hash("1"), "g"))).toHaveLength(200);
    for (let page = 1; page <= pageCount; page++) {
      expect(text).toContain(`Page ${page} of ${pageCount}`);
      for (const word of wordsOf(pdf, page))
        expect([word, word.x >= 40 && word.right <= 560 && word.bottom <= 842]).toEqual([word, true]);
    }
  });

  it("lets nobody's words hide or turn what stands beside them", async () => {
    const name = "Ann \u202egpj.exe\u202c\u0000\u0007\ud800";
    const reassigned = {
      code: "reassigned",
      from: { name, email: "a@example.com" },
      to: { name: "\u05d0\u2069\u2069 x", email: "b@example.com" },
      at: data.createdAt,
      reason: "\u2067\u202d",
    } as const;
    const { text } = await made({
      people: [{ ...person, name }],
      revisions: [{ after: name, sha256: hash("a") }],
      remarks: [reassigned],
    });
    // In the order in which it was written, as are our words around it.
    expect(text).toContain("Ann gpj.exe");
    expect(text).toMatch(/Ann gpj\.exe\S* <a@example\.com> passed the signing on to/);
    expect(text).toContain("b@example.com> at 2026-11-21 08:59:00 UTC:");
    for (const hidden of ["\u0000", "\u0007", "\u202d", "\u202e"]) expect(text).not.toContain(hidden);
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
    const many = await made({ testMode: true, people: Array.from({ length: 8 }, () => person) });
    expect(many.pageCount).toBeGreaterThan(2);
    for (let page = 1; page < many.pageCount; page++) {
      expect(grey(render(many.pdf, page))).toBeGreaterThan(grey(live) + 500);
      expect(textOf(many.pdf, page)).toMatch(/\bTE\b/);
    }
    // The code stands at the upper right, about half of its squares dark.
    let dark = 0;
    for (let y = 48; y < 105; y++) for (let x = 482; x < 542; x++) if (live.at(x, y) < 128) dark++;
    expect(dark).toBeGreaterThan(900);
  });

  it("is the same bytes whatever was set before it, with no word of another envelope", async () => {
    const about = (name: string): CertificateData => ({
      ...data,
      title: `Lease of ${name}`,
      organization: `House of ${name}`,
      people: [{ ...person, name, signatureImage: inkPng(60, 20, name.length), signatureText: null }],
      remarks: [],
    });
    const [ann, bob] = [about("Ann Miller"), about("Bob Millers")];
    const set = async (one: CertificateData): Promise<Uint8Array> => {
      const result = await certificate(one);
      if (!result.ok) throw new Error(result.error.message);
      return result.value.pdf;
    };
    const [first, second] = [await set(ann), await set(bob)];
    expect(textOf(first)).toContain("Lease of Ann Miller");
    expect(textOf(second)).not.toContain("Ann");
    // So often that what the typesetter keeps is thrown away in between.
    for (let round = 0; round < 12; round++) {
      expect(Buffer.compare(await set(ann), first)).toBe(0);
      expect(Buffer.compare(await set(bob), second)).toBe(0);
    }
  });

  it("refuses a broken picture and is the same bytes for the same data", async () => {
    const broken = await certificate({ ...data, people: [{ ...person, signatureImage: Buffer.from("no picture") }] });
    expect(broken).toMatchObject({ ok: false, error: { code: "bad-image" } });
    expect(Buffer.from((await made()).pdf).equals((await made()).pdf)).toBe(true);
  });
});
