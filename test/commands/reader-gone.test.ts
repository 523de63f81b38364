import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLog, type Log } from "../../server/kernel/log.ts";
import { createLogTail } from "../../server/kernel/log-tail.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";

/** `signet … | head`: a command whose reader goes away says nothing of it and ends as it would have ended. */

const main = path.resolve(import.meta.dirname, "../../server/main.ts");
let app: TestAppliance;
let log: Log;
beforeAll(async () => {
  const logTail = createLogTail();
  log = createLog("info", logTail);
  app = await startAppliance({ log, logTail });
});
afterAll(() => app.stop());

const begin = (args: readonly string[], stdout: "pipe" | number = "pipe") =>
  spawn(process.execPath, [main, ...args], {
    env: { SIGNET_DATA_DIR: app.folder, SIGNET_LOG_LEVEL: "silent" },
    stdio: ["ignore", stdout, "pipe"],
  });

async function ended(child: ReturnType<typeof begin>) {
  const [err] = await Promise.all([child.stderr ? text(child.stderr) : "", once(child, "close")]);
  return { code: child.exitCode, err };
}

test.each([
  { args: ["help"], code: 0 },
  { args: ["jobs", "list"], code: 0 },
  { args: ["jobs", "retry", "job_unknown", "--json"], code: 1 },
  { args: ["org", "colour", "--json"], code: 2 },
])("$args ends with $code although nobody reads", async ({ args, code }) => {
  const child = begin(args);
  child.stdout?.destroy();
  expect(await ended(child)).toEqual({ code, err: "" });
});

test("a log that is followed ends with its reader", async () => {
  log.info({}, "before it was read");
  const child = begin(["logs", "--follow"]);
  const end = ended(child);
  if (child.stdout) await once(child.stdout, "data");
  child.stdout?.destroy();
  // Until the stream is open nobody listens: the same line again and again does no harm.
  const timer = setInterval(() => log.info({}, "one more"), 20);
  expect(await end.finally(() => clearInterval(timer))).toEqual({ code: 0, err: "" });
});

test.runIf(process.platform === "linux")("what cannot be written is told, in a line", async () => {
  const full = openSync("/dev/full", "w");
  expect(await ended(begin(["jobs", "list"], full))).toEqual({
    code: 1,
    err: "signet: standard output cannot be written: ENOSPC: no space left on device, write\n",
  });
});
