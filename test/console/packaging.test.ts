import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { build, type Configuration, Platform } from "electron-builder";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { buildConsole } from "./main-process.ts";

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, "../..");
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-packaging-"));
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

const configuration = async () =>
  parse(await readFile(path.join(root, "electron-builder.yml"), "utf8")) as Configuration;

test("electron-builder takes its configuration", async () => {
  const { validateConfiguration }: { validateConfiguration: Validate } = fromBuilder(
    "app-builder-lib/out/util/config/config",
  );
  const { DebugLogger }: { DebugLogger: new (on: boolean) => unknown } = fromBuilder("builder-util");
  await validateConfiguration(await configuration(), new DebugLogger(false));
  await expect(
    validateConfiguration({ ...(await configuration()), nonsense: true }, new DebugLogger(false)),
  ).rejects.toThrow("unknown property 'nonsense'");
});

/** A folder that looks to electron-builder like Electron: a program with a fuse wire (all as Electron ships them), nothing else. */
async function standInElectron(): Promise<string> {
  const electron = path.join(folder, "electron");
  await mkdir(path.join(electron, "resources"), { recursive: true });
  await mkdir(path.join(electron, "locales"));
  await writeFile(path.join(electron, "locales/en-US.pak"), "");
  const wire = Buffer.concat([
    Buffer.from("dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX"),
    Buffer.from([1, 9]),
    Buffer.from("101100011"),
  ]);
  await writeFile(path.join(electron, "electron"), Buffer.concat([Buffer.alloc(64), wire, Buffer.alloc(64)]));
  await chmod(path.join(electron, "electron"), 0o755);
  for (const name of ["LICENSE", "LICENSES.chromium.html", "chrome-sandbox", "chrome_crashpad_handler"])
    await writeFile(path.join(electron, name), "");
  return electron;
}

test("the packed console holds its bundles and nothing else, and its fuses are set", async () => {
  await buildConsole();
  const config = await configuration();
  const output = path.join(folder, "out");
  await build({
    projectDir: root,
    targets: Platform.LINUX.createTarget("dir"),
    publish: "never",
    config: { ...config, electronDist: await standInElectron(), directories: { ...config.directories, output } },
  });
  const app = path.join(output, "linux-unpacked");
  const archive = path.join(app, "resources/app.asar");
  const asar: Archive = fromPacker("@electron/asar");
  const names = asar.listPackage(archive, {}).filter((name) => path.extname(name) !== "");
  expect(names).toEqual(expect.arrayContaining(["/dist/console/main/index.js", "/dist/console/preload/index.cjs"]));
  const allowed =
    /^\/(package\.json|dist\/console\/(main\/index\.js|preload\/index\.cjs|renderer\/(index\.html|assets\/[\w-]+\.(js|css|woff2))))$/;
  expect(names.filter((name) => !allowed.test(name))).toEqual([]);
  const manifest = z
    .looseObject({ main: z.string(), type: z.string() })
    .parse(JSON.parse(asar.extractFile(archive, "package.json").toString("utf8")));
  expect(manifest).toMatchObject({ main: "dist/console/main/index.js", type: "module" });
  expect(manifest).not.toHaveProperty("scripts");

  const { getCurrentFuseWire, FuseV1Options }: Fuses = fromPacker("@electron/fuses");
  const wire = await getCurrentFuseWire(path.join(app, "signet-console"));
  const isOn = (name: string) => String.fromCharCode(wire[FuseV1Options[name] ?? -1] ?? 0) === "1";
  for (const name of ["EnableCookieEncryption", "EnableEmbeddedAsarIntegrityValidation", "OnlyLoadAppFromAsar"])
    expect(isOn(name), name).toBe(true);
  for (const name of [
    "RunAsNode",
    "EnableNodeOptionsEnvironmentVariable",
    "EnableNodeCliInspectArguments",
    "GrantFileProtocolExtraPrivileges",
  ])
    expect(isOn(name), name).toBe(false);
});

const analyze = "/usr/bin/systemd-analyze";
const targets = "/usr/lib/systemd/system";

test.skipIf(!existsSync(analyze))(
  "systemd understands every line of the service's unit, and finds it well confined",
  async () => {
    const unit = path.join(root, "installer/linux/signet.service");
    const image = path.join(folder, "image");
    const units = path.join(image, "usr/lib/systemd/system");
    await mkdir(units, { recursive: true });
    await mkdir(path.join(image, "opt/signet/bin"), { recursive: true });
    await copyFile(process.execPath, path.join(image, "opt/signet/bin/node"));
    for (const name of ["multi-user", "network-online", "network", "basic", "sysinit", "shutdown", "local-fs"])
      await copyFile(path.join(targets, `${name}.target`), path.join(units, `${name}.target`));
    await copyFile(unit, path.join(units, "signet.service"));
    // It exits with 0 after ignoring a key that it does not know, so what it says counts.
    const { stdout, stderr } = await run(analyze, ["verify", "--man=no", `--root=${image}`, "signet.service"]);
    expect(`${stdout}${stderr}`).toBe("");
    await run(analyze, ["security", "--offline=true", "--threshold=20", unit]);
  },
);
