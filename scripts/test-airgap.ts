import "../server/node-version.ts";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";

/**
 * `npm run test:airgap [-- --short]`: the main job in a network namespace of its own, whose default route leads to a device that
 * nothing answers on. Two witnesses say whether anything tried to get out: the packets that this device sent, and every address
 * that a system call named. First both must notice an attempt that is made on purpose. At the end two people sign in a real browser.
 */

const root = path.resolve(import.meta.dirname, "..");
const main = path.join(root, "server/main.ts");
const inside = "SIGNET_TEST_NAMESPACE";
const settle = "setTimeout(() => process.exit(0), 300)";
const attempt = `require("node:dgram").createSocket("udp4").send("x", 9, "192.0.2.1"); ${settle}`;

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
  const done = spawnSync(command, args, { cwd: root, env, encoding: "utf8", maxBuffer: 64 * 1024 ** 2 });
  if (done.error) throw new Error(`${command} is needed: ${done.error.message}`);
  return done;
}

function must(command: string, ...args: string[]): string {
  const done = run(command, args);
  if (done.status !== 0) throw new Error(`${command} ${args.join(" ")}: ${done.stderr.trim()}`);
  return done.stdout;
}

function openNamespace(): void {
  must("ip", "link", "set", "lo", "up");
  must("ip", "link", "add", "out", "type", "veth", "peer", "name", "far");
  // The system's own announcements are no attempt of ours.
  for (const device of ["out", "far"]) {
    must("ip", "link", "set", device, "addrgenmode", "none");
    must("ip", "link", "set", device, "up");
  }
  must("ip", "address", "add", "10.255.255.2/24", "dev", "out");
  must("ip", "neighbour", "add", "10.255.255.1", "lladdr", "02:00:00:00:00:01", "dev", "out");
  must("ip", "route", "add", "default", "via", "10.255.255.1");
}

function packetsOut(): number {
  const [device]: { stats64: { tx: { packets: number } } }[] = JSON.parse(
    must("ip", "-s", "-j", "link", "show", "dev", "out"),
  );
  return device?.stats64.tx.packets ?? Number.NaN;
}

/** Addresses beyond this machine, and look-ups of names anywhere, as system calls named them. */
function addressesOutside(log: string): string[] {
  const named = [
    ...readFileSync(log, "utf8").matchAll(
      /sin6?_port=htons\((\d+)\).*?(?:inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)")/g,
    ),
  ];
  return named
    .map(([, port = "", v4, v6]) => ({ port, address: v4 ?? v6 ?? "" }))
    .filter(({ port, address }) => port === "53" || !/^(127\.|::1$|::ffff:127\.)/.test(address))
    .map(({ port, address }) => `${address} port ${port}`);
}

function watched(env: Record<string, string>, args: readonly string[]) {
  const folder = mkdtempSync(path.join(tmpdir(), "signet-airgap-"));
  const log = path.join(folder, "calls");
  const before = packetsOut();
  try {
    const calls = ["-f", "-qq", "-e", "trace=connect,sendto,sendmsg,sendmmsg", "-e", "signal=none", "-o", log];
    const done = run("strace", [...calls, process.execPath, ...args], {
      PATH: process.env.PATH ?? "",
      HOME: folder,
      ...env,
    });
    const calledLocally = /127\.0\.0\.1|::1/.test(readFileSync(log, "utf8"));
    return {
      status: done.status,
      text: done.stdout + done.stderr,
      packets: packetsOut() - before,
      outside: addressesOutside(log),
      calledLocally,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function prove(short: boolean): boolean {
  openNamespace();
  const control = watched({}, ["-e", attempt]);
  const seen = control.packets > 0 && control.outside.length > 0;
  console.log(
    `${seen ? "ok" : "FAILED"}  an attempt on purpose is noticed: ${control.packets} packets, ${control.outside.join(", ")}`,
  );
  const settings = short ? [{ SIGNET_AIR_GAP: "true" }] : [{ SIGNET_AIR_GAP: "true" }, {}];
  let well = seen;
  for (const env of settings) {
    const out = mkdtempSync(path.join(tmpdir(), "signet-airgap-out-"));
    const job = watched(env, [main, "demo", "--json", "--out", out]);
    rmSync(out, { recursive: true, force: true });
    const ok = job.status === 0 && job.packets === 0 && job.outside.length === 0 && job.calledLocally;
    const name = env.SIGNET_AIR_GAP ? "the main job in air-gap mode" : "the main job in default settings";
    console.log(
      `${ok ? "ok" : "FAILED"}  ${name}: exit ${job.status}, ${job.packets} packets out, ${job.outside.length} addresses outside ${job.outside.slice(0, 5).join(", ")}`,
    );
    if (job.status !== 0) console.log(job.text.slice(-2000));
    well &&= ok;
  }
  return short ? well : inBrowser() && well;
}

/** Two people sign on the real pages in Chromium, from the mailed link to the verification of the sealed file: only packets are counted. */
function inBrowser(): boolean {
  const before = packetsOut();
  const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
  const chosen = ["test/e2e/sign.test.ts", "-t", "desktop and phone", "--reporter=dot"];
  const done = run(process.execPath, [vitest, "run", ...chosen]);
  const passed = done.status === 0 && /Tests\D*1 passed/.test(stripVTControlCharacters(done.stdout));
  const packets = packetsOut() - before;
  const ok = passed && packets === 0;
  console.log(`${ok ? "ok" : "FAILED"}  the signing pages in Chromium: exit ${done.status}, ${packets} packets out`);
  if (!passed) console.log((done.stdout + done.stderr).slice(-3000));
  return ok;
}

if (process.env[inside] === "1") {
  process.exitCode = prove(process.argv.includes("--short")) ? 0 : 1;
} else {
  const rights = process.getuid?.() === 0 ? ["-n"] : ["-r", "-n"];
  const self = [process.execPath, import.meta.filename, ...process.argv.slice(2)];
  const done = spawnSync("unshare", [...rights, ...self], { stdio: "inherit", env: { ...process.env, [inside]: "1" } });
  if (done.error) console.error(`unshare is needed: ${done.error.message}`);
  process.exitCode = done.status ?? 2;
}
