/** Page trees of which readers make different things: what is accepted shows the same pages everywhere and can be sealed. */
import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inspect } from "../../workers/inspect.ts";
import { seal } from "../../workers/seal/seal.ts";
import { verifySealedPdf } from "../../workers/seal/verify.ts";
import { stamp } from "../../workers/stamp.ts";
import { type Authority, makeAuthority } from "../harness/authority.ts";
import { contract, handmade, stream } from "../harness/hostile-pdfs.ts";
import { withFile } from "../harness/pdfs.ts";
import { faultsOf, mutoolTextOf, render, textOf } from "../harness/rendering.ts";

const at = new Date(Date.now() + 3_600_000).toISOString();
let authority: Authority;
beforeAll(() => {
  authority = makeAuthority({ seal: "ec-p256", timestamp: "ec-p256" });
});
afterAll(() => authority.close());

const look = (pdf: Uint8Array) => inspect({ pdf, maxPages: 500 });

async function accepted(pdf: Uint8Array) {
  const result = await look(pdf);
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.value;
}

/** Stamped on the first and the last page, one page behind it, sealed. */
async function sealed(pdf: Uint8Array, pageCount: number): Promise<Buffer> {
  const box = { x: 10, y: 10, width: 20, height: 20 };
  const drawings = [1, pageCount].map((page) => ({ kind: "dot" as const, page, ...box }));
  const stamped = await stamp({ pdf, drawings, watermark: null, at });
  if (!stamped.ok) throw new Error(stamped.error.message);
  const base = Buffer.concat([pdf, stamped.value.tail]);
  const { certificates } = authority.seal;
  const about = { at, name: "Acme", reason: "Completed", location: null, fieldName: "Seal", certificates } as const;
  const list = authority.revocationList();
  const ports = { ...authority.ports(at), revocationList: async () => list };
  const pages = contract({
    2: "<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 612 792]/Resources<</Font<</F1 7 0 R>>>>>>",
  });
  const result = await seal({ ...about, pdf: base, pages, key: "ec-p256", level: "B-LTA" }, ports);
  if (!result.ok) throw new Error(result.error.message);
  return Buffer.concat([base, result.value.tail]);
}

const PAGE = "/MediaBox[0 0 612 792]/Resources<</Font<</F1 7 0 R>>>>";
const ROOT = "/MediaBox[0 0 612 792]/Resources<</Font<</F1 7 0 R>>>>";
const BOTH = ["Cover page", "The buyer pays nothing if late"];
const COVER = ["Cover page"];

const repaired: [string, Uint8Array, string[]][] = [
  ["a root that is itself the page", contract({ 2: `<</Type/Page/Contents 5 0 R${PAGE}>>` }), COVER],
  [
    "a root that is a page and has kids",
    contract({ 2: `<</Type/Page/Kids[3 0 R 4 0 R]/Contents 5 0 R${PAGE}>>` }),
    COVER,
  ],
  ["a root without /Count", contract({ 2: `<</Type/Pages/Kids[3 0 R 4 0 R]${ROOT}>>` }), BOTH],
  ["/Count 1000000000", contract({ 2: `<</Type/Pages/Kids[3 0 R 4 0 R]/Count 1000000000${ROOT}>>` }), BOTH],
  ["/Count -1", contract({ 2: `<</Type/Pages/Kids[3 0 R 4 0 R]/Count -1${ROOT}>>` }), BOTH],
  ["/Count 0 although there are kids", contract({ 2: `<</Type/Pages/Kids[3 0 R 4 0 R]/Count 0${ROOT}>>` }), BOTH],
  ["/Count 1 of 2", contract({ 2: `<</Type/Pages/Kids[3 0 R 4 0 R]/Count 1${ROOT}>>` }), BOTH],
  [
    "a branch that counts wrongly under a root that counts rightly",
    contract({
      2: `<</Type/Pages/Kids[8 0 R 9 0 R]/Count 2${ROOT}>>`,
      8: "<</Type/Pages/Parent 2 0 R/Kids[3 0 R]/Count 2>>",
      9: "<</Type/Pages/Parent 2 0 R/Kids[4 0 R]/Count 0>>",
      3: "<</Type/Page/Parent 8 0 R/Contents 5 0 R>>",
      4: "<</Type/Page/Parent 9 0 R/Contents 6 0 R>>",
    }),
    BOTH,
  ],
  [
    "pages that name another parent than the node that lists them",
    contract({
      2: "<</Type/Pages/Kids[8 0 R]/Count 2>>",
      8: `<</Type/Pages/Parent 2 0 R/Kids[3 0 R 4 0 R]/Count 2${ROOT}>>`,
    }),
    BOTH,
  ],
  ["no kids although there are pages", contract({ 2: "<</Type/Pages/Kids[]/Count 0>>", ...ownPages() }), BOTH],
  ["kids that do not exist", contract({ 2: "<</Type/Pages/Kids[20 0 R]/Count 1>>", ...ownPages() }), BOTH],
  ["no page tree", contract({ 1: "<</Type/Catalog>>", ...ownPages() }), BOTH],
  [
    "a kid that does not exist beside two that do",
    contract({ 2: `<</Type/Pages/Kids[3 0 R 20 0 R 4 0 R]/Count 3${ROOT}>>`, 30: "null" }),
    BOTH,
  ],
];

function ownPages(): Record<number, string> {
  return {
    3: `<</Type/Page/Parent 2 0 R/Contents 5 0 R${PAGE}>>`,
    4: `<</Type/Page/Parent 2 0 R/Contents 6 0 R${PAGE}>>`,
  };
}

/** The text of each page, of as many as poppler counts. */
function pagesSeen(pdf: Uint8Array): string[] {
  const count = Number(
    /^Pages:\s+(\d+)$/m.exec(withFile(pdf, (path) => execFileSync("pdfinfo", [path]).toString()))?.[1],
  );
  return Array.from({ length: count }, (_, index) => textOf(pdf, index + 1).trim());
}

describe("is repaired, shows all its pages and can be sealed:", () => {
  test.each(repaired)("%s", async (_, upload, expected) => {
    const { pdf, pageCount, warnings } = await accepted(upload);
    expect(warnings.map(({ code }) => code)).toEqual(["repaired"]);
    if (!pdf) throw new Error("not written anew");
    expect(pageCount).toBe(expected.length);
    expect(pagesSeen(pdf)).toEqual(expected);
    const done = await sealed(pdf, pageCount);
    expect(verifySealedPdf(done, { trusted: [authority.ca], at })).toMatchObject({ valid: true, level: "B-LTA" });
    expect(pagesSeen(done)).toEqual([...expected, "Cover page"]);
    expect(mutoolTextOf(done).match(/\S.*/g)).toEqual([...expected, "Cover page"]);
    expect(faultsOf(done)).toBe("");
  });

  test("a /Rotate of 45 is none, as in most readers, and is written so for all", async () => {
    const { pdf, pages, warnings } = await accepted(
      contract({ 3: "<</Type/Page/Parent 2 0 R/Contents 5 0 R/Rotate 45>>" }),
    );
    expect(pages[0]).toEqual({ page: 1, width: 612, height: 792, rotation: 0 });
    expect(warnings.map(({ code }) => code)).toEqual(["repaired"]);
    const done = await sealed(pdf ?? new Uint8Array(), 2);
    for (const page of [1, 2]) expect(render(done, page).width).toBe(612);
    const boxes = withFile(done, (path) => execFileSync("mutool", ["pages", path]).toString());
    expect([...boxes.matchAll(/<Rotate v="(\d+)"/g)].map(([, turn]) => turn)).toEqual(["0", "0", "0"]);
  });
});

test("a tree that earlier versions accepted is made sound when it is sealed", async () => {
  for (const [name, upload, expected] of repaired.slice(0, 9)) {
    const done = await sealed(upload, expected.length);
    expect(verifySealedPdf(done, { trusted: [authority.ca], at }).valid, name).toBe(true);
    expect(pagesSeen(done), name).toEqual([...expected, "Cover page"]);
  }
});

test("nested trees, inherited boxes and turns are accepted as they are", async () => {
  const upload = contract({
    2: `<</Type/Pages/Kids[8 0 R 4 0 R]/Count 2/Rotate 90${ROOT}>>`,
    8: "<</Type/Pages/Parent 2 0 R/Kids[3 0 R]/Count 1/Rotate -270>>",
    3: "<</Type/Page/Parent 8 0 R/Contents 5 0 R>>",
  });
  const { pdf, pages, warnings } = await accepted(upload);
  expect([pdf, warnings]).toEqual([null, []]);
  expect(pages.map(({ rotation }) => rotation)).toEqual([90, 90]);
});

describe("content", () => {
  const page = (contents: string) => ({ 3: `<</Type/Page/Parent 2 0 R/Contents ${contents}>>` });

  test.each([
    ["freed", "9 0 R", 30],
    ["freed, of several", "[5 0 R 9 0 R]", 30],
    ["that is no stream", "[5 0 R 7 0 R]", 30],
  ])("%s is warned of", async (_, contents, last) => {
    const { pdf, warnings } = await accepted(contract({ ...page(contents), [last]: "null" }));
    expect(pdf).toBeNull();
    expect(warnings).toEqual([expect.objectContaining({ code: "missing-content", page: 1, count: 1 })]);
  });

  test("freed is not brought back by a repair", async () => {
    const upload = contract({
      ...page("[5 0 R 9 0 R]"),
      2: `<</Type/Pages/Kids[3 0 R 4 0 R]/Count 7${ROOT}>>`,
      30: "null",
    });
    const { warnings } = await accepted(upload);
    expect(warnings.map(({ code }) => code)).toEqual(["repaired", "missing-content"]);
  });

  test("a page without any is none of that", async () => {
    expect((await accepted(contract({ 3: "<</Type/Page/Parent 2 0 R>>" }))).warnings).toEqual([]);
  });
});

describe("is refused:", () => {
  const box = (values: string, more = "") => contract({ 3: `<</Type/Page/Parent 2 0 R/MediaBox[${values}]${more}>>` });
  test.each([
    ["a page of 1e9 points", box("0 0 1000000000 1000000000")],
    ["a page that lies at 1e9 points", box("1000000000 0 1000000612 792")],
    ["a page of 1e9 points by its unit", box("0 0 612 792", "/UserUnit 2000000")],
  ])("%s", async (_, upload) => {
    expect(await look(upload)).toMatchObject({ ok: false, error: { code: "page-too-large", detail: { page: 1 } } });
  });

  test("a tree without pages, in a file that has none", async () => {
    const upload = handmade({ 1: "<</Type/Catalog/Pages 2 0 R>>", 2: "<</Type/Pages/Kids[]/Count 3>>", 3: stream("") });
    expect(await look(upload)).toMatchObject({ ok: false, error: { code: "no-pages" } });
  });
});
