/**
 * One appliance in a process of its own, which may be told to kill itself: `node appliance-child.ts '{"point":"tx:before-commit","nth":3}'`.
 * Talks to its parent by IPC: `{ ready: url }`, then one `{ point }` a boundary that was passed, when it records.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { enableCompileCache } from "node:module";
import path from "node:path";
import type { KillPlan } from "./crashing-appliance.ts";

// As main.ts does: a hundred starts are most of the crash test's time.
enableCompileCache(path.resolve(import.meta.dirname, "../../node_modules/.cache/signet"));
const { startAppliance } = await import("../../server/compose.ts");
const { loadConfig } = await import("../../server/config.ts");
const { createLog } = await import("../../server/kernel/log.ts");

const plan: KillPlan = JSON.parse(process.argv[2] ?? "{}");
const { struckFile } = plan;
let seen = 0;
let armed = plan.armed === true;
/** Where no child before this one died. */
const left = new Set(plan.points);
if (struckFile && existsSync(struckFile))
  for (const point of readFileSync(struckFile, "utf8").split("\n")) left.delete(point);

function onBoundary(point: string): void {
  if (!armed) return;
  if (plan.record) process.send?.({ point });
  const strikes = left.has(point) || (point === plan.point && ++seen === plan.nth);
  if (!strikes) return;
  if (struckFile) appendFileSync(struckFile, `${point}\n`);
  process.kill(process.pid, "SIGKILL");
}

// The parent arms the plan when it starts its envelope, so that what the start itself does is not counted.
process.on("message", (message) => {
  if (message === "arm") {
    armed = true;
    process.send?.({ armed: true });
  }
});

const config = loadConfig(process.env);
const appliance = await startAppliance({ config, log: createLog(config.logLevel), onBoundary });
process.send?.({ ready: appliance.url });
// A parent that is gone leaves no appliance behind.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
