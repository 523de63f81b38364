import { sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, expect, it } from "vitest";
import { openPool } from "../../server/kernel/pool.ts";
import type { Drawing, TaskPorts } from "../../workers/protocol.ts";
import { makeAuthority } from "../harness/authority.ts";
import { whole } from "./pdf/samples.ts";
import { faultsOf, qpdf, textOf } from "./rendering.ts";

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
