/** The stored tree at a million leaves: appending and proving in a real database, the start of the appliance on it, its size. */

import { randomBytes } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { startAppliance } from "../../server/compose.ts";
import { loadConfig } from "../../server/config.ts";
import { leafBytes, toHex } from "../../server/features/evidence/anchors/anchor.ts";
import { appendedNodes, leafHash, type NodePlace, siblingsOf } from "../../server/features/evidence/anchors/merkle.ts";
import { appendLeaf, inclusionProof, sha256 } from "../../server/features/evidence/anchors/tree.ts";
import type { Leaf } from "../../server/features/evidence/contract.ts";
import * as store from "../../server/features/evidence/store.ts";
import type { Deps } from "../../server/kernel/deps.ts";
import { createLog } from "../../server/kernel/log.ts";
import { openDeps } from "../../server/open-deps.ts";
import { median } from "./median.ts";
import type { BenchResult } from "./seal.ts";

const size = 1_000_000;
const chunk = 4000;
const rounds = 9;

export async function benchTree(): Promise<BenchResult[]> {
  const [empty, full] = await Promise.all([
    mkdtemp(path.join(tmpdir(), "signet-bench-tree-")),
    mkdtemp(path.join(tmpdir(), "signet-bench-tree-")),
  ]);
  try {
    await start(empty);
    await start(full);
    const bytesBefore = (await stat(path.join(full, "signet.db"))).size;
    const { deps, close } = await openDeps({ config: configOf(full), log: createLog("silent") });
    await fill(deps);
    const appended = await appends(deps);
    const proved = await proofs(deps);
    await close();
    const bytes = (await stat(path.join(full, "signet.db"))).size - bytesBefore;
    const starts: { empty: number; full: number }[] = [];
    for (let round = 0; round < rounds; round += 1) starts.push({ empty: await start(empty), full: await start(full) });
    return [
      {
        name: "stored append at 10⁶ leaves ÷ at the first thousand",
        ratio: appended.last / appended.first,
        target: "≤ 2",
        detail: `${Math.round(1000 / appended.last)} leaves a second, 500 in a transaction`,
      },
      {
        name: "stored proof at 10⁶ leaves against 1 ms",
        ratio: proved,
        target: "≤ 1",
        detail: `${proved.toFixed(3)} ms a proof, read from the database`,
      },
      {
        name: "start with 10⁶ leaves ÷ start with none",
        ratio: median(starts.map((one) => one.full / one.empty)),
        target: "≤ 1.2",
        detail: `${Math.round(median(starts.map((one) => one.full)))} ms`,
      },
      {
        name: "database of 10⁶ leaves against 1 kB a leaf",
        ratio: bytes / size / 1000,
        target: "≤ 1",
        detail: `${Math.round(bytes / 1e6)} MB, ${Math.round(bytes / size)} bytes a leaf with its nodes and indexes`,
      },
    ];
  } finally {
    for (const folder of [empty, full]) await rm(folder, { recursive: true, force: true });
  }
}

const configOf = (folder: string) =>
  loadConfig({ SIGNET_DATA_DIR: folder, SIGNET_PORT: "0", SIGNET_LOG_LEVEL: "silent" });

/** @returns milliseconds until the appliance answers */
async function start(folder: string): Promise<number> {
  const begun = performance.now();
  const appliance = await startAppliance({ config: configOf(folder), log: createLog("silent") });
  const took = performance.now() - begun;
  await appliance.jobs.idle();
  await appliance.stop(0);
  return took;
}

const leafOf = (index: number): Leaf => ({
  v: 1,
  type: "svc.leaf",
  envelope: `env_${String(index).padStart(24, "0")}`,
  documentSha256: randomBytes(32).toString("hex"),
  auditHash: "0".repeat(64),
  sealedAt: "2026-11-21T09:00:00.000Z",
  testMode: false,
});

/** Writes the tree as a million appends would have, many rows a statement. */
async function fill({ db }: Deps): Promise<void> {
  const levels = Array.from({ length: 21 }, (_, level) => new Uint8Array(Math.ceil(size / 2 ** level) * 32));
  const at = ({ level, index }: NodePlace): Uint8Array => {
    const nodes = levels[level];
    if (!nodes) throw new Error("no such level");
    return nodes.subarray(index * 32, index * 32 + 32);
  };
  for (let first = 0; first < size; first += chunk) {
    const leaves: store.LeafRow[] = [];
    const nodes: Parameters<typeof store.insertNodes>[1][number][] = [];
    for (let index = first; index < first + chunk; index += 1) {
      const leaf = leafOf(index);
      const hash = leafHash(sha256, leafBytes(leaf));
      leaves.push({
        leaf_index: index,
        envelope: leaf.envelope,
        test_mode: 0,
        leaf: JSON.stringify(leaf),
        leaf_hash: toHex(hash),
        document_sha256: leaf.documentSha256,
        sealed_at: leaf.sealedAt,
      });
      for (const node of appendedNodes(sha256, index, hash, siblingsOf(index).map(at))) {
        levels[node.level]?.set(node.hash, node.index * 32);
        nodes.push({ level: node.level, node_index: node.index, hash: toHex(node.hash) });
      }
    }
    await db.tx(async (tx) => {
      for (let part = 0; part < leaves.length; part += 1000)
        await tx
          .insertInto("leaves")
          .values(leaves.slice(part, part + 1000))
          .execute();
      for (let part = 0; part < nodes.length; part += 1000) await store.insertNodes(tx, nodes.slice(part, part + 1000));
    });
  }
}

/** Milliseconds a leaf, on an empty tree of another database and behind the million. */
async function appends(deps: Deps): Promise<{ first: number; last: number }> {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-bench-tree-"));
  await start(folder);
  const small = await openDeps({ config: configOf(folder), log: createLog("silent") });
  const measured: { first: number; last: number }[] = [];
  const run = async ({ db }: Deps) => {
    const begun = performance.now();
    await db.tx(async (tx) => {
      for (let count = 0; count < 500; count += 1) await appendLeaf(tx, leafOf(count));
    });
    return (performance.now() - begun) / 500;
  };
  for (let round = 0; round < rounds; round += 1)
    measured.push({ first: await run(small.deps), last: await run(deps) });
  await small.close();
  await rm(folder, { recursive: true, force: true });
  return { first: median(measured.map(({ first }) => first)), last: median(measured.map(({ last }) => last)) };
}

/** Milliseconds a proof. */
async function proofs({ db }: Deps): Promise<number> {
  const times: number[] = [];
  for (let step = 0; step < 2000; step += 1) {
    const [row] = await store.listLeaves(db.read, (step * 7919) % size, 1);
    if (!row) throw new Error("no such leaf");
    const begun = performance.now();
    await inclusionProof(db.read, row, size);
    times.push(performance.now() - begun);
  }
  return median(times);
}
