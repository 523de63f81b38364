import "../server/node-version.ts";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { parseArgs } from "node:util";
import { build, type Configuration, Platform } from "electron-builder";
import { parse } from "yaml";
import { version as ownVersion } from "../server/version.ts";
import { consolePackages, readLock, root } from "./package-modules.ts";
import { writePapers } from "./package-tree.ts";

/**
 * `node scripts/package-console.ts [--platform linux|win|mac] [--targets deb,rpm,tar.gz] [--out FOLDER] [--version 1.2.3]
 * [--electron FOLDER] [--server FOLDER]`: the console as packages, after `npm run build:console`. With the unpacked
 * signet-server-*.tar.gz as --server the package brings the server along and installs it as its service: one machine, one package.
 */
export type ConsolePackage = {
  platform: "linux" | "win" | "mac";
  /** As electron-builder calls them; none for those of electron-builder.yml. */
  targets: readonly string[];
  version: string;
  /** Seconds since the epoch. */
  epoch: number;
  out: string;
  /** An unpacked Electron; without it electron-builder fetches the one that the lockfile names. */
  electron?: string | undefined;
  server?: string | undefined;
  /** What stands in electron-builder.yml, changed. */
  changes?: Partial<Configuration>;
};

const fromBuilder = createRequire(createRequire(import.meta.url).resolve("electron-builder/package.json"));

export const consoleConfiguration = (): Configuration =>
  parse(readFileSync(path.join(root, "electron-builder.yml"), "utf8")) as Configuration;

export async function packConsole(wanted: ConsolePackage): Promise<void> {
  const { out, version, epoch, server } = wanted;
  const parts = path.join(out, ".parts");
  mkdirSync(parts, { recursive: true });
  const electron = readLock().packages["node_modules/electron"]?.version ?? "";
  writePapers(parts, {
    name: "signet-console",
    version,
    epoch,
    packages: consolePackages(),
    runtime: { name: "electron", version: electron, licence: { id: "MIT" }, file: null },
  });
  const papers = ["sbom.cdx.json", "THIRD-PARTY-LICENCES.txt"].map((to) => ({ from: path.join(parts, to), to }));
  const config = consoleConfiguration();
  const platform = { linux: Platform.LINUX, win: Platform.WINDOWS, mac: Platform.MAC }[wanted.platform];
  useToolsOfHere(parts, epoch);
  await build({
    projectDir: root,
    targets: platform.createTarget(wanted.targets.length === 0 ? null : [...wanted.targets]),
    publish: "never",
    config: {
      ...config,
      directories: { ...config.directories, output: out },
      extraMetadata: { ...config.extraMetadata, version },
      extraResources: [...papers, ...(server === undefined ? [] : [{ from: server, to: "server" }])],
      ...(wanted.electron === undefined ? {} : { electronDist: wanted.electron }),
      ...(server === undefined ? {} : withServer(parts)),
      ...wanted.changes,
    },
  });
}

/** Debian's own tools where they are, so that nothing has to be fetched. */
function useToolsOfHere(parts: string, epoch: number): void {
  process.env.SOURCE_DATE_EPOCH = String(epoch);
  if (process.platform !== "linux") return;
  const fpm = path.join(parts, "fpm");
  const quoted = [process.execPath, path.join(root, "scripts/fpm.ts")].map((one) => `'${one}'`).join(" ");
  writeFileSync(fpm, `#!/bin/sh\nexec ${quoted} "$@"\n`, { mode: 0o755 });
  process.env.CUSTOM_FPM_PATH ??= fpm;
  if (existsSync("/usr/bin/7za")) process.env.ELECTRON_BUILDER_7ZIP_PATH ??= "/usr/bin/7za";
}

/** The package's own scripts install the server that lies in it, and take its program, not its data, away again. */
function withServer(parts: string): Pick<Configuration, "deb" | "rpm"> {
  const templates = path.join(path.dirname(fromBuilder.resolve("app-builder-lib/package.json")), "templates/linux");
  // The folder that electron-builder's packages install to.
  const installer = `'/opt/${consoleConfiguration().productName}/resources/server/install.sh'`;
  const afterInstall = path.join(parts, "after-install");
  const usual = readFileSync(path.join(templates, "after-install.tpl"), "utf8");
  writeFileSync(afterInstall, `${usual}\n# The service of this machine.\n${installer}\n`);
  const beforeRemove = path.join(parts, "before-remove");
  // dpkg says what it is about, rpm how many versions stay.
  writeFileSync(
    beforeRemove,
    `#!/bin/sh\nset -e\nif [ "$1" = remove ] || [ "$1" = 0 ]; then ${installer} remove; fi\n`,
  );
  const format = { afterInstall, fpm: ["--before-remove", beforeRemove, "--conflicts", "signet-server"] };
  return { deb: format, rpm: format };
}

if (import.meta.main) {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    options: { platform: text, targets: text, out: text, version: text, electron: text, server: text },
  });
  const { platform = "linux" } = values;
  if (platform !== "linux" && platform !== "win" && platform !== "mac") {
    console.error("--platform takes linux, win or mac");
    process.exit(2);
  }
  const committed = () => execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" });
  await packConsole({
    platform,
    targets: values.targets?.split(",") ?? [],
    version: values.version ?? ownVersion,
    epoch: Number(process.env.SOURCE_DATE_EPOCH ?? committed()),
    out: path.resolve(values.out ?? path.join(root, "out/console")),
    electron: values.electron === undefined ? undefined : path.resolve(values.electron),
    server: values.server === undefined ? undefined : path.resolve(values.server),
  });
}
