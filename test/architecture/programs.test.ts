import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { callsOf, reachedFrom } from "../../scripts/called-programs.ts";
import { describeLeftOut, leftOutOf, type Machine, whyFailed } from "../../scripts/left-out.ts";
import * as tables from "../../scripts/system-packages.ts";

/** Programs that tests and scripts call, against the table of what `npm test` installs. */

const root = path.resolve(import.meta.dirname, "../..");
const { testPrograms } = tables;
const all: tables.Programs = Object.assign({}, ...Object.values(tables).filter((one) => typeof one === "object"));
const namesOf = (programs: tables.Programs) => Object.keys(programs).map((place) => path.basename(place));
const filesOf = (pattern: string) => globSync(pattern, { cwd: root }).map((file) => path.join(root, file));

/** What README asks for, and of Debian's smallest installation (`mmdebstrap --variant=minbase`). */
const everywhere = new Set(
  `git npm python3 bash cat chown chroot cp diff flock getent gzip md5sum mkfifo mount nice script setsid sh sync tar tee
  truncate umount unshare`.split(/\s+/),
);

test("every program that a test or a script calls, itself or through the server's files that it imports, is in the table of packages", () => {
  const unknown: string[] = [];
  const unclear: string[] = [];
  const known = new Set([...everywhere, ...namesOf(all)]);
  for (const file of filesOf("{test,scripts,installer}/**/*.{ts,mjs}")) {
    unclear.push(...callsOf(file, all).unclear);
    const { programs } = file.endsWith(".test.ts") ? reachedFrom(file, all) : callsOf(file, all);
    for (const program of programs) if (!known.has(program)) unknown.push(`${path.relative(root, file)}: ${program}`);
  }
  expect(unknown).toEqual([]);
  // A program that is chosen where it cannot be read could be any.
  expect(unclear).toEqual([]);
});

test("what `npm test` runs needs nothing of the longer tests' programs", () => {
  const others = namesOf(all).filter((name) => !everywhere.has(name) && !namesOf(testPrograms).includes(name));
  const needed = filesOf("test/**/*.test.ts")
    .filter((file) => !/\/(privileged\/|update\/restoring)/.test(file))
    // It calls wine in `npm run test:long` only.
    .filter((file) => !file.endsWith("packaging/windows.test.ts"))
    .flatMap((file) =>
      [...reachedFrom(file, all).programs].filter((name) => others.includes(name)).map((name) => `${file} ${name}`),
    );
  expect(needed).toEqual([]);
});

test("no package is installed for a program that nothing calls", () => {
  const called = new Set(filesOf("{test,scripts}/**/*.ts").flatMap((file) => [...reachedFrom(file, all).programs]));
  expect(namesOf(testPrograms).filter((name) => !called.has(name))).toEqual([]);
});

test("a program is found wherever the source names it, and one that it does not name is reported", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "signet-calls-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, "sample.ts");
  writeFileSync(
    file,
    `import { execFile as start, spawnSync } from "node:child_process";
const run = promisify(start);
const must = (command: string, ...args: string[]) => run(command, args);
function twice(times: number, command: string) { for (let n = 0; n < times; n += 1) must(command); }
must("first");
twice(2, "second");
promisify(start)("third", []);
const tool = cond ? "fourth" : "/opt/fifth/bin/fifth";
spawnSync(tool, ["argument"]);
spawnSync(process.execPath, [path.join(folder, "made")]);
spawnSync(path.join(folder, "made"));
spawnSync("sh", ["-c", \`openssl version && other \${"qpdf"}\`]);
for (const name of names) spawnSync(name, []);
const executablePath = "/usr/bin/chromium-headless-shell";
notOurs.spawnSync("sixth");
`,
  );
  const { programs, unclear } = callsOf(file, all);
  expect([...programs].sort()).toEqual([
    ...["chromium-headless-shell", "fifth", "first", "fourth", "openssl", "qpdf", "second", "sh", "third"],
  ]);
  expect(unclear).toEqual([expect.stringMatching(/sample\.ts:13 name$/)]);
});

const whole: Machine = { missing: {}, isRoot: true, hidden: null };
const tests = filesOf("test/**/*.test.ts");
const only = (...names: string[]): tables.Programs =>
  Object.fromEntries(Object.entries(testPrograms).filter(([place]) => names.includes(path.basename(place))));
// A whole name would make this file need what that one needs.
const testOf = (name: string) => `test/${name}.test.ts`;
const keys = testOf("features/appliance/keys");
const otherOwner = testOf("faults/other-owner");

test("a machine that has everything leaves nothing out", () => {
  expect(leftOutOf(tests, whole)).toEqual([]);
});

test("files are left out for what they need and the machine lacks, others are not, and one command changes it", () => {
  const machine = { ...whole, missing: only("pkcs11-tool", "makensis") };
  const leftOut = leftOutOf(tests, machine);
  expect(leftOut).toContainEqual({ file: keys, needs: ["pkcs11-tool"] });
  const packaging = [testOf("packaging/console"), testOf("packaging/windows")];
  expect(leftOut.map(({ file }) => file).sort()).toEqual([keys, ...packaging]);
  expect(describeLeftOut(leftOut, machine)).toMatch(
    /^Left out, 3 files:\n[\s\S]*keys\.test\.ts: pkcs11-tool\n[\s\S]*apt-get install -y --no-install-recommends opensc nsis'/,
  );
});

test("without root, files that give something to another user are left out; where others may not read, those that work as one", () => {
  expect(leftOutOf(tests, { ...whole, isRoot: false })).toEqual([{ file: otherOwner, needs: ["root"] }]);
  const left = leftOutOf(tests, { ...whole, hidden: "others may not read it" }).map(({ file }) => file);
  const asAnother = [
    "console/states",
    "faults/other-owner",
    "features/backup/denied-verify",
    "features/backup/silent",
    "locales/read",
  ];
  expect(left.sort()).toEqual(asAnother.map(testOf));
});

test("a run is a failure when nothing passed, and where it must be complete when a file was left out", () => {
  const leftOut = [{ file: keys, needs: ["pkcs11-tool"] }];
  const passed = { passed: 1, failed: 0, leftOut: [] };
  expect([whyFailed(passed, true), whyFailed({ ...passed, leftOut }, false)]).toEqual([null, null]);
  expect(whyFailed({ ...passed, leftOut }, true)).toBe("--complete: 1 file left out");
  expect(whyFailed({ ...passed, failed: 1 }, false)).toBe("1 failed");
  expect(whyFailed({ passed: 0, failed: 0, leftOut }, false)).toBe("nothing ran that passed");
  expect(readFileSync(path.join(root, ".ci/run"), "utf8")).toMatch(/^npm test -- --complete$/m);
});
