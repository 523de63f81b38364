import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { serviceControl } from "../../../server/features/update/service-control.ts";

const address = { socket: "/nowhere/admin.sock", operator: "ada" };

/** Something that answers like systemctl, and writes down what it was asked. */
async function standIn() {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-systemd-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const systemctl = path.join(folder, "systemctl");
  await writeFile(
    systemctl,
    `#!/bin/sh
echo "$*" >> ${folder}/asked
case "$*" in *" signet.service") echo loaded ;; *) echo not-found ;; esac
`,
    { mode: 0o755 },
  );
  const asked = async () => (await readFile(path.join(folder, "asked"), "utf8")).trim().split("\n");
  return { folder, systemd: { booted: folder, systemctl }, asked };
}

test("a unit that systemd does not know is refused before anything is changed: it could not be put back either", async () => {
  const { systemd, asked } = await standIn();
  await expect(serviceControl("signt.service", address, systemd)).rejects.toThrow(
    "systemd has no unit signt.service (not-found)",
  );
  const control = await serviceControl("signet.service", address, systemd);
  expect(control).toMatchObject({ name: "systemd signet.service", starts: true });
  await control.stop();
  await control.start();
  expect((await asked()).slice(-3)).toEqual([
    "stop signet.service",
    "reset-failed signet.service",
    "start --no-block signet.service",
  ]);
  expect(await serviceControl(undefined, address, systemd)).toMatchObject({ starts: true });
  expect(await serviceControl("supervised", address, systemd)).toMatchObject({ starts: false });
});

test("where systemd does not run, a unit is refused, and without one the supervisor starts what ended", async () => {
  const { folder, systemd } = await standIn();
  await mkdir(path.join(folder, "empty"));
  const none = { ...systemd, booted: path.join(folder, "empty/system") };
  await expect(serviceControl("signet.service", address, none)).rejects.toThrow("say --service supervised");
  expect(await serviceControl(undefined, address, none)).toMatchObject({ starts: false });
});
