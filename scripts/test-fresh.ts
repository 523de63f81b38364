import "../server/node-version.ts";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { copyRoot, makeRoot } from "../test/appliance/container.ts";
import { type Ended, equip, type FreshMachine, openMachine } from "./fresh-machine.ts";
import { quickStartCommands, quickStartPackages, starts, tests } from "./quick-start.ts";
import { containerPrograms, ensureSystemPackages } from "./system-packages.ts";

/**
 * `npm run test:fresh [-- --user root|plain] [--filter PATH …]`: what the README's quick start promises, on machines that have nothing
 * but what it asks for: a Debian is made, the last commit is cloned into root's home, on a second one into a plain user's, and both
 * lines are run there as they are written. Where packages are left to be installed, the plain user's run does what `npm test` says,
 * and runs the rest. Fails on anything but ready and green. Wants root; installs what it needs.
 */

const root = path.resolve(import.meta.dirname, "..");
const minute = 60_000;
const ready = "Signet is ready at";
const reader = "reader";

const { values, positionals } = parseArgs({
  options: { user: { type: "string" }, filter: { type: "string", multiple: true } },
  allowPositionals: true,
});
// `--filter A B` as well as `--filter A --filter B`.
const filters = [...(values.filter ?? []), ...positionals];
const users = values.user === undefined ? ["root", "plain"] : [values.user];
if (process.getuid?.() !== 0 || users.some((user) => user !== "root" && user !== "plain")) {
  console.error("usage, as root: npm run test:fresh [-- --user root|plain] [--filter PATH …]");
  process.exit(2);
}

const readme = readFileSync(path.join(root, "README.md"), "utf8");

/** Of a shell whose command ended well, or was interrupted. */
const endsInterrupted = new Set<number | null>([0, 130]);

type Tally = { passed: number; failed: number; leftOut: Map<string, string>; install: string | undefined };

/** What `npm test` said at its end; nothing when it did not come that far. */
function tallyOf(output: string): Tally | null {
  const last = [...output.matchAll(/^(\d+) passed, (\d+) failed/gm)].at(-1);
  if (!last) return null;
  const leftOut = new Map(
    [...output.matchAll(/^ {2}(test\/\S+\.test\.ts): (.+)$/gm)].map(([, file = "", needs = ""]) => [file, needs]),
  );
  const install = /^ *sudo sh -c '(.+)'$/m.exec(output)?.[1];
  return { passed: Number(last[1]), failed: Number(last[2]), leftOut, install };
}

async function asReader(machine: FreshMachine, user: string, folder: string): Promise<string> {
  const troubles: string[] = [];
  let isReady = false;
  let [passed, failed] = [0, 0];
  const test = async (line: string) => {
    const ended = await machine.run(line, { user, folder, limitMs: 120 * minute });
    const tally = tallyOf(ended.output);
    if (ended.code !== 0 || tally === null) troubles.push(`${line}: ${howEnded(ended)}`);
    passed += tally?.passed ?? 0;
    failed += tally?.failed ?? 0;
    return tally;
  };
  for (const line of quickStartCommands(readme)) {
    console.log(`\n${user}@fresh:~/signet$ ${line}`);
    if (starts(line)) {
      const ended = await machine.run(line, { user, folder, until: ready, limitMs: 30 * minute });
      isReady = ended.seen && endsInterrupted.has(ended.code);
      if (!isReady) troubles.push(`${line}: ${howEnded(ended)}`);
    } else if (tests(line)) {
      const first = await test([line, ...(filters.length > 0 ? ["--", ...filters] : [])].join(" "));
      let leftOut = first?.leftOut ?? new Map<string, string>();
      if (user !== "root" && first?.install !== undefined) {
        console.log(`\nroot@fresh:~# ${first.install}`);
        const installed = await machine.run(first.install, { user: "root", limitMs: 30 * minute });
        if (installed.code !== 0) troubles.push(`${first.install}: ${howEnded(installed)}`);
        const second = await test(["npm test --", ...leftOut.keys()].join(" "));
        leftOut = second?.leftOut ?? leftOut;
      }
      for (const [file, needs] of leftOut)
        if (user === "root" || needs !== "root") troubles.push(`${file} was left out: ${needs}`);
    } else {
      const ended = await machine.run(line, { user, folder, limitMs: 30 * minute });
      if (ended.code !== 0) troubles.push(`${line}: ${howEnded(ended)}`);
    }
  }
  const result = `${isReady ? "ready" : "not ready"}, ${passed} passed, ${failed} failed`;
  if (troubles.length > 0) process.exitCode = 1;
  return [result, ...troubles].join("\n  ");
}

const howEnded = ({ code, seen }: Ended): string =>
  code === null ? "did not end in time" : `ended with ${code}${seen ? " after it was ready" : ""}`;

async function freshRun(pristine: string, kind: string): Promise<string> {
  const place = path.join(folder, kind);
  copyRoot(pristine, place);
  const machine = openMachine(place);
  const user = kind === "root" ? "root" : reader;
  const home = kind === "root" ? "/root" : `/home/${reader}`;
  try {
    if (kind !== "root") await must(machine, `useradd --create-home --shell /bin/bash ${reader}`);
    const checkout = path.join(place, home, "signet");
    execFileSync("git", ["clone", "-q", "--depth", "1", `file://${root}`, checkout]);
    await must(machine, `chown -R ${user}: ${home}/signet && node --version && npm --version && ls -ld ${home}`);
    return await asReader(machine, user, `${home}/signet`);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function must(machine: FreshMachine, line: string): Promise<void> {
  const ended = await machine.run(line, { user: "root", limitMs: 5 * minute });
  if (ended.code !== 0) throw new Error(`${line}: ${howEnded(ended)}`);
}

const folder = mkdtempSync(path.join(tmpdir(), "signet-fresh-"));
const results: string[] = [];
try {
  ensureSystemPackages(containerPrograms);
  const pristine = path.join(folder, "debian");
  console.log(`making a Debian with git, ${quickStartPackages(readme).join(", ")}`);
  await makeRoot(pristine, ["git", ...quickStartPackages(readme)]);
  equip(pristine);
  for (const user of users) results.push(`${user}: ${await freshRun(pristine, user)}`);
} catch (error) {
  process.exitCode = 1;
  results.push(`not ended: ${error instanceof Error ? error.message : error}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`\n${results.join("\n")}`);
