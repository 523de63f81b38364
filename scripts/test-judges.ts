import "../server/node-version.ts";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { judges } from "../test/judges/judges.ts";
import { writeMixedFiles } from "../test/judges/mixed-files.ts";
import { judgeBySchemathesis } from "../test/judges/schemathesis.ts";
import { sealFiles } from "../test/judges/sealed-files.ts";
import { judgeStamps } from "../test/judges/stamps.ts";
import { judgeWebhooks } from "../test/judges/webhooks.ts";
import { ensureSystemPackages, judgePrograms } from "./system-packages.ts";

/**
 * `npm run test:judges [-- NAME …] [--keep FOLDER]`: programs of others judge what this one makes, all of them or the ones that
 * are named. `dss`, `pyhanko` and `openssl` look at files of many programs, sealed by a real appliance (`--keep` leaves them in a
 * folder); `schemathesis` at a running server, `stamps` at drawn pages, `webhooks` at deliveries
 * (root). Their own parts are kept below `out/judges`.
 */
const certificates = 10;
/** Those that bring what they judge. */
const others: Readonly<Record<string, () => Promise<boolean>>> = {
  schemathesis: judgeBySchemathesis,
  stamps: judgeStamps,
  webhooks: judgeWebhooks,
};
const args = process.argv.slice(2);
const keepAt = args.indexOf("--keep");
const kept = keepAt < 0 ? undefined : args[keepAt + 1];
const named = args.filter((_, at) => keepAt < 0 || (at !== keepAt && at !== keepAt + 1));
const names = [...Object.keys(judges), ...Object.keys(others)];
const unknown = named.find((name) => !names.includes(name));
if (unknown !== undefined) {
  console.error(`there is no judge ${unknown}: ${names.join(", ")}`);
  process.exit(2);
}

ensureSystemPackages();
ensureSystemPackages(judgePrograms);
const tools = path.resolve(import.meta.dirname, "../out/judges");
mkdirSync(tools, { recursive: true });
const chosen = names.filter((name) => named.length === 0 || named.includes(name));
let passed = 0;
const count = (name: string, ok: boolean) => {
  console.log(`${ok ? "passed" : "failed"}: ${name}`);
  if (ok) passed += 1;
};

const ofFiles = Object.entries(judges).filter(([name]) => chosen.includes(name));
if (ofFiles.length > 0) {
  const folder = kept === undefined ? mkdtempSync(path.join(tmpdir(), "signet-judges-")) : path.resolve(kept);
  mkdirSync(folder, { recursive: true });
  try {
    const sources = await writeMixedFiles(path.join(folder, "sources"));
    console.log(`${sources.length} files of mixed origin`);
    const sealed = await sealFiles(sources, { folder, certificates, say: console.log });
    for (const [name, judge] of ofFiles) {
      const complaints = await judge(sealed, tools);
      for (const complaint of complaints) console.log(`  ${name}: ${complaint}`);
      console.log(`${name}: ${sealed.files.length} files, ${complaints.length} complaints`);
      count(name, complaints.length === 0);
    }
  } finally {
    if (kept === undefined) rmSync(folder, { recursive: true, force: true });
  }
}
for (const [name, judge] of Object.entries(others)) {
  if (!chosen.includes(name)) continue;
  const ok = await judge().catch((error: unknown) => {
    console.error(error);
    return false;
  });
  count(name, ok);
}
console.log(`${passed} passed, ${chosen.length - passed} failed`);
process.exit(passed === chosen.length ? 0 : 1);
