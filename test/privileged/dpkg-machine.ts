import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "vitest";
import { type Format, writeFormat, writePayload } from "../../scripts/package-formats.ts";
import { date } from "../../scripts/package-tree.ts";
import { containerPrograms, ensureSystemPackages } from "../../scripts/system-packages.ts";
import { makeRoot } from "../appliance/container.ts";

/**
 * The packages' scripts by dpkg itself, in a Debian of their own that is not booted: a systemctl of the test's keeps the state of the
 * service in files, starts no release that has a file `fails`, and ends everything at a step that is named to it.
 */
const systemctl = `#!/bin/sh
cd /manager
if [ "$1" = --quiet ]; then shift; fi
echo "$1" >>calls
if [ -e kill ] && [ "$(cat kill)" = "$1" ]; then rm kill; kill -9 0; fi
case "$1" in
  is-active) [ -e active ] ;;
  is-enabled)
    if [ -e masked ]; then echo masked; exit 1; fi
    [ -e enabled ] ;;
  show) if [ -e failed ]; then echo failed; elif [ -e active ]; then echo active; else echo inactive; fi ;;
  enable) [ ! -e masked ] && : >enabled ;;
  disable) rm -f enabled ;;
  reset-failed) rm -f failed ;;
  stop) rm -f active ;;
  start | restart)
    if [ -e masked ]; then exit 1; fi
    rm -f active failed
    data=$(sed -n 's/^SIGNET_DATA_DIR=//p' /etc/signet/signet.env 2>/dev/null | xargs)
    data=\${data:-/var/lib/signet}
    version=$(basename "$(readlink /opt/signet/current)")
    if [ -e /opt/signet/current/fails ]; then
      install -d -o signet -g signet -m 700 $data
      echo "migrated by $version" >$data/signet.db; echo log >$data/signet.db-wal
      : >failed
      exit 1
    fi
    install -d -o signet -g signet -m 700 $data $data/blobs
    if [ ! -e $data/signet.db ]; then install -o signet -m 600 /dev/null $data/signet.db; fi
    echo "$version" >active
    /usr/lib/signet/deploy started ;;
esac`;

let folder: string;
let root: string;
const files: Record<string, string> = {};

/** The Debian, and the packages that tests bring to it: 1.2.0 does not start. */
export async function makeDebian(): Promise<void> {
  ensureSystemPackages(containerPrograms);
  folder = await mkdtemp(path.join(tmpdir(), "signet-dpkg-"));
  await makeRoot(path.join(folder, "debian"));
  for (const [version, fails] of [["1.0.0"], ["1.1.0"], ["1.2.0", true]] as const)
    files[version] = pack(version, "deb", fails);
  files.tar = pack("1.0.0", "tar.gz");
  files.rpm = pack("1.0.0", "rpm");
}
export async function removeDebian(): Promise<void> {
  shut();
  await rm(folder, { recursive: true, force: true });
}

/** Each test has the Debian as it was made: what it writes lies in a layer above. */
export function openMachine(): void {
  shut();
  root = path.join(folder, "machine");
  const layers = ["machine", "above", "work"].map((name) => path.join(folder, name));
  for (const layer of layers) {
    rmSync(layer, { recursive: true, force: true });
    mkdirSync(layer);
  }
  const options = `lowerdir=${path.join(folder, "debian")},upperdir=${layers[1]},workdir=${layers[2]}`;
  execFileSync("mount", ["-t", "overlay", "-o", options, "overlay", root]);
  // systemd's tools look there.
  execFileSync("mount", ["-t", "proc", "proc", at("proc")]);
  for (const name of ["run/systemd/system", "manager"]) mkdirSync(at(name), { recursive: true });
  writeFileSync(at("usr/local/sbin/systemctl"), systemctl, { mode: 0o755 });
  for (const [name, file] of Object.entries(files)) execFileSync("cp", [file, at("root", name)]);
}
const shut = () => spawnSync("umount", ["-R", "-l", path.join(folder, "machine")]);

/** A release of a few files. */
function pack(version: string, format: Format, fails = false): string {
  const out = path.join(folder, `${version}-${format}`);
  const release = { folder: path.join(out, "release"), version, epoch: 1_780_000_000 };
  for (const name of ["bin", "server"]) mkdirSync(path.join(release.folder, name), { recursive: true });
  writeFileSync(path.join(release.folder, "server/main.ts"), `// ${version}`);
  writeFileSync(path.join(release.folder, "bin/node"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  if (fails) writeFileSync(path.join(release.folder, "fails"), "");
  date(release.folder, release.epoch);
  writePayload(release, path.join(out, "payload"));
  return writeFormat(format, release, path.join(out, "payload"), out, { fast: true });
}

export const at = (...names: string[]) => path.join(root, ...names);
export const read = (name: string) => readFileSync(at(name), "utf8").trim();

/** Runs it in the machine. A group of its own, so that all of it can be killed. */
export function run(command: string) {
  const env = { PATH: "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive" };
  return spawnSync("setsid", ["--wait", "chroot", root, "sh", "-c", `${command}; exit $?`], { encoding: "utf8", env });
}
export function must(command: string): string {
  const { status, stdout, stderr } = run(command);
  expect(status, `${command}: ${stdout}${stderr}`).toBe(0);
  return stdout;
}
export function killedAt(step: string, command: string): void {
  writeFileSync(at("manager/kill"), step);
  run(command);
  expect(existsSync(at("manager/kill")), `killed at ${step}`).toBe(false);
}
// biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg's own
export const state = () => run("dpkg-query -W -f '${Status} ${Version}' signet-server").stdout;
export const active = () => (existsSync(at("manager/active")) ? read("manager/active") : "stopped");
export const left = (...names: string[]) => names.filter((name) => existsSync(at(name)));

/** Installed, running, used. */
export function installed(): void {
  must("dpkg -i /root/1.0.0");
  writeFileSync(at("var/lib/signet/signet.db"), "of 1.0.0");
  writeFileSync(at("etc/signet/signet.env"), "SIGNET_PORT=443\n");
}
export function serves(version: string): void {
  expect([state(), active()]).toEqual([`install ok installed ${version}`, version]);
  expect(readdirSync(at("opt/signet")).sort()).toEqual(["current", "releases"]);
  expect(readdirSync(at("opt/signet/releases")).filter((name) => name.startsWith("."))).toEqual([]);
  expect(readdirSync(at("var/lib/signet")).sort()).toEqual(["blobs", "signet.db"]);
  expect(read("var/lib/signet/signet.db")).toBe("of 1.0.0");
  expect(read("etc/signet/signet.env")).toBe("SIGNET_PORT=443");
}

/** rpm of this machine, in that one: its scripts run there, and nothing else of it is Debian's. */
export function rpm(...args: string[]): void {
  const scripts = ["--define", "_install_script_path /usr/local/sbin:/usr/sbin:/usr/bin"];
  execFileSync("rpm", ["--root", root, "--nodeps", ...scripts, ...args], { stdio: "pipe" });
}
