import { mkdir } from "node:fs/promises";
import path from "node:path";
import { judgeBySchemathesis } from "../test/judges/schemathesis.ts";
import { judgeStamps } from "../test/judges/stamps.ts";

/** `npm run test:judges [-- NAME …]`: programs of others judge what this one makes; each installs what it needs below `out/`. */

const judges: Record<string, () => Promise<boolean>> = {
  schemathesis: judgeBySchemathesis,
  stamps: judgeStamps,
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in judges));
if (unknown.length > 0) {
  console.error(`no such judge: ${unknown.join(", ")}; there are ${Object.keys(judges).join(", ")}`);
  process.exit(2);
}
await mkdir(path.resolve("out/judges"), { recursive: true });
let failed = 0;
for (const [name, judge] of Object.entries(judges)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const passed = await judge().catch((error: unknown) => {
    console.error(error);
    return false;
  });
  console.log(`${passed ? "passed" : "failed"}: ${name}`);
  if (!passed) failed += 1;
}
process.exit(failed > 0 ? 1 : 0);
