import { access } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { applyUpdate, rollBack } from "../../../server/features/update/apply.ts";
import { releaseFolder } from "../../../server/features/update/installation.ts";
import type { Site } from "../../../server/features/update/site.ts";
import { holdBeside } from "../../../server/kernel/data-lock.ts";
import { audited, installed, oldVersion, openMachine, type TestMachine } from "../../harness/releases.ts";

/** What an update that is taken back leaves, and how long it waits for the release of before. */

const timeout = 300_000;
let machine: TestMachine;
let good: string;

beforeAll(async () => {
  machine = await openMachine();
  good = await machine.update("good", { version: "1.1.0" });
  machine.supervisor.start();
  await machine.serves(oldVersion);
}, timeout);
afterAll(() => machine.close());

const apply = (site: Site) => applyUpdate(site, { file: good, pinned: machine.pinned, installed });

test("a gate that no release could pass brings the one of before back all the same", { timeout }, async () => {
  // As a unit of systemd: ends what runs, whatever it is at, and starts what lies there.
  const service: Site["service"] = {
    name: "its unit",
    starts: true,
    stop: () => machine.supervisor.stop(),
    start: async () => machine.supervisor.start(),
  };
  await expect(apply({ ...machine.site, service, gateSeconds: 0 })).rejects.toMatchObject({
    journal: { outcome: "returned", cause: expect.stringContaining("was not ready within 0 seconds") },
  });
  await machine.serves(oldVersion);
  expect(audited(machine.dataDir)).toEqual(["update.begun", "update.returned"]);
});

// Of `npm run test:long`: it installs a release twice.
test.runIf(process.env.SIGNET_TEST_FULL === "1")(
  "an update that ends before it unpacks anything leaves the release of its version, which a way back may need",
  {
    timeout,
  },
  async () => {
    expect((await apply(machine.site)).outcome).toBe("applied");
    await machine.serves("1.1.0");
    const newer = { ...installed, version: "1.1.0" };
    expect((await rollBack(machine.site, newer)).outcome).toBe("applied");
    await machine.serves(oldVersion);
    const command = await holdBeside(machine.dataDir, "shared");
    await expect(apply(machine.site)).rejects.toMatchObject({
      journal: {
        outcome: "taken-back",
        cause: expect.stringMatching(/did not hold still: a command of Signet.*signet logs/),
      },
    });
    await command?.();
    await access(path.join(releaseFolder(machine.root, "1.1.0"), "server/main.ts"));
    // The way back from the way back.
    expect((await rollBack(machine.site, installed)).outcome).toBe("applied");
    await machine.serves("1.1.0");
  },
);
