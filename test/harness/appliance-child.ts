/**
 * One appliance in a process of its own, which may be told to kill itself. Talks to its parent by IPC: loads everything, waits for
 * `{ start: KillPlan }`, answers `{ ready: url }`, then one `{ point }` a boundary that was passed, when it records. `{ arm: KillPlan }`
 * gives a running one another plan.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { compileCacheFolder } from "../../server/kernel/compile-cache.ts";
import type { KillPlan } from "./crashing-appliance.ts";

// A parent that is gone leaves no appliance behind.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
const { promise: begun, resolve: begin } = Promise.withResolvers<KillPlan>();
process.on("message", (message: { start: KillPlan } | { arm: KillPlan }) => {
  if ("start" in message) begin(message.start);
  else arm(message.arm);
});

// As main.ts does: a hundred starts are most of the crash test's time.
enableCompileCache(compileCacheFolder);
const { startAppliance } = await import("../../server/compose.ts");
const { loadConfig } = await import("../../server/config.ts");
const { createLog } = await import("../../server/kernel/log.ts");

let plan = await begun;
const { struckFile, pauseFile } = plan;
let seen = 0;
let armed = plan.armed === true;
/** Where no child before this one died. */
const left = new Set(plan.points);
if (struckFile && existsSync(struckFile))
  for (const point of readFileSync(struckFile, "utf8").split("\n")) left.delete(point);

function onBoundary(point: string): void {
  if (!armed) return;
  if (plan.record) process.send?.({ point });
  if (pauseFile && point.startsWith("tx:")) {
    appendFileSync(pauseFile, `${point}\n`);
    process.kill(process.pid, "SIGSTOP");
  }
  const strikes = left.has(point) || (point === plan.point && ++seen === plan.nth);
  if (!strikes) return;
  if (struckFile) appendFileSync(struckFile, `${point}\n`);
  process.kill(process.pid, "SIGKILL");
}

/** The parent gives a plan when it starts its envelope, so that what the start itself does is not counted. */
function arm(next: KillPlan): void {
  plan = next;
  seen = 0;
  armed = true;
  process.send?.({ armed: true });
}

const config = loadConfig(process.env);
const appliance = await startAppliance({ config, log: createLog(config.logLevel), onBoundary });
process.send?.({ ready: appliance.url });
