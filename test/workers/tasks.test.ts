import { readFileSync } from "node:fs";
import { afterAll, expect, it } from "vitest";
import { openPool } from "../../server/kernel/pool.ts";
import { textOf } from "./rendering.ts";

const pool = openPool({ threads: 1 });
afterAll(() => pool.close());
const lecture = readFileSync(new URL("../fixtures/pdf/lecture.pdf", import.meta.url));

it("inspects, stamps and appends in a thread, each output fit to be the next input", async () => {
  const inspected = await pool.run("inspect", { pdf: lecture, maxPages: 100 });
  expect(inspected).toMatchObject({ ok: true, value: { pageCount: 8, pdf: null } });
  const box = { page: 3, x: 50, y: 50, width: 200, height: 20 };
  const at = "2026-11-21T10:00:00.000Z";
  const stamped = await pool.run("stamp", {
    pdf: lecture,
    drawings: [{ kind: "text", text: "In a thread", ...box }],
    watermark: null,
    at,
  });
  if (!stamped.ok) throw new Error(stamped.error.message);
  const twice = await pool.run("appendPages", { pdf: stamped.value.pdf, pages: lecture });
  if (!twice.ok) throw new Error(twice.error.message);
  expect(twice.value.pageCount).toBe(16);
  expect(textOf(twice.value.pdf, 3)).toContain("In a thread");
  expect(textOf(twice.value.pdf, 16)).toBe(textOf(lecture, 8));
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
