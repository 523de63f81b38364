import "./node-version.ts";
import "./thread-pool.ts";
import { enableCompileCache } from "node:module";
import { compileCacheFolder } from "./kernel/compile-cache.ts";

enableCompileCache(compileCacheFolder);
// Only what is imported after the line above is compiled from the cache.
const { runCli } = await import("./cli.ts");
const { serviceManagerOf } = await import("./service-manager.ts");

let unwritten = 0;
const readerGone = new AbortController();
for (const [name, stream] of [
  ["standard output", process.stdout],
  ["standard error", process.stderr],
] as const)
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // Whoever reads has seen enough (`| head`). What was asked for is done all the same: it may be half an update by now.
    if (error.code === "EPIPE") return readerGone.abort();
    if (unwritten !== 0) return;
    unwritten = 1;
    process.exitCode ||= unwritten;
    process.stderr.write(`signet: ${name} cannot be written: ${error.message}\n`);
  });

/** The only place that reads the environment and the arguments, and the only one that ends the process. */
const code = await runCli(process.argv.slice(2), process.env, {
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
  onReaderGone: (listener) => readerGone.signal.addEventListener("abort", listener),
  onSignal: (listener) => {
    // Every time: a terminal may send one twice, and the second must not cut the orderly end short.
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => listener(signal));
  },
});
process.exitCode = code || unwritten;
