import { createHash, generateKeyPairSync, sign, X509Certificate } from "node:crypto";
import path from "node:path";
import { deflateSync } from "node:zlib";
import type { Browser, Page } from "playwright";
import { build } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import * as web from "../../apps/shared/validation/node-crypto.ts";
import { inflateSync } from "../../apps/shared/validation/node-zlib.ts";
import { validationAliases } from "../../scripts/validation-aliases.ts";
import type { SealLevel } from "../../workers/protocol.ts";
import { seal } from "../../workers/seal/seal.ts";
import { verifyTimestamp } from "../../workers/seal/timestamp-verify.ts";
import { verifySealedPdf } from "../../workers/seal/verify.ts";
import { type Authority, type KeyKind, makeAuthority } from "../harness/authority.ts";
import { launch } from "../harness/page.ts";
import { samplePdf, type Variant, variant } from "../harness/pdfs.ts";

/** In Chromium the validation finds what it finds on the server: the same report, word for word, over good and bad files. */

const at = new Date(Date.now() + 60_000).toISOString();
let browser: Browser;
let page: Page;
const authorities = new Map<KeyKind, Authority>();

beforeAll(async () => {
  browser = await launch();
  page = await browser.newPage();
  const built = await build({
    configFile: false,
    logLevel: "error",
    resolve: { alias: validationAliases },
    build: {
      write: false,
      minify: false,
      modulePreload: false,
      rollupOptions: { input: path.join(import.meta.dirname, "validation-page.ts"), output: { format: "iife" } },
    },
  });
  const [output] = [built].flat();
  const chunk = output && "output" in output ? output.output.find((one) => one.type === "chunk") : undefined;
  if (chunk?.type !== "chunk") throw new Error("the page was not built");
  await page.addScriptTag({ content: chunk.code });
  for (const kind of ["rsa-3072", "ec-p256"] as const)
    authorities.set(kind, makeAuthority({ seal: kind, timestamp: kind }));
});
afterAll(async () => {
  await browser?.close();
  for (const authority of authorities.values()) authority.close();
});

function authorityOf(kind: KeyKind): Authority {
  const found = authorities.get(kind);
  if (!found) throw new Error(`no authority for ${kind}`);
  return found;
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

/** Calls one of the page's functions with bytes, lists of bytes and texts. */
async function call(name: "examinePdf" | "examineToken", ...given: (string | string[] | { text: string })[]) {
  const text: unknown = await page.evaluate(`(async () => {
    const bytes = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const value = (one) => Array.isArray(one) ? one.map(bytes) : typeof one === "string" ? bytes(one) : one.text;
    return JSON.stringify(await validation.${name}(...${JSON.stringify(given)}.map(value)));
  })()`);
  return z.json().parse(JSON.parse(z.string().parse(text)));
}

const inBrowser = (pdf: Uint8Array, trusted: readonly Uint8Array[]) =>
  call("examinePdf", base64(pdf), trusted.map(base64), { text: at });

const onServer = (pdf: Uint8Array, trusted: readonly Uint8Array[]): unknown =>
  JSON.parse(JSON.stringify(verifySealedPdf(pdf, { trusted, at })));

async function sealed(kind: KeyKind, level: SealLevel, base: Uint8Array): Promise<Buffer> {
  const authority = authorityOf(kind);
  const input = {
    pdf: base,
    pages: null,
    certificates: authority.seal.certificates,
    key: kind === "ec-p256" ? "ec-p256" : "rsa",
    at,
    name: "Zürich Süd, 東京",
    reason: "Completed",
    location: null,
    level,
    fieldName: "Seal",
  } as const;
  const result = await seal(input, authority.ports());
  if (!result.ok) throw new Error(result.error.message);
  return Buffer.concat([base, result.value.tail]);
}

const rows: [KeyKind, SealLevel, Variant][] = [
  ["rsa-3072", "B-T", "table"],
  ["ec-p256", "B-LTA", "stream"],
  ["rsa-3072", "B-LTA", "hybrid"],
  ["ec-p256", "B-LT", "linearized"],
];

test.each(rows)("the same report on %s %s over a file with %s, whole and tampered with", async (kind, level, form) => {
  const pdf = await sealed(kind, level, await variant(form, { pages: 2 }));
  const trusted = [authorityOf(kind).ca];
  expect(onServer(pdf, trusted)).toMatchObject({ valid: true, level });
  const flip = (index: number) => {
    const copy = Buffer.from(pdf);
    copy[index] = (copy[index] ?? 0) ^ 1;
    return copy;
  };
  const hex = pdf.indexOf("/Contents <", pdf.indexOf("/ByteRange")) + "/Contents <".length;
  const other = authorityOf(kind === "ec-p256" ? "rsa-3072" : "ec-p256");
  const files: [Uint8Array, Uint8Array[]][] = [
    [pdf, trusted],
    [pdf, [other.ca]],
    [flip(pdf.indexOf("endstream") - 20), trusted],
    [flip(pdf.indexOf("/M (D:") + 8), trusted],
    [flip(pdf.length - 1), trusted],
    [Buffer.concat([pdf, Buffer.from("% nothing\n")]), trusted],
    [pdf.subarray(0, pdf.length - 100), trusted],
  ];
  for (const [file, roots] of files) expect(await inBrowser(file, roots)).toEqual(onServer(file, roots));
  // Bytes all over the CMS: two readers of damaged certificates may name another cause, and never accept one.
  for (let n = 0; n < 12; n += 1) {
    const changed = flip(hex + 40 + 2 * 97 * n);
    expect(onServer(changed, trusted)).toMatchObject({ valid: false });
    expect(await inBrowser(changed, trusted)).toMatchObject({ valid: false });
  }
});

test("the same on what is no sealed PDF", async () => {
  const trusted = [authorityOf("ec-p256").ca];
  for (const file of [Buffer.from("hello"), Buffer.from("%PDF-1.7\n"), await samplePdf(), new Uint8Array(0)])
    expect(await inBrowser(file, trusted)).toEqual(onServer(file, trusted));
});

test("certificates say the same by both readers", () => {
  for (const authority of authorities.values()) {
    const all = [authority.ca, ...authority.seal.certificates, ...authority.timestamp.certificates];
    const pairs = all.map((der) => [new X509Certificate(der), new web.X509Certificate(der)] as const);
    for (const [one, own] of pairs) {
      const { subject, issuer, ca, validFromDate, validToDate } = one;
      expect({ ...own, publicKey: null, raw: null }).toMatchObject({ subject, issuer, ca, validFromDate, validToDate });
      for (const [other, ownOther] of pairs) {
        expect(own.checkIssued(ownOther)).toBe(one.checkIssued(other));
        expect(own.verify(ownOther.publicKey)).toBe(one.verify(other.publicKey));
      }
    }
  }
});

test("RSA, PSS and ECDSA signatures hold and fail as with node:crypto", () => {
  const data = Buffer.from("what is signed");
  const pairs = [
    generateKeyPairSync("rsa", { modulusLength: 2049 }),
    generateKeyPairSync("ec", { namedCurve: "prime256v1" }),
    generateKeyPairSync("ec", { namedCurve: "secp384r1" }),
  ];
  for (const { publicKey, privateKey } of pairs) {
    const key = web.publicKeyOf(publicKey.export({ format: "der", type: "spki" }));
    for (const digest of ["sha256", "sha384", "sha512"]) {
      const signature = sign(digest, data, privateKey);
      expect(web.verify(digest, data, key, signature)).toBe(true);
      for (let index = 0; index < signature.length; index += 5) {
        const changed = Buffer.from(signature);
        changed[index] = (changed[index] ?? 0) ^ 4;
        expect(web.verify(digest, data, key, changed)).toBe(false);
      }
      expect(web.verify(digest, Buffer.from("another"), key, signature)).toBe(false);
      if (publicKey.asymmetricKeyType !== "rsa") continue;
      for (const saltLength of [0, 20, 32]) {
        const pss = sign(digest, data, { key: privateKey, padding: web.constants.RSA_PKCS1_PSS_PADDING, saltLength });
        const given = {
          key,
          padding: web.constants.RSA_PKCS1_PSS_PADDING,
          saltLength: web.constants.RSA_PSS_SALTLEN_AUTO,
        };
        expect(web.verify(digest, data, given, pss)).toBe(true);
        expect(web.verify(digest, Buffer.from("another"), given, pss)).toBe(false);
      }
    }
  }
});

test("what zlib packed comes out again: stored, fixed and dynamic, whole and cut short", () => {
  const texts = ["", "a", "abc".repeat(5000), Buffer.from(generateNoise(70_000)).toString("latin1")];
  for (const text of texts) {
    const plain = Buffer.from(text, "latin1");
    for (const level of [0, 1, 6, 9]) {
      const packed = deflateSync(plain, { level });
      expect(Buffer.from(inflateSync(packed, { maxOutputLength: 1 << 20 })).equals(plain)).toBe(true);
      const cut = inflateSync(packed.subarray(0, packed.length >> 1), { maxOutputLength: 1 << 20 });
      expect(plain.subarray(0, cut.length).equals(Buffer.from(cut))).toBe(true);
    }
    if (plain.length > 10)
      expect(() => inflateSync(deflateSync(plain), { maxOutputLength: 10 })).toThrow("ERR_BUFFER_TOO_LARGE");
  }
  const damaged = deflateSync(Buffer.from("hello hello hello"));
  damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1;
  expect(() => inflateSync(damaged, { maxOutputLength: 100 })).toThrow("Z_DATA_ERROR");
});

/** Bytes that do not repeat but compress a little. */
function generateNoise(length: number): Uint8Array {
  let state = 1;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 16) & 0x7f;
  });
}

test("a token over an anchor's hash is checked by the same rules", async () => {
  const authority = authorityOf("ec-p256");
  const imprint = createHash("sha256").update("anchor").digest();
  const token = await authority.ports().timestamp(imprint);
  const found = await call("examineToken", base64(token), base64(imprint), [base64(authority.ca)]);
  const expected = verifyTimestamp(token, { algorithm: "sha256", digest: () => imprint, trusted: [authority.ca] });
  expect(expected.problems).toEqual([]);
  expect(found).toEqual(JSON.parse(JSON.stringify(expected)));
});
