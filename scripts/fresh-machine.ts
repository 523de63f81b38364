import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/**
 * A minimal Debian as a container, for one command after another: its own files and processes, a fresh /proc, /dev/shm and /tmp, nothing of
 * this machine but its network.
 */
export type FreshMachine = {
  run: (line: string, options: RunOptions) => Promise<Ended>;
};

type RunOptions = {
  user: string;
  folder?: string;
  /** Once it prints this it is interrupted, as by Ctrl-C. */
  until?: string;
  /** After which it is killed, in milliseconds. */
  limitMs: number;
};

/** `code` is null when it was killed at its limit; `seen` whether it printed what it was waited for. */
export type Ended = { code: number | null; output: string; seen: boolean };

/** The variables by which programs find the way out, where there is no direct one. */
const wayOut = ["http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];

/**
 * Starts the line in a process group of its own, which is interrupted when a line comes from here. It has no NOTIFY_SOCKET: the container's
 * first process is told of one, and no reader's shell is.
 */
const interruptible = `unset NOTIFY_SOCKET; set -m
sh -c "$1" </dev/null & job=$!
{ read -r _; kill -INT -- "-$job"; } 2>/dev/null &
{ wait "$job"; status=$?; } 2>/dev/null
# What bash says of ended jobs is no part of the output.
exec 2>/dev/null
exit "$status"`;

const signals = ["SIGINT", "SIGTERM"] as const;
/** From the interruption to the end of whatever then stops in its own time. */
const mostMsToEnd = 120_000;

/** @param root a Debian whose node and npm work */
export function openMachine(root: string): FreshMachine {
  return {
    async run(line, { user, folder = "/", until, limitMs }) {
      const name = ["--hostname=fresh", `--machine=fresh-${process.pid}`];
      const options = [
        ...name,
        "--register=no",
        "--keep-unit",
        "--as-pid2",
        "--console=pipe",
        "--resolv-conf=copy-host",
        // As wherever systemd booted: its tools want the folder, which only root may make.
        "--tmpfs=/run/systemd",
      ];
      const variables = wayOut.filter((name) => process.env[name]).map((name) => `--setenv=${name}`);
      const as = [`--user=${user}`, `--chdir=${folder}`, ...variables];
      const child = spawn(
        "systemd-nspawn",
        ["-q", "-D", root, ...options, ...as, "bash", "-c", interruptible, "bash", line],
        { stdio: ["pipe", "pipe", "pipe"] },
      );
      let output = "";
      let seen = false;
      let interrupted = false;
      const end = () => child.kill("SIGKILL");
      const interrupt = () => {
        interrupted = true;
        end();
      };
      for (const signal of signals) process.once(signal, interrupt);
      let limit = setTimeout(end, limitMs);
      const hear = (chunk: Buffer) => {
        process.stdout.write(chunk);
        output += chunk.toString();
        if (until === undefined || seen || !output.includes(until)) return;
        seen = true;
        child.stdin.end("\n");
        clearTimeout(limit);
        limit = setTimeout(end, mostMsToEnd);
      };
      child.stdin.on("error", () => undefined); // Whatever it was told, it has ended.
      child.stdout.on("data", hear);
      child.stderr.on("data", hear);
      try {
        const code = await new Promise<number | null>((resolve, reject) => {
          child.once("error", reject);
          child.once("close", resolve);
        });
        if (interrupted) throw new Error("interrupted");
        return { code, output, seen };
      } finally {
        clearTimeout(limit);
        for (const signal of signals) process.off(signal, interrupt);
      }
    },
  };
}

/**
 * Gives it this machine's Node and npm (Debian 12's own are too old), and the way to the registries that this machine uses.
 * @throws Error when there is no such Node or npm here
 */
export function equip(root: string): void {
  const at = (file: string) => {
    const place = path.join(root, file);
    mkdirSync(path.dirname(place), { recursive: true });
    return place;
  };
  copyFileSync(programOfHost("node"), at("usr/bin/node"));
  chmodSync(at("usr/bin/node"), 0o755);
  const cli = programOfHost("npm");
  cpSync(path.resolve(cli, "../.."), at("usr/lib/node_modules/npm"), { recursive: true });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", at("usr/bin/npm"));
  writeFileSync(at("etc/hosts"), "127.0.0.1 localhost\n::1 localhost\n");
  const { cafile, ...settings } = npmSettings();
  if (cafile !== undefined && existsSync(cafile)) copyFileSync(cafile, at(cafile));
  const all = { ...settings, ...(cafile === undefined ? {} : { cafile }) };
  writeFileSync(
    at("usr/etc/npmrc"),
    Object.entries(all)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(""),
  );
  const apt = execFileSync("apt-config", ["dump"], { encoding: "utf8" });
  writeFileSync(at("etc/apt/apt.conf.d/90proxy"), (apt.match(/^Acquire::\S*Proxy\S* ".+";$/gm) ?? []).join("\n"));
}

/** How npm here reaches its registry, when not by itself. No login goes along: everything that is installed is public. */
function npmSettings(): Record<string, string> {
  // Where no project has settings of its own.
  const text = execFileSync("npm", ["config", "list", "--json"], { cwd: tmpdir(), encoding: "utf8" });
  const all: Record<string, unknown> = JSON.parse(text);
  const names = ["registry", "cafile", "proxy", "https-proxy", "noproxy", "strict-ssl"];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = all[name];
      return value === null || value === undefined || String(value) === "" ? [] : [[name, String(value)]];
    }),
  );
}

/** The real file of the first program of that name that is not one of this project's. */
function programOfHost(name: string): string {
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter((folder) => !folder.includes("node_modules"));
  const found = folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file));
  if (found === undefined) throw new Error(`this machine has no ${name} of its own to copy`);
  return realpathSync(found);
}
