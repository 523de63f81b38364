import { execFileSync } from "node:child_process";
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, sign, X509Certificate } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { crc32, inflateRawSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { examinePdf, examineToken } from "../../../apps/shared/validation/examine.ts";
import { anchorBytes, leafBytes, thumbprintBytes, toHex } from "../../../server/features/evidence/anchors/anchor.ts";
import { leafHash } from "../../../server/features/evidence/anchors/merkle.ts";
import { checkBundle, type Pins } from "../../../server/features/evidence/bundle/check.ts";
import { attachmentsFolder, bundleFiles, type Files } from "../../../server/features/evidence/bundle/contents.ts";
import { readZip, zipParts } from "../../../server/features/evidence/bundle/zip.ts";
import { Anchor, Leaf } from "../../../server/features/evidence/contract.ts";
import { saidStep, sha256 } from "../../../server/features/evidence/verify.ts";
import { evidenceWords, verifyBundle } from "../../../server/features/evidence/verify-file.ts";
import { canonicalize, type Json } from "../../../server/kernel/canonical.ts";
import { name, PdfDict } from "../../../workers/pdf/objects.ts";
import { openPdf } from "../../../workers/pdf/reader.ts";
import { beginRevision } from "../../../workers/pdf/revision.ts";
import { maySeal, parseCertificate } from "../../../workers/seal/certificate.ts";
import { prepareSignature } from "../../../workers/seal/placeholder.ts";
import { seal } from "../../../workers/seal/seal.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { type Authority, makeAuthority } from "../../harness/authority.ts";
import { pinsFrom, sealedEnvelope } from "../../harness/bundles.ts";
import { movableClock } from "../../harness/clock.ts";
import { samplePdf } from "../../harness/pdfs.ts";
import { publishTemplate } from "../../harness/scenario.ts";

/**
 * What a forger may make of a genuine bundle, judged under the keys of the installation by `signet verify` and by the
 * page: both must refuse it (docs/decisions/024 has the table of who can forge what).
 */

const clock = movableClock();
let app: TestAppliance;
let forger: Authority;
let genuine: Files;
let other: Files;
let pins: Pins;
/** The anchor of a bundle that a test makes up, under a key that is pinned for it. */
const anchorKey = generateKeyPairSync("ed25519");
const x = z.object({ x: z.string() }).parse(anchorKey.publicKey.export({ format: "jwk" })).x;
const kid = createHash("sha256").update(thumbprintBytes(x)).digest("base64url");

beforeAll(async () => {
  app = await startAppliance({ clock });
  forger = makeAuthority({ name: "Forger", seal: "ec-p256" });
  const template = await publishTemplate(app);
  genuine = await bundleOf(await sealedEnvelope(app, clock, template));
  other = await bundleOf(await sealedEnvelope(app, clock, template));
  pins = await pinsFrom(app);
}, 120_000);
afterAll(async () => {
  await app?.stop();
  forger?.close();
});

const unpack = (zip: Uint8Array) => readZip(zip, async (bytes) => inflateRawSync(bytes));
const bundleOf = async (id: string): Promise<Files> =>
  unpack(Buffer.from(await (await app.call(`/v1/envelopes/${id}/evidence`)).arrayBuffer()));
const pack = (files: Files) =>
  Buffer.concat(
    zipParts(
      [...files].map(([name, bytes]) => ({ name, bytes })),
      "2026-11-21T12:00:00.000Z",
    ),
  );
const fileOf = (files: Files, name: string): Uint8Array => {
  const bytes = files.get(name);
  if (!bytes) throw new Error(`no ${name}`);
  return bytes;
};
const put = (files: Files, ...changes: [string, Uint8Array | string][]): Files =>
  new Map([...files, ...changes.map(([name, bytes]) => [name, Buffer.from(bytes)] as const)]);
const without = (files: Files, drop: (name: string) => boolean): Files =>
  new Map([...files].filter(([name]) => !drop(name)));
const isAttachment = (name: string) => name.startsWith(attachmentsFolder);
const jsonIn = <T>(files: Files, name: string, schema: z.ZodType<T>): T =>
  schema.parse(JSON.parse(Buffer.from(fileOf(files, name)).toString()));

/** What the command line and the page say; they must agree. */
async function verdicts(files: Files, trusted = pins) {
  const cli = await verifyBundle({ pool: app.deps.pool, clock }, pack(files), trusted);
  const page = await checkBundle(files, trusted, { pdf: examinePdf, token: examineToken, at: clock.ts() });
  expect(page.verdict).toBe(cli.verdict);
  expect(page.steps.map((step) => saidStep(evidenceWords(), step))).toEqual(cli.steps);
  return { verdict: cli.verdict, exitCode: cli.exitCode, codes: cli.steps.map(({ code }) => code), cli };
}

/** The genuine bundle with a page of the certificate replaced, in a further revision. */
function altered(pdf: Uint8Array): Buffer {
  const file = openPdf(pdf);
  const page = file.page(0);
  if (!page) throw new Error("no page");
  const revision = beginRevision(file);
  const text = "BT /F1 40 Tf 50 500 Td (SIGNED BY MALLORY FOR 1000000 EUR) Tj ET";
  const content = revision.addStream(new PdfDict(), Buffer.from(text));
  const font = [
    ["Type", name("Font")],
    ["Subtype", name("Type1")],
    ["BaseFont", name("Helvetica-Bold")],
  ] as const;
  const resources = new PdfDict([["Font", new PdfDict([["F1", revision.add(new PdfDict([...font]))]])]]);
  revision.set(page.ref, page.dict.clone().set("Contents", content).set("Resources", resources));
  return Buffer.concat([pdf, revision.finish().bytes]);
}

/** When the forger's certificates, which openssl makes by the clock of the machine, are valid. */
const forgersTime = (certificate: Uint8Array = forger.ca): string =>
  new Date(new X509Certificate(certificate).validFromDate.getTime() + 3_600_000).toISOString();

/** The same, stamped by the forger's own authority. */
async function restamped(pdf: Uint8Array): Promise<Buffer> {
  const bad = altered(pdf);
  const entries = [
    ["Type", name("DocTimeStamp")],
    ["Filter", name("Adobe.PPKLite")],
    ["SubFilter", name("ETSI.RFC3161")],
  ] as const;
  const field = { entries: [...entries], fieldName: "X", capacity: 12_000 };
  const prepared = prepareSignature(beginRevision(openPdf(bad)), field, createHash("sha256").update(bad));
  const token = await forger.ports(forgersTime(forger.ca)).archiveTimestamp(prepared.digest);
  return Buffer.concat([bad, prepared.close(token)]);
}

/** A certificate of the forger's authority for these purposes, with its key. */
function certified(purposes: string) {
  const place = (file: string) => path.join(forger.folder, file);
  const use = purposes === "" ? "" : `extendedKeyUsage=${purposes}\n`;
  writeFileSync(place("p.cnf"), `[p]\nbasicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\n${use}`);
  const run = (...args: string[]) => execFileSync("openssl", args, { stdio: "pipe" });
  const subject = ["-subj", "/CN=mallory.example", "-keyout", place("p.key"), "-out", place("p.csr")];
  run("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", ...subject);
  const issue = ["-CA", forger.caPem, "-CAkey", place("ca.key"), "-CAcreateserial", "-days", "90"];
  run(
    "x509",
    "-req",
    "-in",
    place("p.csr"),
    ...issue,
    "-extfile",
    place("p.cnf"),
    "-extensions",
    "p",
    "-out",
    place("p.crt"),
  );
  const { raw } = new X509Certificate(readFileSync(place("p.crt")));
  return { raw, key: createPrivateKey(readFileSync(place("p.key"))) };
}

/** A PDF of the forger's with a seal that he makes. */
async function sealedBy(certificates: Uint8Array[], key?: KeyObject) {
  const at = forgersTime(certificates[0]);
  const pdf = altered(await samplePdf());
  const reason = "Certificate of completion";
  const about = { at, name: "Example Ltd", reason, location: null, fieldName: "Seal Z", level: "B-T" } as const;
  const ports = { ...forger.ports(at), ...(key && { sign: async (bytes: Uint8Array) => sign("sha256", bytes, key) }) };
  const made = await seal({ ...about, pdf, pages: null, certificates, key: "ec-p256" }, ports);
  return made.ok ? Buffer.concat([pdf, made.value.tail]) : null;
}

const Entry = z.looseObject({ hash: z.string(), seq: z.int(), type: z.string(), data: z.record(z.string(), z.json()) });

/** The trail with entries rewritten, every hash and link made anew. */
function rechained(entries: z.infer<typeof Entry>[]) {
  let head = "0".repeat(64);
  return entries.map(({ hash: _, ...entry }) => {
    const body = z.record(z.string(), z.json()).parse({ ...entry, prevHash: head });
    head = createHash("sha256").update(canonicalize(body)).digest("hex");
    return { ...body, hash: head };
  });
}

/** A bundle whose leaf, tree and anchor a test makes, signed with `anchorKey`: what the installation itself would make. */
function issued(
  change: { leaf?: Partial<Leaf>; trail?: (entry: z.infer<typeof Entry>) => object },
  validUntil?: string,
) {
  const audit = jsonIn(genuine, bundleFiles.audit, z.array(Entry));
  const made = change.trail ? rechained(audit.map((one) => Entry.parse(change.trail?.(one)))) : audit;
  const auditHash = z.string().parse(made.at(-1)?.hash);
  const leaf = { ...jsonIn(genuine, bundleFiles.leaf, Leaf), auditHash, ...change.leaf };
  const rootHash = toHex(leafHash(sha256, leafBytes(leaf)));
  const first = { ...jsonIn(genuine, bundleFiles.anchor, Anchor), sequence: 1, treeSize: 1, rootHash, kid };
  const body = { ...first, previousAnchorHash: null, consistency: [], timestampToken: null };
  const anchorHash = createHash("sha256").update(anchorBytes(body)).digest("hex");
  const signature = sign(null, anchorBytes(body), anchorKey.privateKey).toString("base64");
  const validFrom = "2020-01-01T00:00:00.000Z";
  const jwk = { kty: "OKP", crv: "Ed25519", x, kid, use: "sig", alg: "EdDSA", validFrom } as const;
  const json = (value: unknown) => canonicalize(z.json().parse(JSON.parse(JSON.stringify(value))) satisfies Json);
  const files = put(
    without(genuine, (one) => one === bundleFiles.checkpoint),
    [bundleFiles.audit, json(made)],
    [bundleFiles.leaf, json(leaf)],
    [bundleFiles.proof, json({ leafIndex: 0, treeSize: 1, leafHash: rootHash, path: [] })],
    [bundleFiles.anchor, json({ ...body, anchorHash, signature })],
    [bundleFiles.keys, json({ keys: [{ ...jwk, validUntil: null }] })],
  );
  const known: Pins = { ...pins, kids: [], keys: [{ ...jwk, validUntil: validUntil ?? null }] };
  return { files, known };
}

const pemsWith = (authority: Authority, list: string) =>
  Buffer.concat([genuine.get(list) ?? Buffer.alloc(0), readFileSync(authority.caPem)]);

test("what is genuine is proven, also when a test issues it", async () => {
  expect(await verdicts(genuine)).toMatchObject({ verdict: "valid", exitCode: 0 });
  expect(await verdicts(other)).toMatchObject({ verdict: "valid", exitCode: 0 });
  const made = issued({});
  expect(await verdicts(made.files, made.known)).toMatchObject({ verdict: "valid", exitCode: 0 });
  expect((await verdicts(genuine)).codes).toEqual(
    expect.arrayContaining(["certificate-fits", "attachments-fit", "files-known"]),
  );
});

const forgeries: [string, () => Files | Promise<Files>, string][] = [
  [
    "the certificate of another envelope",
    () => put(genuine, [bundleFiles.certificate, fileOf(other, bundleFiles.certificate)]),
    "certificate-other",
  ],
  [
    "another sealed contract as the certificate",
    () => put(genuine, [bundleFiles.certificate, fileOf(other, bundleFiles.document)]),
    "certificate-other",
  ],
  [
    "a page of the certificate replaced and stamped by a forger's authority",
    async () =>
      put(
        genuine,
        [bundleFiles.certificate, await restamped(fileOf(genuine, bundleFiles.certificate))],
        [bundleFiles.authorities, pemsWith(forger, bundleFiles.authorities)],
      ),
    "certificate-wrong",
  ],
  [
    "a page of the document replaced and stamped by a forger's authority",
    async () =>
      put(
        genuine,
        [bundleFiles.document, await restamped(fileOf(genuine, bundleFiles.document))],
        [bundleFiles.authorities, pemsWith(forger, bundleFiles.authorities)],
      ),
    "revisions-wrong",
  ],
  ["an attachment dropped", () => without(genuine, isAttachment), "attachment-missing"],
  [
    "an attachment renamed",
    () => {
      const [[, bytes] = ["", Buffer.alloc(0)]] = [...genuine].filter(([one]) => isAttachment(one));
      return put(without(genuine, isAttachment), [`${attachmentsFolder}power-of-attorney.pdf`, bytes]);
    },
    "attachment-strange",
  ],
  [
    "an attachment twice, under a second name",
    () => put(genuine, [`${attachmentsFolder}second.png`, fileOf(genuine, `${attachmentsFolder}passport.png`)]),
    "attachment-strange",
  ],
  [
    "a file that nobody checks, and a README that points to it",
    () => put(genuine, ["CONTRACT (final).pdf", "%PDF-forged"], [bundleFiles.readme, "The contract is void."]),
    "file-strange",
  ],
  ["the document alone left out", () => without(genuine, (one) => one === bundleFiles.document), "file-missing"],
  ["the certificate alone left out", () => without(genuine, (one) => one === bundleFiles.certificate), "file-missing"],
];

describe("a forgery is wrong, for the command line and the page", () => {
  test.each(forgeries)("%s", async (_, make, code) => {
    const found = await verdicts(await make());
    expect(found).toMatchObject({ verdict: "invalid", exitCode: 1 });
    expect(found.codes).toContain(code);
  });

  test.each([
    ["serverAuth,clientAuth", false],
    ["clientAuth", false],
    ["codeSigning", false],
    ["critical,timeStamping", false],
    ["OCSPSigning", false],
    ["1.3.6.1.4.1.311.80.1", false],
    ["", true],
    ["emailProtection,clientAuth", true],
    ["1.3.6.1.5.5.7.3.36", true],
    ["1.2.840.113583.1.1.5", true],
    ["1.3.6.1.4.1.311.10.3.12", true],
  ])("a seal with a certificate for %j: %s", async (purposes, may) => {
    const { raw, key } = certified(purposes);
    expect(maySeal(parseCertificate(raw))).toBe(may);
    expect((await sealedBy([raw, forger.ca], key)) !== null).toBe(may);
  });

  test("a certificate sealed under a root that is trusted for time stamps alone", async () => {
    const forged = await sealedBy(forger.seal.certificates);
    if (!forged) throw new Error("not sealed");
    const files = put(
      genuine,
      [bundleFiles.certificate, forged],
      [bundleFiles.timestampAuthorities, pemsWith(forger, bundleFiles.timestampAuthorities)],
    );
    const root = createHash("sha256").update(forger.ca).digest("hex");
    const known = { ...pins, timestamps: [...(pins.timestamps ?? []), root] };
    // The root lies there for time stamps of other seals, as an outside authority's does.
    const honest = put(genuine, [bundleFiles.timestampAuthorities, readFileSync(forger.caPem)]);
    expect(await verdicts(honest, known)).toMatchObject({ verdict: "valid" });
    const found = await verdicts(files, known);
    expect(found).toMatchObject({ verdict: "invalid", exitCode: 1 });
    expect(found.cli.causes).toEqual(expect.arrayContaining(["certificate-other", "untrusted"]));
  });

  test("an anchor signed after the pinned key had ended, whatever the evidence says of the key", async () => {
    const { files, known } = issued({}, "2021-01-01T00:00:00.000Z");
    const found = await verdicts(files, known);
    expect(found).toMatchObject({ verdict: "invalid", exitCode: 1 });
    expect(found.codes).toContain("key-not-valid");
    // Of a key that was only named nothing else is known: there the evidence's own word counts.
    expect(await verdicts(files, { ...pins, kids: [kid] })).toMatchObject({ verdict: "valid" });
  });
});

describe("what nothing proves is amber", () => {
  test("an entry that was made up behind the one that the leaf fixes", async () => {
    const audit = jsonIn(genuine, bundleFiles.audit, z.array(Entry));
    const last = audit.at(-1);
    if (!last) throw new Error("no trail");
    const longer = rechained([...audit, { ...last, seq: last.seq + 1 }]);
    const found = await verdicts(put(genuine, [bundleFiles.audit, canonicalize(longer)]));
    expect(found).toMatchObject({ verdict: "incomplete", exitCode: 2 });
    expect(found.codes).toContain("audit-later");
  });

  test("a trail of the first versions, which names neither certificate nor attachments", async () => {
    const { files, known } = issued({
      trail: (entry) => {
        const { certificateSha256: _, attachments: __, ...data } = entry.data;
        return { ...entry, data };
      },
    });
    const found = await verdicts(files, known);
    expect(found).toMatchObject({ verdict: "incomplete", exitCode: 2 });
    expect(found.codes).toContain("certificate-unnamed");
    const swapped = put(files, [bundleFiles.certificate, fileOf(other, bundleFiles.certificate)]);
    expect(await verdicts(swapped, known)).toMatchObject({ verdict: "incomplete", exitCode: 2 });
    const fewer = await verdicts(without(files, isAttachment), known);
    expect(fewer.codes).toContain("attachments-unnamed");
    const more = put(files, [`${attachmentsFolder}more.txt`, "new"]);
    expect(await verdicts(more, known)).toMatchObject({ verdict: "invalid", exitCode: 1 });
  });

  test("a document of the test mode, whose codes members read", async () => {
    const { files, known } = issued({ leaf: { testMode: true } });
    const found = await verdicts(files, known);
    expect(found).toMatchObject({ verdict: "test", exitCode: 2, cli: { testMode: true } });
    expect(found.codes).toContain("leaf-test");
  });

  test("a time stamp that a forger put on the anchor, whose signature does not cover it", async () => {
    const anchor = jsonIn(genuine, bundleFiles.anchor, Anchor);
    const token = await forger.ports(forgersTime()).archiveTimestamp(Buffer.from(anchor.anchorHash, "hex"));
    const stamped = { ...anchor, timestampToken: Buffer.from(token).toString("base64") };
    const found = await verdicts(
      put(
        genuine,
        [bundleFiles.anchor, canonicalize(stamped)],
        [bundleFiles.authorities, pemsWith(forger, bundleFiles.authorities)],
      ),
    );
    expect(found.codes).toContain("token-unknown-authority");
    expect(found.codes).not.toContain("token-holds");
  });

  test("a bundle without its documents", async () => {
    const names: readonly string[] = [bundleFiles.document, bundleFiles.certificate];
    const stripped = without(genuine, (one) => names.includes(one) || isAttachment(one));
    expect(await verdicts(stripped)).toMatchObject({ verdict: "no-document", exitCode: 2 });
  });
});

describe("an archive that programs read differently is none", () => {
  const u16 = (...values: number[]) => Buffer.from(values.flatMap((value) => [value & 255, value >> 8]));
  const u32 = (...values: number[]) => Buffer.concat(values.map((value) => Buffer.from(Uint32Array.of(value).buffer)));
  const lie = Buffer.from("%PDF-1.4 FORGED DOCUMENT");
  const about = (bytes: Buffer) => u32(crc32(bytes), bytes.length, bytes.length);
  const local = (file: string, bytes: Buffer) =>
    Buffer.concat([
      u32(0x04034b50),
      u16(20, 0x800, 0, 0, 0x5d75),
      about(bytes),
      u16(file.length, 0),
      Buffer.from(file),
      bytes,
    ]);
  const listed = (file: string, bytes: Buffer, at: number) =>
    Buffer.concat([
      u32(0x02014b50),
      u16(0x314, 20, 0x800, 0, 0, 0x5d75),
      about(bytes),
      u16(file.length, 0, 0, 0, 0),
      u32(0, at),
      Buffer.from(file),
    ]);
  const end = (count: number, size: number, at: number, comment = Buffer.alloc(0)) =>
    Buffer.concat([u32(0x06054b50), u16(0, 0, count, count), u32(size, at), u16(comment.length), comment]);
  const parts = () => {
    const zip = pack(genuine);
    const tail = zip.length - 22;
    const [count, size, at] = [zip.readUInt16LE(tail + 10), zip.readUInt32LE(tail + 12), zip.readUInt32LE(tail + 16)];
    return {
      zip,
      body: zip.subarray(0, tail),
      entries: zip.subarray(0, at),
      directory: zip.subarray(at, tail),
      count,
      size,
      at,
    };
  };
  const archives: [string, () => Buffer][] = [
    [
      "the genuine end in the comment of a forged one",
      () => {
        const { body, count, size, at } = parts();
        const forged = local("document.pdf", lie);
        const directory = listed("document.pdf", lie, body.length);
        const inner = Buffer.concat([end(count, size, at).subarray(0, 20), u16(0)]);
        return Buffer.concat([body, forged, directory, end(1, directory.length, body.length + forged.length, inner)]);
      },
    ],
    [
      "a second document that the directory does not list",
      () => {
        const { entries, directory, count, size, at } = parts();
        const hidden = local("document.pdf", lie);
        return Buffer.concat([entries, hidden, directory, end(count, size, at + hidden.length)]);
      },
    ],
    [
      "a second document before those that the directory lists",
      () => {
        const { entries, directory, count, size, at } = parts();
        const hidden = local("document.pdf", lie);
        const moved = Buffer.from(directory);
        for (let from = 0; from < moved.length; from += 46 + moved.readUInt16LE(from + 28))
          moved.writeUInt32LE(moved.readUInt32LE(from + 42) + hidden.length, from + 42);
        return Buffer.concat([hidden, entries, moved, end(count, size, at + hidden.length)]);
      },
    ],
    [
      "a name that differs in the entry itself",
      () => {
        const { zip } = parts();
        const made = Buffer.from(zip);
        made.write("documenT.pdf", made.indexOf("document.pdf%PDF"));
        return made;
      },
    ],
    ["something before the first entry", () => Buffer.concat([Buffer.from("#!/bin/sh\n"), parts().zip])],
    ["something behind the end", () => Buffer.concat([parts().zip, Buffer.from("PK")])],
    [
      "a directory that is stated longer than it is",
      () => {
        const { body, count, size, at } = parts();
        return Buffer.concat([body, end(count, size - 1, at)]);
      },
    ],
  ];
  test.each(archives)("%s", async (_, make) => {
    await expect(unpack(make())).rejects.toMatchObject({ name: "ZipError", fault: "ambiguous" });
    await expect(verifyBundle({ pool: app.deps.pool, clock }, make(), pins)).rejects.toThrow();
  });
});
