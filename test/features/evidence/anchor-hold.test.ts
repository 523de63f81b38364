import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { askWitness } from "../../../server/features/evidence/anchors/hold.ts";

/** Whoever may write to the folder of the witness lays there what they like: no anchor waits for it without end. */

test("what is no anchor's file is passed over: a pipe, a file without end, a folder", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-witness-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const latest = { sequence: 3, anchorHash: "00" };
  const signer = { kid: "kid", keys: [] };
  spawnSync("mkfifo", [path.join(folder, "anchor-000000003.json")]);
  expect(await askWitness({ witnessDir: folder }, latest, signer)).toBe("silent");
  spawnSync("mkfifo", [path.join(folder, "anchor-000000009.json")]);
  await symlink("/dev/zero", path.join(folder, "anchor-000000008.json"));
  await mkdir(path.join(folder, "anchor-000000007.json"));
  expect(await askWitness({ witnessDir: folder }, latest, signer)).toBe("silent");
});
