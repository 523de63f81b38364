import "../../server/node-version.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { buildApps } from "../../scripts/build-apps.ts";
import { containerPrograms, ensureSystemPackages } from "../../scripts/system-packages.ts";
import { backUp, restoreElsewhere } from "./backups.ts";
import { boot, type Container, copyRoot, makeRoot } from "./container.ts";
import { endure } from "./endurance.ts";
import { install, installOtherFormats } from "./installation.ts";
import { leave, purge } from "./leaving.ts";
import { makePackages, type Packages } from "./releases.ts";
import { useAsAdministrator, useFromOutside } from "./setup.ts";
import { passedSteps, step } from "./steps.ts";
import { bringPackages, bringSignedUpdates } from "./upgrades.ts";

/**
 * `npm run test:appliance [-- --only life|formats]`: the server's packages in Debians that are booted for them. One machine is installed, set
 * up, used from outside, killed, upgraded, backed up and purged; a second takes over from the backup, is updated by signed files
 * and purged; a third takes the .rpm and the .tar.gz. Each step is said with its time. Wants root; installs what it needs.
 */
const { values } = parseArgs({ options: { only: { type: "string" } } });
if (process.getuid?.() !== 0) {
  console.error("test:appliance boots containers: run it as root");
  process.exit(2);
}
const folder = mkdtempSync(path.join(tmpdir(), "signet-appliance-"));
let failed = 0;
let running: Container | undefined;
try {
  await step("install what the test needs, build the pages", async () => {
    ensureSystemPackages(containerPrograms);
    await buildApps();
  });
  const pristine = path.join(folder, "debian");
  const debian = makeRoot(pristine);
  // What fails is told by its own step.
  debian.catch(() => undefined);
  const packages = await step("make the releases, their packages and signed updates", () => makePackages(folder));
  await step("make a Debian 12, which was begun meanwhile", () => debian);
  if (values.only !== "formats") await life(packages, pristine);
  if (values.only !== "life") {
    const third = await machine(pristine, "third");
    await installOtherFormats(third, packages);
    await ended(third);
  }
} catch (error) {
  failed = 1;
  console.error(error instanceof Error ? error.stack : error);
  const log = await running?.tryTo(["journalctl", "-u", "signet", "-n", "60", "--no-pager"]);
  console.error(log?.stdout);
} finally {
  await running?.end();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${passedSteps()} passed, ${failed} failed`);
process.exit(failed);

/** From the first installation on one machine to the purge of the one that took over from it. */
async function life(packages: Packages, pristine: string): Promise<void> {
  const first = await machine(pristine, "first");
  await install(first, packages);
  await useAsAdministrator(first);
  const job = await useFromOutside(first);
  await endure(first, job);
  await bringPackages(first, packages, job);
  const kept = await backUp(first, folder);
  await purge(first);
  await ended(first);

  const second = await machine(pristine, "second");
  await restoreElsewhere(second, packages, kept, job);
  await leave(second, job);
  await bringSignedUpdates(second, packages, job);
  await purge(second);
  await ended(second);
}

async function machine(pristine: string, name: string): Promise<Container> {
  const root = path.join(folder, name);
  running = await step(`boot the ${name} machine`, async () => {
    copyRoot(pristine, root);
    return await boot(root, `sg${process.pid}`);
  });
  return running;
}

async function ended(container: Container): Promise<void> {
  await container.end();
  running = undefined;
  rmSync(container.root, { recursive: true, force: true });
}
