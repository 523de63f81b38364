import { writeSync } from "node:fs";
import { lockDataFolder } from "../../server/kernel/data-lock.ts";

// Takes the lock of a data folder, says so, and with a second argument kills itself while holding it.
const [folder = "", die] = process.argv.slice(2);
try {
  await lockDataFolder(folder);
  writeSync(1, "held\n");
  if (die !== undefined) process.kill(process.pid, "SIGKILL");
} catch (error) {
  writeSync(1, `${error instanceof Error ? error.message : error}\n`);
}
