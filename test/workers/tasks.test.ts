import { execFile } from "node:child_process";
import { sign } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { openPool } from "../../server/kernel/pool.ts";
import type { Drawing, TaskPorts } from "../../workers/protocol.ts";
import { makeAuthority } from "../harness/authority.ts";
import { packedFile } from "../harness/hostile-pdfs.ts";
import { whole } from "../harness/pdfs.ts";
import { faultsOf, qpdf, textOf } from "../harness/rendering.ts";

const pool = openPool({ threads: 1 });
afterAll(() => pool.close());
const lecture = readFileSync(new URL("../fixtures/pdf/lecture.pdf", import.meta.url));

it("inspects and stamps in a thread, each output fit to be the next input", async () => {
  const inspected = await pool.run("inspect", { pdf: lecture, maxPages: 100 });
  expect(inspected).toMatchObject({ ok: true, value: { pageCount: 8, pdf: null } });
  const box = { page: 3, x: 50, y: 50, width: 200, height: 20 };
  const at = "2026-11-21T10:00:00.000Z";
  let pdf: Uint8Array = lecture;
  for (const [text, y] of [
    ["In a thread", 50],
    ["And again", 80],
  ] as const) {
    const drawings: Drawing[] = [{ kind: "text", text, ...box, y }];
    const stamped = await pool.run("stamp", { pdf, drawings, watermark: null, at });
    if (!stamped.ok) throw new Error(stamped.error.message);
    expect(stamped.value.pageCount).toBe(8);
    expect(stamped.value.tail.length).toBeLessThan(50_000);
    pdf = whole(pdf, stamped.value.tail);
  }
  expect(textOf(pdf, 3)).toContain("In a thread");
  expect(textOf(pdf, 3)).toContain("And again");
  // The caller's own bytes are still his.
  expect(lecture.length).toBeGreaterThan(400_000);
});

it("decrypts, repairs, seals and verifies documents that are large enough to be shared with the thread", async () => {
  for (const args of [
    ["--encrypt", "", "owner", "256", "--"],
    ["--encrypt", "", "owner", "128", "--"],
  ]) {
    const pdf = qpdf(lecture, ...args);
    const inspected = await pool.run("inspect", { pdf, maxPages: 100 });
    if (!inspected.ok || !inspected.value.pdf) throw new Error("not rewritten");
    expect(faultsOf(inspected.value.pdf)).toBe("");
    expect(textOf(inspected.value.pdf, 1)).toBe(textOf(lecture, 1));
  }
  const broken = lecture.subarray(0, lecture.length - 200);
  expect(await pool.run("inspect", { pdf: broken, maxPages: 100 })).toMatchObject({ ok: true });
  const authority = makeAuthority({ seal: "rsa-2048" });
  try {
    const at = new Date(Date.now() + 60_000).toISOString();
    const { key, certificates } = authority.seal;
    const about = { key: "rsa", at, name: "Signet", reason: "Test", location: null, fieldName: "Seal" } as const;
    const ports: TaskPorts = {
      sign: async (bytes) => sign("sha256", bytes, key),
      signTimestamp: () => Promise.reject(new Error("not asked")),
      timestampTime: () => Promise.reject(new Error("not asked")),
      requestTimestamp: () => Promise.reject(new Error("not asked")),
      revocationList: () => Promise.reject(new Error("not asked")),
    };
    const input = {
      ...about,
      pdf: lecture,
      pages: null,
      certificates,
      level: "B-B",
      timestamp: null,
      archive: null,
    } as const;
    // A key in a token is asked for; one in software goes along, and nothing is asked.
    const asked: number[] = [];
    const asking = {
      ...ports,
      sign: (bytes: Uint8Array) => {
        asked.push(bytes.buffer.byteLength - bytes.byteLength);
        return ports.sign(bytes);
      },
    };
    for (const privateKey of [null, key]) {
      const sealed = await pool.run("seal", { ...input, privateKey }, { ports: asking });
      if (!sealed.ok) throw new Error(sealed.error.message);
      const { tail } = sealed.value;
      // A message carries all memory behind a view.
      expect(tail.buffer.byteLength).toBe(tail.byteLength);
      const pdf = whole(lecture, tail);
      expect(await pool.run("verifyPdf", { pdf, trusted: [authority.ca], at })).toMatchObject({
        ok: true,
        value: { valid: true, problems: [] },
      });
    }
    expect(asked).toEqual([0]);
  } finally {
    authority.close();
  }
});

it("gives failures as values", async () => {
  expect(await pool.run("inspect", { pdf: Buffer.from("text"), maxPages: 5 })).toMatchObject({
    ok: false,
    error: { code: "not-a-pdf" },
  });
  const broken = { pdf: Buffer.from("%PDF-1.4"), drawings: [], watermark: null, at: "2026-11-21T10:00:00.000Z" };
  expect(await pool.run("stamp", broken)).toMatchObject({ ok: false, error: { code: "damaged" } });
});

// A thread that runs out of memory may take the whole process with it.
it.each([
  ["lists of references", `${"1 0 R ".repeat(10_000_000)}`],
  ["lists of references that just fit", `${"1 0 R ".repeat(1_100_000)}`],
  ["lists of strings that just fit", `${"<>".repeat(300_000)}`],
])("%s in a small file end no process, whoever reads them", async (_, items) => {
  const pdf = packedFile(
    { 4: "<</Length 14>>\nstream\n0 0 10 10 re f\nendstream" },
    {
      from: 9,
      objects: {
        1: "<</Type/Catalog/Pages 2 0 R/AcroForm 7 0 R>>",
        2: "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        3: "<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 4 0 R/Resources<<>>/Annots 6 0 R>>",
        6: `[${items}]`,
        7: `<</X[${items}]/Fields 8 0 R>>`,
        8: `[${items}]`,
      },
    },
  );
  expect(pdf.length).toBeLessThan(300_000);
  const folder = mkdtempSync(join(tmpdir(), "hostile-"));
  try {
    writeFileSync(join(folder, "hostile.pdf"), pdf);
    const pool = new URL("../../server/kernel/pool.ts", import.meta.url).href;
    const script = `
      import { readFileSync } from "node:fs";
      import { openPool } from ${JSON.stringify(pool)};
      const pool = openPool({ threads: 2 });
      const pdf = readFileSync(${JSON.stringify(join(folder, "hostile.pdf"))});
      const options = { timeoutMs: 120_000 };
      const looked = await pool.run("inspect", { pdf, maxPages: 1000 }, options);
      const verified = await pool.run("verifyPdf", { pdf, trusted: [], at: "2026-01-01T00:00:00.000Z" }, options);
      await pool.close();
      console.log(JSON.stringify([looked.error.code, verified.value.problems]));`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
    expect(JSON.parse(stdout)).toEqual(["too-complex", ["too-complex"]]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
