import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type ConsolePackage, consoleConfiguration, packConsole } from "../../scripts/package-console.ts";
import { sha256 } from "../../scripts/package-tree.ts";
import { buildConsole } from "../harness/console-process.ts";

const run = promisify(execFile);
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-console-packages-"));
  await buildConsole();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** electron-builder's own libraries, of the version that it uses. */
const fromBuilder = createRequire(createRequire(import.meta.url).resolve("electron-builder/package.json"));
const fromPacker = createRequire(fromBuilder.resolve("app-builder-lib/package.json"));
type Validate = (configuration: unknown, debugLogger: unknown) => Promise<void>;
type Archive = {
  listPackage: (file: string, options: object) => string[];
  extractFile: (file: string, name: string) => Buffer;
};
type Fuses = {
  getCurrentFuseWire: (file: string) => Promise<Record<number, number>>;
  FuseV1Options: Record<string, number>;
};

test("electron-builder takes its configuration", async () => {
  const { validateConfiguration }: { validateConfiguration: Validate } = fromBuilder(
    "app-builder-lib/out/util/config/config",
  );
  const { DebugLogger }: { DebugLogger: new (on: boolean) => unknown } = fromBuilder("builder-util");
  await validateConfiguration(consoleConfiguration(), new DebugLogger(false));
  await expect(
    validateConfiguration({ ...consoleConfiguration(), nonsense: true }, new DebugLogger(false)),
  ).rejects.toThrow("unknown property 'nonsense'");
});

const fuseWire = Buffer.concat([
  Buffer.from("dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX"),
  Buffer.from([1, 9]),
  Buffer.from("101100011"),
]);

/** A folder that looks to electron-builder like Electron: a program with a fuse wire (all as Electron ships them), nothing else. */
async function standInElectron(name: string, program: string, start: Uint8Array): Promise<string> {
  const electron = path.join(folder, name);
  await mkdir(path.join(electron, "resources"), { recursive: true });
  await mkdir(path.join(electron, "locales"));
  await writeFile(path.join(electron, "locales/en-US.pak"), "");
  await writeFile(path.join(electron, program), Buffer.concat([start, fuseWire, Buffer.alloc(64)]));
  await chmod(path.join(electron, program), 0o755);
  for (const file of ["LICENSE", "LICENSES.chromium.html", "chrome-sandbox", "chrome_crashpad_handler"])
    await writeFile(path.join(electron, file), "");
  return electron;
}

async function pack(wanted: Pick<ConsolePackage, "platform" | "targets" | "electron"> & Partial<ConsolePackage>) {
  const out = path.join(folder, `out-${wanted.platform}-${wanted.targets.join("-")}-${wanted.server ? "server" : ""}`);
  await packConsole({ version: "1.2.3", epoch: 1_780_000_000, out, ...wanted });
  return out;
}

/** What lies in the packed app, read back by the tools that made it. */
async function expectPacked(app: string, program: string): Promise<void> {
  const archive = path.join(app, "resources/app.asar");
  const asar: Archive = fromPacker("@electron/asar");
  const names = asar.listPackage(archive, {}).filter((name) => path.extname(name) !== "");
  expect(names).toEqual(expect.arrayContaining(["/dist/console/main/index.js", "/dist/console/preload/index.cjs"]));
  const allowed =
    /^\/(package\.json|dist\/console\/(main\/(index|chunks\/[\w-]+)\.js|preload\/index\.cjs|renderer\/(index\.html|assets\/[\w-]+\.(js|css|woff2))))$/;
  // No source, no map, no .env, no addon: those are the server's, which lies beside the archive.
  expect(names.filter((name) => !allowed.test(name))).toEqual([]);
  const manifest = z
    .looseObject({ main: z.string(), type: z.string(), version: z.string() })
    .parse(JSON.parse(asar.extractFile(archive, "package.json").toString("utf8")));
  expect(manifest).toMatchObject({ main: "dist/console/main/index.js", type: "module", version: "1.2.3" });
  expect(manifest).not.toHaveProperty("scripts");

  const { getCurrentFuseWire, FuseV1Options }: Fuses = fromPacker("@electron/fuses");
  const wire = await getCurrentFuseWire(path.join(app, program));
  const isOn = (name: string) => String.fromCharCode(wire[FuseV1Options[name] ?? -1] ?? 0) === "1";
  for (const name of ["EnableCookieEncryption", "EnableEmbeddedAsarIntegrityValidation", "OnlyLoadAppFromAsar"])
    expect(isOn(name), name).toBe(true);
  for (const name of [
    "RunAsNode",
    "EnableNodeOptionsEnvironmentVariable",
    "EnableNodeCliInspectArguments",
    "LoadBrowserProcessSpecificV8Snapshot",
    "GrantFileProtocolExtraPrivileges",
  ])
    expect(isOn(name), name).toBe(false);

  const bom = z
    .object({ components: z.array(z.object({ name: z.string() })) })
    .parse(JSON.parse(await readFile(path.join(app, "resources/sbom.cdx.json"), "utf8")));
  const parts = bom.components.map(({ name }) => name);
  expect(parts).toEqual(expect.arrayContaining(["electron", "react", "zod", "intl-messageformat"]));
  // The server's alone.
  expect(parts).not.toContain("sqlite3");
  const licences = await readFile(path.join(app, "resources/THIRD-PARTY-LICENCES.txt"), "utf8");
  expect(licences).toMatch(/^Electron \d+\./m);
  expect(licences).toMatch(/^react \d.*: MIT$/m);
}

const linuxElectron = (name: string) => standInElectron(name, "electron", Buffer.alloc(64));

test("packed for Linux it holds its bundles and nothing else, as folder, .deb, .rpm and .tar.gz", async () => {
  const electron = await linuxElectron("linux");
  const out = await pack({ platform: "linux", targets: ["dir", "deb", "rpm", "tar.gz"], electron });
  await expectPacked(path.join(out, "linux-unpacked"), "signet-console");

  const names = await readdir(out);
  const [deb = "", rpm = "", tar = ""] = [".deb", ".rpm", ".tar.gz"].map((end) => {
    const found = names.find((name) => name.endsWith(end));
    return found === undefined ? end : path.join(out, found);
  });
  const inDeb = (await run("dpkg-deb", ["--contents", deb])).stdout;
  expect(inDeb).toMatch(/^-rwxr-xr-x root\/root .* \.\/opt\/Signet Console\/signet-console$/m);
  expect(inDeb).toContain("./opt/Signet Console/resources/app.asar\n");
  expect(inDeb).toContain("./usr/share/applications/signet-console.desktop\n");
  expect(inDeb).not.toContain("resources/server");
  const control = (await run("dpkg-deb", ["--field", deb])).stdout;
  expect(control).toMatch(/^Package: signet-console$/m);
  expect(control).toMatch(/^Version: 1\.2\.3$/m);
  expect(control).toMatch(/^Depends: .*libnss3/m);
  const inRpm = (await run("rpm", ["-qpl", rpm])).stdout;
  expect(inRpm).toContain("/opt/Signet Console/resources/app.asar\n");
  expect((await run("rpm", ["-qp", "--scripts", rpm])).stdout).toContain("postinstall scriptlet");
  expect((await run("tar", ["-tzf", tar])).stdout).toMatch(/\/resources\/app\.asar$/m);
});

test("with the server along, the package carries it outside of the archive and installs it as its service", async () => {
  const server = path.join(folder, "signet-server");
  await mkdir(path.join(server, "usr/lib/signet/release/node_modules"), { recursive: true });
  await writeFile(path.join(server, "install.sh"), "#!/bin/sh\n", { mode: 0o755 });
  const addon = "usr/lib/signet/release/node_modules/addon.node";
  await writeFile(path.join(server, addon), "addon");
  const out = await pack({
    platform: "linux",
    targets: ["deb", "rpm"],
    electron: await linuxElectron("along"),
    server,
  });
  const along = path.join(out, "linux-unpacked/resources/server");
  expect(sha256(path.join(along, addon))).toBe(sha256(path.join(server, addon)));
  const names = await readdir(out);
  const file = (end: string) => path.join(out, names.find((name) => name.endsWith(end)) ?? end);
  const control = path.join(folder, "control-with-server");
  await run("dpkg-deb", ["--control", file(".deb"), control]);
  const installs = "'/opt/Signet Console/resources/server/install.sh'";
  expect(await readFile(path.join(control, "postinst"), "utf8")).toContain(`\n${installs}\n`);
  expect(await readFile(path.join(control, "prerm"), "utf8")).toContain(`${installs} remove`);
  expect(await readFile(path.join(control, "control"), "utf8")).toMatch(/^Conflicts: signet-server$/m);
  const scripts = (await run("rpm", ["-qp", "--scripts", file(".rpm")])).stdout;
  expect(scripts).toContain(installs);
  expect(scripts).toMatch(/preuninstall scriptlet[\s\S]*install\.sh' remove/);
  expect((await run("rpm", ["-qp", "--conflicts", file(".rpm")])).stdout).toContain("signet-server");
});

test("packed for Windows it is the same archive, with the same fuses", async () => {
  // A program as Windows has it: electron-builder writes into its resources.
  const script = path.join(folder, "electron.nsi");
  const program = path.join(folder, "electron.exe");
  const lines = [
    "Unicode true",
    "Target amd64-unicode",
    'Name "electron"',
    'OutFile "electron.exe"',
    'VIProductVersion "1.2.3.0"',
    'VIAddVersionKey "ProductName" "Electron"',
    'VIAddVersionKey "FileVersion" "1.2.3"',
    'VIAddVersionKey "FileDescription" "Electron"',
    'VIAddVersionKey "LegalCopyright" "-"',
    "Section",
    "SectionEnd",
  ];
  await writeFile(script, `${lines.join("\n")}\n`);
  await run("makensis", ["-V1", script], { cwd: folder });
  const electron = await standInElectron("windows", "electron.exe", await readFile(program));
  const out = await pack({
    platform: "win",
    targets: ["dir"],
    electron,
    // The tool that writes icon and version into the program is fetched, and runs on Windows or wine.
    changes: { win: { ...consoleConfiguration().win, signAndEditExecutable: false } },
  });
  await expectPacked(path.join(out, "win-unpacked"), "signet-console.exe");
});
