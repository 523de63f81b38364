import { spawnSync } from "node:child_process";
import path from "node:path";
import { expect, test } from "vitest";

const script = path.resolve(import.meta.dirname, "../../scripts/test-airgap.ts");

test("in air-gap mode the main job ends well, and nothing in it tries to leave the machine", () => {
  const done = spawnSync(process.execPath, [script, "--short"], { encoding: "utf8" });
  expect(done.stdout).toMatch(/^ok {2}an attempt on purpose is noticed: [1-9]/m);
  expect(done.stdout).toMatch(/^ok {2}the main job in air-gap mode: exit 0, 0 packets out, 0 addresses outside/m);
  expect(done.status).toBe(0);
}, 180_000);
