import "../server/node-version.ts";
import "../server/thread-pool.ts";
import { buildApps } from "./build-apps.ts";

/**
 * `npm start`: builds the pages when they are missing or older than their sources, then runs the appliance in this very
 * process: a signal meets the server itself, once.
 */
await buildApps();
process.argv.splice(2, 0, "serve");
await import("../server/main.ts");
