/** Seals through the worker pool against what RSA alone allows, and the time from the last signature to the sealed document. */

import { sign } from "node:crypto";
import { promisify } from "node:util";
import { openPool } from "../../server/kernel/pool.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { makeAuthority } from "../harness/authority.ts";
import { samplePdf } from "../harness/pdfs.ts";
import { enter, ok, publishTemplate, send, submission } from "../harness/scenario.ts";
import { median } from "./median.ts";
import type { BenchResult } from "./seal.ts";
import { AT } from "./seal-parts.ts";

const seals = 60;
const rounds = 25;
// The appliance runs warm, and each thread compiles for itself.
const warmUp = 2000;
const workers = 2;
const envelopes = 30;
/** Milliseconds that the last signature may take to become a sealed document. */
const targetMs = 150;

export async function benchSealing(): Promise<BenchResult[]> {
  return [await throughput(), await latency()];
}

async function throughput(): Promise<BenchResult> {
  const authority = makeAuthority({ ca: "rsa-3072", seal: "rsa-3072" });
  const pool = openPool({ threads: workers });
  const pdf = await samplePdf({ pages: 5 });
  const { key } = authority.seal;
  const rsa = promisify(sign);
  const about = { at: AT, name: "Bench", reason: "Bench", location: null, fieldName: "Seal" };
  const input = {
    ...about,
    pdf,
    pages: null,
    certificates: authority.seal.certificates,
    key: "rsa",
    privateKey: key,
    level: "B-B",
    timestamp: null,
    archive: null,
  } as const;
  // B-B asks for no time and no list.
  const unasked = () => Promise.reject(new Error("not asked"));
  const ports = {
    sign: unasked,
    signTimestamp: unasked,
    timestampTime: unasked,
    requestTimestamp: unasked,
    revocationList: unasked,
  };
  const ratios: number[] = [];
  const rates: number[] = [];
  const work: number[] = [];
  try {
    const sealOne = async () => {
      const result = await pool.run("seal", input, { ports });
      if (!result.ok) throw new Error(result.error.message);
    };
    await together(workers * 2, warmUp, sealOne);
    for (let round = 0; round < rounds; round += 1) {
      const started = cpuTime();
      const bound = await together(workers, seals, () => rsa("sha256", pdf, key));
      const between = cpuTime();
      const own = await together(workers * 2, seals, sealOne);
      ratios.push(bound / own);
      work.push((between - started) / (cpuTime() - between));
      rates.push((seals / own) * 1000);
    }
  } finally {
    await pool.close();
    authority.close();
  }
  return {
    name: "B-B seals a second with 2 workers ÷ RSA-3072 signatures a second with 2 threads",
    ratio: median(ratios),
    target: "≥ 0.7",
    detail: `${Math.round(median(rates))} seals a second, 5 pages; ${median(work).toFixed(2)} by processor time`,
  };
}

/** Microseconds of processor time of all threads: what a busy machine changes less than the clock. */
function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** @returns milliseconds for `count` calls, so many at a time */
async function together(atATime: number, count: number, call: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  let left = count;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      await call();
    }
  };
  await Promise.all(Array.from({ length: atATime }, lane));
  return performance.now() - begun;
}

async function latency(): Promise<BenchResult> {
  const app = await startAppliance();
  try {
    const roles = ["Tenant", "Landlord"].map((name, index) => ({ name, order: index + 1, verification: "none" }));
    const template = await publishTemplate(app, { pdf: await samplePdf({ pages: 5 }), roles });
    const times: number[] = [];
    for (let count = 0; count < envelopes; count += 1) times.push(await lastSignature(app, template));
    // The first ones warm up threads and typesetter.
    const warm = times.slice(5).toSorted((a, b) => a - b);
    const p95 = warm[Math.ceil(warm.length * 0.95) - 1] ?? Number.NaN;
    return {
      name: `last signature → sealed and committed at B-LTA, p95 against ${targetMs} ms`,
      ratio: p95 / targetMs,
      target: "≤ 1",
      detail: `p95 ${Math.round(p95)} ms, median ${Math.round(median(warm))} ms, 5 pages, ${warm.length} envelopes`,
    };
  } finally {
    await app.stop();
  }
}

async function lastSignature(app: TestAppliance, template: string): Promise<number> {
  const { id } = await send(app, template);
  const first = await enter(app, "ada@example.com");
  await ok(app, 200, "/v1/signing/submit", { key: { bearer: first }, json: await submission(app, first) });
  await app.jobs.idle();
  const second = await enter(app, "ben@example.com");
  const json = await submission(app, second);
  const begun = performance.now();
  await ok(app, 200, "/v1/signing/submit", { key: { bearer: second }, json });
  for (;;) {
    const row = await app.deps.db.read.selectFrom("envelopes").select("seal").where("id", "=", id).executeTakeFirst();
    if (row?.seal === "sealed") return performance.now() - begun;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
