/** Levels B-LT and B-LTA: judged by others, raised, renewed, and every change behind the seal seen. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PDFDocument } from "pdf-lib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { judgeSealedPdf } from "../../../server/commands/demo/judges.ts";
import { name, PdfDict, PdfRef, PdfStream } from "../../../workers/pdf/objects.ts";
import { openPdf } from "../../../workers/pdf/reader.ts";
import { beginRevision, type Revision } from "../../../workers/pdf/revision.ts";
import type { SealInput, SealPorts } from "../../../workers/protocol.ts";
import { extend } from "../../../workers/seal/extend.ts";
import { prolong, Unavailable } from "../../../workers/seal/long-term.ts";
import { prepareSignature } from "../../../workers/seal/placeholder.ts";
import { seal } from "../../../workers/seal/seal.ts";
import { type SealReport, verifySealedPdf } from "../../../workers/seal/verify.ts";
import { type Authority, makeAuthority } from "../../harness/authority.ts";
import { samplePdf, type Variant, variant, whole } from "../../harness/pdfs.ts";
import { appended } from "./tampering.ts";

// Behind the beginning of the certificates that are about to be made.
const at = new Date(Date.now() + 3_600_000).toISOString();
let folder: string;
let authorities: Record<SealInput["key"], Authority>;
/** Revocation lists, made once. */
const lists = new Map<Authority, Uint8Array>();

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "signet-lt-"));
  authorities = {
    rsa: makeAuthority({ ca: "rsa-3072", seal: "rsa-3072", timestamp: "ec-p256" }),
    "ec-p256": makeAuthority({ ca: "ec-p256", seal: "ec-p256", timestamp: "rsa-3072" }),
  };
  for (const authority of Object.values(authorities)) lists.set(authority, authority.revocationList());
}, 60_000);
afterAll(() => {
  for (const authority of Object.values(authorities)) authority.close();
  rmSync(folder, { recursive: true, force: true });
});

const never = (message: string) => async (): Promise<never> => {
  throw new Unavailable(message);
};
function ports(authority: Authority, changes: Partial<SealPorts> = {}): SealPorts {
  const list = lists.get(authority) ?? new Uint8Array();
  return { ...authority.ports(at), revocationList: async () => list, ...changes };
}
function input(pdf: Uint8Array, key: SealInput["key"], level: SealInput["level"]): SealInput {
  const certificates = authorities[key].seal.certificates;
  const about = { at, name: "Acme", reason: "Completed", location: null, fieldName: "Seal" };
  return { ...about, pdf, pages: null, certificates, key, level };
}
async function sealed(pdf: Uint8Array, key: SealInput["key"], level: SealInput["level"], own: Partial<SealPorts> = {}) {
  const result = await seal(input(pdf, key, level), ports(authorities[key], own));
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return { ...result.value, pdf: Buffer.from(whole(pdf, result.value.tail)) };
}
const verify = (pdf: Uint8Array, key: SealInput["key"] = "ec-p256"): SealReport =>
  verifySealedPdf(pdf, { trusted: [authorities[key].ca], at });

async function unhappyJudges(pdf: Uint8Array, key: SealInput["key"]): Promise<string[]> {
  const path = join(folder, "judged.pdf");
  writeFileSync(path, pdf);
  const verdicts = await judgeSealedPdf(path, authorities[key].caPem);
  return verdicts.filter(({ ok }) => !ok).map(({ judge, detail }) => `${judge}: ${detail}`);
}

test("the document timestamp covers the whole file, as openssl sees it", async () => {
  const { pdf } = await sealed(await samplePdf(), "ec-p256", "B-LTA");
  const stamp = verify(pdf).signatures.at(-1);
  const [, length = 0, resume = 0, rest = 0] = stamp?.byteRange ?? [];
  expect(resume + rest).toBe(pdf.length);
  const covered = join(folder, "covered.bin");
  const token = join(folder, "token.der");
  writeFileSync(covered, Buffer.concat([pdf.subarray(0, length), pdf.subarray(resume)]));
  writeFileSync(token, Buffer.from(pdf.subarray(length + 1, resume - 1).toString("latin1"), "hex"));
  const args = ["ts", "-verify", "-token_in", "-in", token, "-data", covered, "-CAfile", authorities["ec-p256"].caPem];
  expect(execFileSync("openssl", args, { encoding: "utf8", stdio: "pipe" })).toContain("Verification: OK");
});

describe("what cannot be had now", () => {
  test("a missing revocation list leaves B-T, said with its reason", async () => {
    const own = { revocationList: never("connection refused") };
    const done = await sealed(await samplePdf(), "ec-p256", "B-LTA", own);
    expect(done).toMatchObject({ level: "B-T", shortfall: expect.stringContaining("connection refused") });
    expect(verify(done.pdf)).toMatchObject({ valid: true, level: "B-T" });
    expect(await unhappyJudges(done.pdf, "ec-p256")).toEqual([]);
  });

  test("a missing document timestamp leaves B-LT, and raising it later appends only", async () => {
    const own = { archiveTimestamp: never("the authority is down") };
    const done = await sealed(await samplePdf(), "ec-p256", "B-LTA", own);
    expect(done).toMatchObject({ level: "B-LT", shortfall: expect.stringContaining("down") });
    expect(verify(done.pdf)).toMatchObject({ valid: true, level: "B-LT" });
    const raised = await extended(done.pdf, false);
    expect(raised.subarray(0, done.pdf.length).equals(done.pdf)).toBe(true);
    expect(verify(raised)).toMatchObject({ valid: true, level: "B-LTA" });
    expect(await unhappyJudges(raised, "ec-p256")).toEqual([]);
  });

  test("a list of another issuer, a stale one or none at all does not count", async () => {
    const other = lists.get(authorities.rsa) ?? new Uint8Array();
    for (const list of [other, Buffer.from("<html>"), new Uint8Array()]) {
      const done = await sealed(await samplePdf(), "ec-p256", "B-LTA", { revocationList: async () => list });
      expect(done).toMatchObject({ level: "B-T", shortfall: expect.stringContaining("no revocation list") });
    }
    const late = new Date(Date.now() + 60 * 86_400_000).toISOString();
    const given = { ...input(await samplePdf(), "ec-p256", "B-LT"), at: late };
    const result = await seal(given, { ...ports(authorities["ec-p256"]), ...lateStamps(late) });
    expect(result).toMatchObject({ ok: true, value: { level: "B-T" } });
  });
  const lateStamps = (late: string) => ({ timestamp: authorities["ec-p256"].ports(late).timestamp });
});

async function extended(pdf: Uint8Array, renew: boolean, key: SealInput["key"] = "ec-p256"): Promise<Buffer> {
  const archive = { kind: "built-in" as const, certificates: [], policy: "", serial: "" };
  const given = { pdf, trusted: [authorities[key].ca], goal: "B-LTA" as const, renew, archive, at };
  const result = await extend(given, ports(authorities[key]));
  if (!result.ok) throw new Error(result.error.message);
  expect(result.value).toMatchObject({ level: "B-LTA", shortfall: null });
  return Buffer.concat([pdf, result.value.tail]);
}

test.each<Variant>(["table", "stream"])("B-T is raised, then renewed twice, on a %s file", async (kind) => {
  const { pdf } = await sealed(await variant(kind, { pages: 2 }), "rsa", "B-T");
  const raised = await extended(pdf, false, "rsa");
  const once = await extended(raised, true, "rsa");
  const twice = await extended(once, true, "rsa");
  for (const [file, stamps] of [
    [raised, 1],
    [once, 2],
    [twice, 3],
  ] as const) {
    const report = verify(file, "rsa");
    expect(report).toMatchObject({ valid: true, level: "B-LTA" });
    expect(report.signatures.filter((one) => one.kind === "document-timestamp")).toHaveLength(stamps);
  }
  expect(twice.subarray(0, raised.length).equals(raised)).toBe(true);
  expect(await unhappyJudges(twice, "rsa")).toEqual([]);
  const reread = await PDFDocument.load(twice);
  expect(reread.getPageCount()).toBe(2);
});

test("a file that does not verify is not extended", async () => {
  const { pdf } = await sealed(await samplePdf(), "ec-p256", "B-T");
  const longer = Buffer.concat([pdf, Buffer.from("% more\n")]);
  await expect(extended(longer, false)).rejects.toThrow("bytes-after-seal");
});

test("a revoked certificate is not covered, and a list in the file that names it makes the seal fail", async () => {
  const authority = makeAuthority({ ca: "ec-p256", seal: "ec-p256" });
  try {
    const base = await samplePdf();
    const given = { ...input(base, "ec-p256", "B-LTA"), certificates: authority.seal.certificates };
    const done = await seal(given, authority.ports(at));
    if (!done.ok) throw new Error(done.error.message);
    expect(done.value.level).toBe("B-LTA");
    authority.revoke(authority.seal);
    const revoked = authority.revocationList();
    const refused = await seal(given, { ...authority.ports(at), revocationList: async () => revoked });
    expect(refused).toMatchObject({ ok: true, value: { level: "B-T", shortfall: expect.stringMatching(/revoked/) } });
    // Somebody adds the list to a file that was sealed before: it was revoked before the time of the seal.
    const file = Buffer.concat([base, done.value.tail]);
    const tail = appended(file, (revision) => {
      const list = revision.addStream(new PdfDict(), revoked);
      const { catalog } = revision;
      const store = revision.dict(catalog.get("DSS"))?.clone() ?? new PdfDict();
      store.set("CRLs", [...(revision.array(store.get("CRLs")) ?? []), list]);
      revision.set(revision.base.catalogRef, catalog.clone().set("DSS", revision.add(store)));
    });
    const report = verifySealedPdf(tail, { trusted: [authority.ca], at });
    expect(report.valid).toBe(false);
    expect(report.signatures[0]?.problems).toContain("revoked");
  } finally {
    authority.close();
  }
});

describe("tampering with the new revisions", () => {
  let pdf: Buffer;
  let short: Buffer;
  beforeAll(async () => {
    const base = await samplePdf({ pages: 2 });
    pdf = (await sealed(base, "ec-p256", "B-LTA")).pdf;
    short = (await sealed(base, "ec-p256", "B-LT")).pdf;
  });

  const flipped = (file: Buffer, index: number): Buffer => {
    const copy = Buffer.from(file);
    copy[index] = (copy[index] ?? 0) ^ 1;
    return copy;
  };

  test("every byte from the seal on counts but the letter case of a digit", () => {
    const end = verify(pdf).signatures[0]?.coveredTo ?? 0;
    const hex = [
      pdf.lastIndexOf("/Contents <") + "/Contents <".length,
      pdf.indexOf(">", pdf.lastIndexOf("/Contents <")),
    ];
    const unnoticed: number[] = [];
    for (let index = end; index < pdf.length; index += 3) {
      // In the token itself a bit turns digits into what is no digit; that is another row.
      if (index >= (hex[0] ?? 0) && index < (hex[1] ?? 0)) continue;
      if (verify(flipped(pdf, index)).valid) unnoticed.push(index);
    }
    expect(unnoticed).toEqual([]);
  });

  test("every byte of an unsigned store counts", () => {
    const end = verify(short).signatures[0]?.coveredTo ?? 0;
    const unnoticed: number[] = [];
    for (let index = end; index < short.length; index += 5) {
      const { valid, level } = verify(flipped(short, index));
      if (valid && level === "B-LT") unnoticed.push(index);
    }
    expect(unnoticed).toEqual([]);
  });

  const digit = (file: Buffer, offset: number): Buffer => {
    const copy = Buffer.from(file);
    const start = file.lastIndexOf("/Contents <") + "/Contents <".length;
    copy[start + offset] = copy[start + offset] === 0x30 ? 0x31 : 0x30;
    return copy;
  };
  const rows: [string, () => Buffer][] = [
    ["a byte of the token", () => digit(pdf, 400)],
    ["a byte of the token's padding", () => digit(pdf, 24_000)],
    ["a comment behind the timestamp", () => Buffer.concat([pdf, Buffer.from("% nothing\n")])],
    ["a comment behind the store", () => Buffer.concat([short, Buffer.from("% nothing\n")])],
    ["a missing last byte", () => pdf.subarray(0, pdf.length - 1)],
    [
      "a store appended to the timestamp by somebody",
      () =>
        appended(pdf, (revision) => {
          const { catalog } = revision;
          const store = new PdfDict([["Certs", [revision.addStream(new PdfDict([["X", 1]]), Buffer.from("x"))]]]);
          revision.set(revision.base.catalogRef, catalog.clone().set("DSS", revision.add(store)));
        }),
    ],
  ];
  test.each(rows)("%s", (_, tampered) => {
    expect(verify(tampered()).valid).toBe(false);
  });

  /** Somebody changes the sealed file and has the result stamped by the very authority that is trusted. */
  async function restamped(change: ((revision: Revision) => void) | null): Promise<Buffer> {
    const { pdf: base } = await sealed(await samplePdf({ pages: 2 }), "ec-p256", "B-T");
    const file = change ? appended(base, change) : base;
    const opened = openPdf(file);
    const about = { fieldName: "Seal T1", entries: [["SubFilter", name("ETSI.RFC3161")]] as const, capacity: 8192 };
    const prepared = prepareSignature(beginRevision(opened), about, createHash("sha256").update(file));
    const token = await authorities["ec-p256"].ports(at).timestamp(prepared.digest);
    return Buffer.concat([file, prepared.close(token)]);
  }
  const page = (revision: Revision) => {
    const found = revision.base.page(0);
    if (!found) throw new Error("no page");
    return found;
  };
  const shadows: [string, (revision: Revision) => void][] = [
    [
      "another page content",
      (revision) => {
        const { ref, dict } = page(revision);
        const content = revision.addStream(new PdfDict(), Buffer.from("0 0 m"));
        revision.set(ref, dict.clone().set("Contents", content));
      },
    ],
    [
      "the stream of a page's content",
      (revision) => {
        const contents = page(revision).dict.get("Contents");
        const ref = Array.isArray(contents) ? contents[0] : contents;
        if (!(ref instanceof PdfRef)) throw new Error("no content");
        revision.set(ref, new PdfStream(new PdfDict(), Buffer.from("0 0 m")));
      },
    ],
    [
      "an annotation on the page",
      (revision) => {
        const { ref, dict } = page(revision);
        const note = revision.add(
          new PdfDict([
            ["Subtype", name("FreeText")],
            ["Rect", [0, 0, 100, 100]],
          ]),
        );
        revision.set(ref, dict.clone().set("Annots", [...(revision.array(dict.get("Annots")) ?? []), note]));
      },
    ],
    [
      "an action when the file opens",
      (revision) => {
        const action = new PdfDict([["S", name("JavaScript")]]);
        revision.set(revision.base.catalogRef, revision.catalog.clone().set("OpenAction", action));
      },
    ],
    [
      "another page tree",
      (revision) => {
        const pages = revision.dict(revision.catalog.get("Pages"))?.clone() ?? new PdfDict();
        revision.set(revision.base.catalogRef, revision.catalog.clone().set("Pages", revision.add(pages)));
      },
    ],
    [
      "a form that redraws itself",
      (revision) => {
        const form = revision.dict(revision.catalog.get("AcroForm"))?.clone() ?? new PdfDict();
        revision.set(
          revision.base.catalogRef,
          revision.catalog.clone().set("AcroForm", form.set("NeedAppearances", true)),
        );
      },
    ],
  ];
  shadows.push(["an object that nothing refers to", (revision) => void revision.add(null)]);
  test.each(shadows)("%s under a trusted timestamp is not allowed", async (_, change) => {
    const report = verify(await restamped(change));
    expect(report.valid).toBe(false);
    expect(report.signatures[0]?.problems).toContain("changed-after");
    expect(report.signatures.at(-1)).toMatchObject({ kind: "document-timestamp", problems: [] });
  });

  test("nothing but a timestamp is allowed", async () => {
    expect(verify(await restamped(null))).toMatchObject({ valid: true, level: "B-T" });
  });
});

test("a timestamp older than what it covers is out of order", async () => {
  const { pdf } = await sealed(await samplePdf(), "ec-p256", "B-T");
  const early = authorities["ec-p256"].ports(new Date(Date.parse(at) - 3_600_000).toISOString());
  const file = openPdf(pdf);
  const given = { chains: [], goal: "B-LTA", reached: "B-T", renew: false, fieldName: "T", at } as const;
  const { tail } = await prolong(file, createHash("sha256").update(pdf), given, ports(authorities["ec-p256"], early));
  // The certificate of the authority began later than that, which is seen first.
  expect(verify(Buffer.concat([pdf, tail])).valid).toBe(false);
});
