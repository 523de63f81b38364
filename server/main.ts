import "./node-version.ts";
import { enableCompileCache } from "node:module";
import path from "node:path";

// Compiled code is kept with the installation, never in a folder that others can write. It makes a start three times as fast.
enableCompileCache(path.resolve(import.meta.dirname, "../node_modules/.cache/signet"));
// Only what is imported after the line above is compiled from the cache.
const { runCli } = await import("./cli.ts");
const { serviceManagerOf } = await import("./service-manager.ts");

/** The only place that reads the environment and the arguments, and the only one that ends the process. */
process.exitCode = await runCli(process.argv.slice(2), process.env, {
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
  stdin: process.stdin,
  program: process.argv[1],
  interactive: process.stderr.isTTY === true,
  // Service managers name themselves to what they start: systemd, and WinSW on Windows. A desktop's terminals inherit it.
  attended:
    process.stdout.isTTY === true ||
    !["INVOCATION_ID", "JOURNAL_STREAM", "WINSW_SERVICE_ID"].some((name) => name in process.env),
  serviceManager: serviceManagerOf(process.env),
  onSignal: (listener) => {
    // Every time: a terminal may send one twice, and the second must not cut the orderly end short.
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => listener(signal));
  },
});
