import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { waitFor } from "../../server/commands/demo/main-job.ts";

const run = promisify(execFile);
const mostOutput = 64 * 1024 ** 2;

export type Answer = { status: number; stdout: string; stderr: string };

/** A Debian that was booted, with systemd as its first process and a network of its own. */
export type Container = {
  root: string;
  /** Where it is reached from this machine. */
  address: string;
  /** Runs a command in it as root. */
  tryTo: (command: readonly string[], user?: string) => Promise<Answer>;
  /** The same. @returns what it printed @throws Error when it ends with anything but 0 */
  must: (command: readonly string[], user?: string) => Promise<string>;
  bring: (file: string, to: string) => void;
  /** Powers it off; its files stay. */
  end: () => Promise<void>;
};

const bootable = ["systemd", "systemd-sysv", "dbus", "iproute2", "ca-certificates", "libstdc++6"];

/**
 * Debian 12 with systemd and nothing that only this test would need; from the mirrors that this machine uses itself.
 * @param packages besides the smallest installation
 */
export async function makeRoot(folder: string, packages: readonly string[] = bootable): Promise<void> {
  const sources = ["/etc/apt/sources.list.d/debian.sources"];
  await run("mmdebstrap", ["--variant=minbase", `--include=${packages.join(",")}`, "bookworm", folder, ...sources], {
    maxBuffer: mostOutput,
  });
}

/** The same Debian once more. */
export function copyRoot(root: string, folder: string): void {
  execFileSync("cp", ["-a", "--reflink=auto", root, folder]);
}

/** @param name at most ten letters: network interfaces bear it */
export async function boot(root: string, name: string): Promise<Container> {
  const options = ["--register=no", "--keep-unit", "--network-veth", `--machine=${name}`, "--console=pipe"];
  const nspawn = spawn("systemd-nspawn", ["-q", "-D", root, ...options, "-b"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  try {
    return await started(nspawn, root, name);
  } catch (error) {
    nspawn.kill("SIGKILL");
    throw error;
  }
}

async function started(nspawn: ChildProcess, root: string, name: string): Promise<Container> {
  // Of this process alone: what another run left behind must not be taken for this one.
  const network = `10.213.${process.pid % 255}`;
  const [here, address] = [`${network}.1`, `${network}.2`];
  const first = await waitFor("the first process of the container", async () => firstProcess(nspawn), 60_000);
  const inside = ["-t", first, "-m", "-u", "-i", "-n", "-p", "--"];
  const tryTo: Container["tryTo"] = async (command, user) => {
    const as = user === undefined ? command : ["runuser", "-u", user, "--", ...command];
    const path = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
    try {
      const done = await run("nsenter", [...inside, "env", "-i", path, "LC_ALL=C.UTF-8", ...as], {
        maxBuffer: mostOutput,
      });
      return { status: 0, ...done };
    } catch (error) {
      if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "number") throw error;
      const { stdout, stderr } = error as Error & { stdout?: string; stderr?: string };
      return { status: error.code, stdout: stdout ?? "", stderr: stderr ?? "" };
    }
  };
  const must: Container["must"] = async (command, user) => {
    const { status, stdout, stderr } = await tryTo(command, user);
    if (status !== 0)
      throw new Error(`${command.join(" ")} ended with ${status}: ${stdout.slice(-2000)}${stderr.slice(-2000)}`);
    return stdout.trim();
  };
  await waitFor(
    "the end of its start",
    async () => {
      const { stdout } = await tryTo(["systemctl", "is-system-running"]);
      return /running|degraded/.test(stdout) ? true : null;
    },
    120_000,
    250,
  );
  await run("ip", ["address", "add", `${here}/30`, "dev", `ve-${name}`]);
  await run("ip", ["link", "set", `ve-${name}`, "up"]);
  await must(["ip", "address", "add", `${address}/30`, "dev", "host0"]);
  await must(["ip", "link", "set", "host0", "up"]);
  return {
    root,
    address,
    tryTo,
    must,
    bring: (file, to) => copyFileSync(file, path.join(root, to)),
    async end() {
      const gone = once(nspawn, "exit");
      await tryTo(["systemctl", "--force", "--force", "poweroff"]).catch(() => undefined);
      const late = setTimeout(() => nspawn.kill("SIGKILL"), 20_000);
      await gone;
      clearTimeout(late);
    },
  };
}

/** The container's first process, as this machine counts: until it runs, its parent is a step of systemd-nspawn itself. */
function firstProcess({ pid, exitCode }: ChildProcess): string | null {
  if (exitCode !== null) throw new Error(`systemd-nspawn ended with ${exitCode}`);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  const found = children.find((child) => {
    try {
      return child !== "" && readFileSync(`/proc/${child}/comm`, "utf8").trim() === "systemd";
    } catch {
      return false;
    }
  });
  return found ?? null;
}
