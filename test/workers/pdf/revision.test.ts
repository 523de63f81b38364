import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { importPageAsForm, importPages } from "../../../workers/pdf/import.ts";
import { dict, name, PdfDict, PdfRef, textOf } from "../../../workers/pdf/objects.ts";
import { openPdf } from "../../../workers/pdf/reader.ts";
import { beginRevision } from "../../../workers/pdf/revision.ts";
import { hiddenObject, samplePdf, type Variant, variant, whole, withFile } from "../../harness/pdfs.ts";

const variants: Variant[] = ["table", "stream", "linearized", "linearized-stream", "hybrid"];

function check(bytes: Uint8Array): string {
  return withFile(bytes, (path) => execFileSync("qpdf", ["--check", path], { encoding: "utf8", stdio: "pipe" }));
}
function textOfPages(bytes: Uint8Array): string {
  return withFile(bytes, (path) => execFileSync("pdftotext", ["-layout", path, "-"], { encoding: "utf8" }));
}

describe.each(variants)("a revision on a %s file", (kind) => {
  test("keeps the base, its kind of cross-reference and every object", async () => {
    const base = await variant(kind, { pages: 3 });
    const file = openPdf(base);
    expect(file.xrefKind).toBe(kind.includes("stream") ? "stream" : "table");
    expect(file.pages()).toHaveLength(3);
    const revision = beginRevision(file);
    const added = revision.add(dict({ Hello: name("World") }));
    const page = file.page(0);
    if (!page) throw new Error("no page");
    revision.set(page.ref, page.dict.clone().set("SignetTest", added));
    const { bytes: tail, base: finished } = revision.finish();
    const out = whole(base, tail);
    const again = openPdf(out);
    expect(again.xrefKind).toBe(file.xrefKind);
    expect(again.pages()).toHaveLength(3);
    expect(again.name(again.dict(again.page(0)?.dict.get("SignetTest"))?.get("Hello"))).toBe("World");
    expect(again.trailer.get("Prev")).toBe(file.startXref);
    const before = file.array(file.trailer.get("ID"));
    const after = again.array(again.trailer.get("ID"));
    expect(after).toHaveLength(2);
    if (before) {
      expect(again.string(after?.[0])?.bytes).toEqual(file.string(before[0])?.bytes);
      expect(again.string(after?.[1])).not.toEqual(file.string(before[1]));
    }
    expect(check(out)).toContain("No syntax or stream encoding errors found");
    // Revisions stack, whether or not the one below was joined to its file: the bytes are the same.
    const third = beginRevision(again);
    const unjoined = beginRevision(finished);
    for (const on of [third, unjoined]) {
      const first = on.base.page(0);
      if (!first) throw new Error("no page");
      on.set(first.ref, first.dict.clone().set("SignetTest", on.add(true)));
    }
    const last = third.finish().bytes;
    expect(unjoined.finish().bytes).toEqual(last);
    expect(check(whole(out, last))).toContain("No syntax or stream encoding errors found");
  });

  test("is well-formed when it changes nothing, as the stamp of an empty form", async () => {
    const base = await variant(kind, { pages: 3 });
    const { bytes: tail } = beginRevision(openPdf(base)).finish();
    // A table has one subsection or more (§7.5.4): pyHanko gives up a file whose table has none.
    expect(tail.toString("latin1")).toMatch(kind.includes("stream") ? /^\n?\d+ 0 obj/ : /^\n?xref\n0 0\ntrailer\n/);
    const out = whole(base, tail);
    expect(openPdf(out).pages()).toHaveLength(3);
    expect(check(out)).toContain("No syntax or stream encoding errors");
    expect(textOfPages(out)).toBe(textOfPages(base));
  });

  test("takes in pages as forms and as pages", async () => {
    const base = await variant(kind, { pages: 2 });
    const source = openPdf(await samplePdf({ pages: 2, objectStreams: true }));
    const revision = beginRevision(openPdf(base));
    expect(importPages(revision, source)).toBe(2);
    const page = revision.base.page(0);
    if (!page) throw new Error("no page");
    const form = importPageAsForm(revision, source, 1);
    const draw = revision.addStream(new PdfDict(), Buffer.from("q 1 0 0 1 0 -100 cm /SgForm Do Q"), true);
    const resources = page.resources?.clone() ?? new PdfDict();
    resources.set("XObject", dict({ SgForm: form }));
    const contents = revision.array(page.dict.get("Contents")) ?? [page.dict.get("Contents") ?? null];
    revision.set(
      page.ref,
      page.dict
        .clone()
        .set("Contents", [...contents, draw])
        .set("Resources", resources),
    );
    const out = whole(base, revision.finish().bytes);
    expect(openPdf(out).pages()).toHaveLength(4);
    expect(check(out)).toContain("No syntax or stream encoding errors found");
    const pages = textOfPages(out)
      .split("\f")
      .map((text) => text.trim().split(/\s*\n\s*/));
    expect(pages.slice(0, 4)).toEqual([["Page 1", "Page 2"], ["Page 2"], ["Page 1"], ["Page 2"]]);
  });
});

test("a hybrid file's hidden object is found", async () => {
  const bytes = await variant("hybrid");
  const file = openPdf(bytes);
  const hidden = file.string(new PdfRef(hiddenObject(bytes)));
  expect(hidden && textOf(hidden)).toBe("hidden text");
});
