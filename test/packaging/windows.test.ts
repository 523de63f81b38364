import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../../scripts/package-modules.ts";

const run = promisify(execFile);
const wine = "/usr/lib/wine/wine64";
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-windows-"));
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

/** In the place of WinSW: a program that notes how it was called. The real one is fetched by whoever builds for Windows. */
const serviceStandIn = `Unicode true
Target amd64-unicode
Name "service"
OutFile "payload/signet-service.exe"
SilentInstall silent
RequestExecutionLevel user
!include "FileFunc.nsh"
Section
  \${GetParameters} $0
  ReadEnvStr $2 ProgramData
  FileOpen $1 "$2\\service-calls.txt" a
  FileSeek $1 0 END
  FileWrite $1 "$0$\\n"
  FileClose $1
SectionEnd
`;

/** Packs a release of two files. @returns the installer */
async function makeInstaller(...more: string[]): Promise<string> {
  await mkdir(path.join(folder, "payload/release/bin"), { recursive: true });
  await writeFile(path.join(folder, "payload/release/bin/node.exe"), "node");
  await writeFile(path.join(folder, "service.nsi"), serviceStandIn);
  await run("makensis", ["-V1", "service.nsi"], { cwd: folder });
  const output = path.join(folder, "signet-server-1.2.3.exe");
  const script = path.join(root, "installer/windows/signet-server.nsi");
  const payload = path.join(folder, "payload");
  await run(
    "makensis",
    ["-V2", "-WX", "-DVERSION=1.2.3", `-DPAYLOAD=${payload}`, `-DOUTPUT=${output}`, ...more, script],
    {
      cwd: path.dirname(script),
    },
  );
  return output;
}

test("makensis compiles the installer of the Windows service without a warning, and calls who signs", async () => {
  const log = path.join(folder, "signed");
  const installer = await makeInstaller(
    `-DSIGN=echo installer %1 >>${log}`,
    `-DSIGNUNINSTALLER=echo uninstaller >>${log}`,
  );
  expect((await readFile(installer)).subarray(0, 2).toString()).toBe("MZ");
  // The uninstaller first: it lies in what is signed then.
  expect(await readFile(log, "utf8")).toBe(`uninstaller\ninstaller ${installer}\n`);
});

// `npm run test:long` installs wine, which is large.
if (process.env.SIGNET_TEST_FULL === "1")
  test("run silently by wine it installs, registers and starts the service; removed it leaves the data, purged nothing", async () => {
    const env = { PATH: process.env.PATH, HOME: folder, WINEPREFIX: path.join(folder, "prefix"), WINEDEBUG: "-all" };
    const execute = async (program: string, ...args: string[]) =>
      await run(wine, [program, ...args], { cwd: folder, env });
    const drive = path.join(folder, "prefix/drive_c");
    const [program, data] = [path.join(drive, "Program Files/Signet"), path.join(drive, "ProgramData/Signet")];
    const calls = async () =>
      (await readFile(path.join(drive, "ProgramData/service-calls.txt"), "utf8")).trim().split("\n");
    const installer = await makeInstaller();

    // Every user may make folders there: what one laid down before is not used, and nothing is installed beside it.
    await run(wine, ["wineboot", "-i"], { cwd: folder, env });
    await mkdir(path.join(data, "data"), { recursive: true });
    await writeFile(path.join(data, "data/signet.json"), "{}");
    await expect(execute(installer, "/S")).rejects.toMatchObject({ code: 1 });
    expect(existsSync(path.join(program, "signet-service.exe"))).toBe(false);
    await rm(path.join(data, "data"), { recursive: true });

    await execute(installer, "/S");
    expect((await readdir(program)).sort()).toEqual([
      "release",
      "signet-service.exe",
      "signet-service.xml",
      "signet.cmd",
      "uninstall.exe",
    ]);
    expect((await readdir(data)).sort()).toEqual(["data", "logs"]);
    expect(await calls()).toEqual(["install", "start"]);
    expect(await readFile(path.join(program, "signet.cmd"), "utf8")).toContain("server\\main.ts");

    // Once more is an update: what runs is stopped first.
    await writeFile(path.join(data, "data/signet.db"), "kept");
    await execute(installer, "/S");
    expect((await calls()).slice(2)).toEqual(["stopwait", "install", "start"]);

    // Without _? the uninstaller goes on in a copy of itself, which nobody waits for.
    const remove = async (...args: string[]) =>
      await execute(path.join(program, "uninstall.exe"), "/S", ...args, "_?=C:\\Program Files\\Signet");
    await remove();
    expect((await calls()).slice(5)).toEqual(["stopwait", "uninstall"]);
    expect(existsSync(path.join(program, "release"))).toBe(false);
    expect(await readFile(path.join(data, "data/signet.db"), "utf8")).toBe("kept");

    await execute(installer, "/S");
    await remove("/PURGE");
    expect(existsSync(data)).toBe(false);
  });
