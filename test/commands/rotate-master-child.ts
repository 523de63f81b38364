/** Replaces the master key of `SIGNET_DATA_DIR` and kills itself at a step: `node rotate-master-child.ts blobs 3`. */
import { rotateMaster } from "../../server/commands/rotate-master.ts";
import { loadConfig } from "../../server/config.ts";

const [, , step, nth] = process.argv;
let seen = 0;
await rotateMaster({ config: loadConfig(process.env) }, undefined, (done) => {
  if (done === step) seen += 1;
  if (done === step && seen === Number(nth)) process.kill(process.pid, "SIGKILL");
});
