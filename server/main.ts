import "./node-version.ts";
import { runCli } from "./cli.ts";

/** The only place that reads the environment and the arguments, and the only one that ends the process. */
process.exitCode = await runCli(process.argv.slice(2), process.env, {
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
  stdin: process.stdin,
  onSignal: (listener) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => listener(signal));
  },
});
