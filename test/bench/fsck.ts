/** How fast a data folder is checked: its files read, decrypted and hashed, against hashing the same files in as many threads. */

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { loadConfig } from "../../server/config.ts";
import { fsck } from "../../server/features/evidence/fsck/fsck.ts";
import { createLog } from "../../server/kernel/log.ts";
import { openDeps } from "../../server/open-deps.ts";
import { median } from "./median.ts";
import type { BenchResult } from "./seal.ts";

const fixtures = [
  {
    name: "50 documents of 20 MB and 2 000 of 100 kB",
    sizes: [
      [50, 20e6],
      [2000, 100e3],
    ],
  },
  { name: "6 000 documents of 50 kB", sizes: [[6000, 50e3]] },
] as const;
const rounds = 5;
const atOnce = 64;

export async function benchFsck(): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const fixture of fixtures) results.push(await bench(fixture));
  return results;
}

async function bench({ name, sizes }: (typeof fixtures)[number]): Promise<BenchResult> {
  const folder = await mkdtemp(join(tmpdir(), "signet-bench-"));
  const config = loadConfig({ SIGNET_DATA_DIR: folder, SIGNET_LOG_LEVEL: "silent" });
  const { deps, close } = await openDeps({ config, log: createLog("silent"), createKey: true });
  try {
    const wanted = sizes.flatMap(([count, size]) => Array<number>(count).fill(size));
    const rest = wanted[Symbol.iterator]();
    const files: string[] = [];
    const write = async () => {
      for (const size of rest) {
        const { sha256 } = await deps.blobs.put(randomBytes(size));
        files.push(join(folder, "blobs", sha256.slice(0, 2), sha256.slice(2, 4), sha256));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, write));
    const threads = availableParallelism();
    const total = wanted.reduce((sum, size) => sum + size, 0);
    const speedOf = async (run: () => Promise<unknown>) => {
      const begun = performance.now();
      await run();
      return total / 1e6 / ((performance.now() - begun) / 1000);
    };
    const speeds: { plain: number; check: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      // In turns, so that whatever else the machine does slows both; each starts its threads anew.
      const plain = await speedOf(() => hashPlainly(files, threads));
      const check = await speedOf(async () => {
        const report = await fsck(deps, { threads });
        if (!report.ok || report.checked.blobs !== wanted.length) throw new Error("the fixture is not whole");
      });
      speeds.push({ plain, check });
    }
    const [check, plain] = (["check", "plain"] as const).map((what) => median(speeds.map((one) => one[what])));
    return {
      name: `fsck ÷ SHA-256 of the same files: ${name}`,
      ratio: median(speeds.map((one) => one.check / one.plain)),
      target: "≥ 0.80",
      detail: `${check?.toFixed(0)} MB/s checked, ${plain?.toFixed(0)} MB/s hashed; ${threads} threads each`,
    };
  } finally {
    await close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function hashPlainly(files: readonly string[], threads: number): Promise<void> {
  await Promise.all(
    Array.from({ length: threads }, async (_, index) => {
      const mine = files.filter((__, at) => at % threads === index);
      await once(new Worker(new URL("./hash-child.ts", import.meta.url), { workerData: mine }), "exit");
    }),
  );
}
