/**
 * One appliance in a process of its own, which may be told to kill itself: `node appliance-child.ts '{"point":"tx:before-commit","nth":3}'`.
 * Talks to its parent by IPC: `{ ready: url }`, then one `{ point }` a boundary that was passed, when it records.
 */
import { enableCompileCache } from "node:module";
import path from "node:path";

// As main.ts does: a hundred starts are most of the crash test's time.
enableCompileCache(path.resolve(import.meta.dirname, "../../node_modules/.cache/signet"));
const { startAppliance } = await import("../../server/compose.ts");
const { loadConfig } = await import("../../server/config.ts");
const { createLog } = await import("../../server/kernel/log.ts");

type Plan = { record?: boolean; point?: string; nth?: number };
const plan: Plan = JSON.parse(process.argv[2] ?? "{}");
let seen = 0;
let armed = false;

function onBoundary(point: string): void {
  if (!armed) return;
  if (plan.record) process.send?.({ point });
  if (point === plan.point && ++seen === plan.nth) process.kill(process.pid, "SIGKILL");
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
