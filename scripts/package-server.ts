import "../server/node-version.ts";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { version as ownVersion } from "../server/version.ts";
import { buildApps } from "./build-apps.ts";
import { type Format, formats, writeFormat, writePayload, writeSums } from "./package-formats.ts";
import { root } from "./package-modules.ts";
import { writeRelease } from "./package-tree.ts";

/**
 * `npm run package:server [-- --out FOLDER --version 1.2.3 --formats deb,rpm,tar.gz]`: the server as packages for Linux, with its
 * own Node, and beside them sums, the bill of materials and the licences. The same checkout gives the same bytes.
 * SOURCE_DATE_EPOCH dates every file; without it the last commit does.
 */
const { values } = parseArgs({
  options: { out: { type: "string" }, version: { type: "string" }, formats: { type: "string" } },
});
const out = path.resolve(values.out ?? path.join(root, "out/server"));
const version = values.version ?? ownVersion;
const asked = (values.formats ?? formats.join(",")).split(",");
const wanted = asked.flatMap((name): Format[] => formats.filter((format) => format === name));
if (wanted.length !== asked.length || !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) {
  console.error(`--formats takes ${formats.join(", ")}; --version three numbers, as 1.2.3`);
  process.exit(2);
}
if (process.platform !== "linux") {
  console.error("the server's packages are made on Linux, for the processor of that machine");
  process.exit(2);
}
const epoch = Number(
  process.env.SOURCE_DATE_EPOCH ?? execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: root }),
);

await buildApps();
mkdirSync(out, { recursive: true });
const release = { folder: path.join(out, "release"), version, epoch };
writeRelease(release);
console.log(`release ${version} in ${release.folder}`);
const payload = path.join(out, "payload");
writePayload(release, payload);
const made = wanted.map((format) => {
  const file = writeFormat(format, release, payload, out);
  console.log(file);
  return file;
});
for (const name of ["sbom.cdx.json", "THIRD-PARTY-LICENCES.txt"]) {
  const file = path.join(out, name);
  copyFileSync(path.join(release.folder, name), file);
  made.push(file);
}
writeSums(made, out);
