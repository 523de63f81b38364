import { readFileSync } from "node:fs";
import { afterAll, expect, it } from "vitest";
import { openPool } from "../../server/kernel/pool.ts";
import type { Drawing } from "../../workers/protocol.ts";
import { whole } from "./pdf/samples.ts";
import { textOf } from "./rendering.ts";

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

it("gives failures as values", async () => {
  expect(await pool.run("inspect", { pdf: Buffer.from("text"), maxPages: 5 })).toMatchObject({
    ok: false,
    error: { code: "not-a-pdf" },
  });
  const broken = { pdf: Buffer.from("%PDF-1.4"), drawings: [], watermark: null, at: "2026-11-21T10:00:00.000Z" };
  expect(await pool.run("stamp", broken)).toMatchObject({ ok: false, error: { code: "damaged" } });
});
