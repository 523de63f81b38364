import "../server/node-version.ts";
import { spawn } from "node:child_process";
import { buildApps } from "./build-apps.ts";

/** `npm start`: builds the pages when they are missing or older than their sources, then runs the appliance. */
await buildApps();
const child = spawn(process.execPath, ["server/main.ts", "serve", ...process.argv.slice(2)], { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
child.on("exit", (code) => process.exit(code ?? 1));
