import { randomBytes } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { recordOperatorAct } from "../../../server/features/operators/service.ts";
import { openMaintenance, writeMaintenance } from "../../../server/features/update/maintenance.ts";
import { createLog } from "../../../server/kernel/log.ts";
import { openDeps } from "../../../server/open-deps.ts";
import { startAppliance } from "../../harness/appliance.ts";
import { audited } from "../../harness/releases.ts";

test("the end of an update is written down once, whoever says it: who applied it, and the journal, at the same moment", async () => {
  const app = await startAppliance();
  onTestFinished(() => app.stop());
  const dataDir = app.folder;
  const { deps, close } = await openDeps({ config: app.config, log: createLog("silent") });
  const id = `upd_${randomBytes(8).toString("hex")}`;
  const actor = { type: "operator" as const, id: null, name: "ada", email: null };
  await writeMaintenance(dataDir, { v: 1, id, from: "1.0.0", to: "1.1.0", actor, closed: false });
  const maintenance = await openMaintenance({ dataDir, root: null });
  const ends = Array.from({ length: 3 }, () => maintenance.end(deps, id, "applied"));
  await expect(maintenance.end(deps, "upd_0000000000000000", "applied")).rejects.toThrow(
    "Another update is under way.",
  );
  await Promise.all(ends);
  await close();
  expect(maintenance.state).toBeNull();
  expect(audited(dataDir)).toEqual(["update.applied"]);
});

test("a process that was started before the update had ended by itself does not write its end down again", async () => {
  const app = await startAppliance();
  onTestFinished(() => app.stop());
  const dataDir = app.folder;
  const { deps, close } = await openDeps({ config: app.config, log: createLog("silent") });
  const actor = { type: "operator" as const, id: null, name: "ada", email: null };
  const update = async (id: string) => {
    await writeMaintenance(dataDir, { v: 1, id, from: "1.0.0", to: "1.1.0", actor, closed: false });
    await deps.db.tx((tx) => recordOperatorAct(tx, deps, { actor, action: "update.begun", target: "1.1.0" }));
    const [first, second] = await Promise.all([1, 2].map(() => openMaintenance({ dataDir, root: null })));
    await first?.end(deps, id, "returned");
    await second?.end(deps, id, "returned");
    expect(second?.state).toBeNull();
  };
  await update("upd_0000000000000001");
  await update("upd_0000000000000002");
  await close();
  expect(audited(dataDir)).toEqual(["update.begun", "update.returned", "update.begun", "update.returned"]);
});
