import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chown, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeInstaller } from "./windows-stand-ins.ts";

const run = promisify(execFile);
const wine = "/usr/lib/wine/wine64";
const wineserver = "/usr/lib/wine/wineserver64";
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-windows-"));
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

test("makensis compiles the installer of the Windows service without a warning, and calls who signs", async () => {
  const log = path.join(folder, "signed");
  const more = [`-DSIGN=echo installer %1 >>${log}`, `-DSIGNUNINSTALLER=echo uninstaller >>${log}`];
  const installer = await makeInstaller(folder, "1.0.0", { more });
  expect((await readFile(installer)).subarray(0, 2).toString()).toBe("MZ");
  // The uninstaller first: it lies in what is signed then.
  expect(await readFile(log, "utf8")).toBe(`uninstaller\ninstaller ${installer}\n`);
});

// `npm run test:long` installs wine, which is large.
if (process.env.SIGNET_TEST_FULL === "1")
  describe("run silently by wine", { timeout: 600_000 }, () => {
    let first: string;
    let next: string;
    let broken: string;
    let drive: string;
    let program: string;
    let data: string;
    let env: Record<string, string | undefined>;
    let seen: number;

    beforeAll(async () => {
      first = await makeInstaller(folder, "1.0.0");
      next = await makeInstaller(folder, "1.1.0");
      broken = await makeInstaller(folder, "1.2.0", { fails: true });
      env = { PATH: process.env.PATH, HOME: folder, WINEPREFIX: path.join(folder, "pristine"), WINEDEBUG: "-all" };
      await run(wine, ["wineboot", "-i"], { cwd: folder, env });
      await settle();
    });
    /** Waits until everything of wine's ended, and its registry is in its files. */
    const settle = async () => await run(wineserver, ["-w"], { env });
    beforeEach(async () => {
      // Two names would be two servers; the one is as good as new each time.
      const prefix = path.join(folder, "prefix");
      await rm(prefix, { recursive: true, force: true, maxRetries: 5 });
      await run("cp", ["-a", path.join(folder, "pristine"), prefix]);
      env.WINEPREFIX = prefix;
      seen = 0;
      drive = path.join(prefix, "drive_c");
      [program, data] = [path.join(drive, "Program Files/Signet"), path.join(drive, "ProgramData/Signet")];
    });

    /** @returns the exit code */
    const execute = async (file: string, ...args: string[]): Promise<number> => {
      try {
        await run(wine, [file, ...args], { cwd: folder, env });
        return 0;
      } catch (error) {
        if (error instanceof Error && "code" in error && typeof error.code === "number") return error.code;
        throw error;
      } finally {
        await settle();
      }
    };
    const install = async (installer: string) => await execute(installer, "/S");
    /** The uninstaller goes on in a copy of itself, so its exit code is not to be had. */
    const remove = async (...args: string[]) => {
      await execute(path.join(program, "uninstall.exe"), "/S", ...args);
    };
    /** How the service was called since this was last asked. */
    const calls = async () => {
      const all = (await readFile(path.join(drive, "ProgramData/service-calls.txt"), "utf8")).trim().split("\n");
      const more = all.slice(seen);
      seen = all.length;
      return more;
    };
    const version = async () => await readFile(path.join(program, "release/version"), "utf8");
    const database = async () => await readFile(path.join(data, "data/signet.db"), "utf8");
    const isActive = () => existsSync(path.join(drive, "ProgramData/active"));
    const parts = ["release", "signet-service.exe", "signet-service.xml", "signet.cmd", "uninstall.exe"];
    const isTidy = async () => expect((await readdir(program)).sort()).toEqual(parts);
    /** As an installer of before it noted whose the folder is. */
    const forgetFolders = async () =>
      await execute("reg", "delete", "HKLM\\Software\\Signet\\Folders", "/f", "/reg:64");

    test("it installs, registers and starts the service; removed it leaves the data, purged nothing", async () => {
      expect(await install(first)).toBe(0);
      await isTidy();
      expect((await readdir(data)).sort()).toEqual(["data", "logs"]);
      expect(await calls()).toEqual(["install", "start"]);
      expect(await readFile(path.join(program, "signet.cmd"), "utf8")).toContain("server\\main.ts");
      await writeFile(path.join(data, "data/signet.db"), "kept");
      await remove();
      expect(await calls()).toEqual(["stop", "uninstall"]);
      expect(existsSync(path.join(program, "release"))).toBe(false);
      expect(await database()).toBe("kept");
      expect(await install(first)).toBe(0);
      expect(await database()).toBe("kept");
      await remove("/PURGE");
      expect(existsSync(data)).toBe(false);
    });

    test("a newer one stops the service, replaces the program, keeps data and settings, and starts it", async () => {
      await install(first);
      await writeFile(path.join(data, "data/signet.db"), "kept");
      await writeFile(path.join(data, "data/signet.json"), "{}");
      await calls();
      expect(await install(next)).toBe(0);
      expect(await calls()).toEqual(["stop", "refresh", "start"]);
      expect(await version()).toBe("1.1.0");
      expect((await readdir(path.join(data, "data"))).sort()).toEqual(["signet.db", "signet.json"]);
      expect(await database()).toBe("kept");
      await isTidy();
      expect(await install(first)).toBe(1);
      expect([await version(), isActive()]).toEqual(["1.1.0", true]);
      // What an administrator stopped stays stopped.
      await rm(path.join(drive, "ProgramData/active"));
      expect(await install(next)).toBe(0);
      expect(isActive()).toBe(false);
      await isTidy();
    });

    test("one that does not start leaves again: program, database and service of before are back", async () => {
      await install(next);
      await writeFile(path.join(data, "data/signet.db"), "before");
      await calls();
      expect(await install(broken)).toBe(1);
      expect(await calls()).toEqual(["stop", "refresh", "start", "stop", "refresh", "start"]);
      expect(await version()).toBe("1.1.0");
      expect(isActive()).toBe(true);
      expect(await readdir(path.join(data, "data"))).toEqual(["signet.db"]);
      expect(await database()).toBe("before");
      await isTidy();
    });

    test("a service that does not stop is left as it is", async () => {
      await install(first);
      await writeFile(path.join(drive, "ProgramData/stuck"), "");
      expect(await install(next)).toBe(1);
      expect(await version()).toBe("1.0.0");
      expect(isActive()).toBe(true);
      await isTidy();
    });

    test("an installer that was cut off is followed by one that ends its work", async () => {
      await install(first);
      await writeFile(path.join(data, "data/signet.db"), "kept");
      await rm(path.join(drive, "ProgramData/active"));
      // Between two renames, before anything of the new could run: the old comes back, and is upgraded.
      const before = path.join(program, "before");
      await mkdir(before);
      for (const name of ["release", "signet-service.exe"])
        await rename(path.join(program, name), path.join(before, name));
      expect(await install(broken)).toBe(1);
      expect([await version(), await database(), isActive()]).toEqual(["1.0.0", "kept", true]);
      await isTidy();
      // While it put back: the database of before is whole, and goes to its place.
      await mkdir(before);
      await mkdir(path.join(program, "database"));
      for (const name of ["started", "back"]) await writeFile(path.join(before, name), "");
      await writeFile(path.join(program, "database/signet.db"), "before");
      await writeFile(path.join(data, "data/signet.db-wal"), "log of another");
      expect(await install(next)).toBe(0);
      expect([await version(), await database(), isActive()]).toEqual(["1.1.0", "before", true]);
      expect(await readdir(path.join(data, "data"))).toEqual(["signet.db"]);
      // After the new one could be used: people may have worked with it, and no database is put back.
      await mkdir(before);
      await mkdir(path.join(program, "database"));
      await writeFile(path.join(before, "started"), "");
      await writeFile(path.join(program, "database/signet.db"), "old");
      expect(await install(next)).toBe(0);
      expect(await database()).toBe("before");
      await isTidy();
    });

    test("the first installers noted no folder: theirs is used when it is an administrator's, and no stranger's", async () => {
      await install(first);
      await writeFile(path.join(data, "data/signet.db"), "kept");
      await forgetFolders();
      await chown(data, 12_345, 12_345);
      expect(await install(next)).toBe(1);
      expect([await version(), isActive()]).toEqual(["1.0.0", true]);
      await chown(data, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
      expect(await install(next)).toBe(0);
      expect([await version(), await database()]).toEqual(["1.1.0", "kept"]);
    });

    test("an installation in another folder is upgraded there", async () => {
      await install(first);
      const elsewhere = path.join(drive, "Elsewhere");
      await rename(program, elsewhere);
      const key = "HKLM\\Software\\Microsoft\\Windows\\CurrentVersion\\Uninstall\\SignetServer";
      const value = ["/v", "UninstallString", "/d", '"C:\\Elsewhere\\uninstall.exe"', "/f", "/reg:64"];
      expect(await execute("reg", "add", key, ...value)).toBe(0);
      expect(await install(next)).toBe(0);
      expect(await readFile(path.join(elsewhere, "release/version"), "utf8")).toBe("1.1.0");
      expect(existsSync(program)).toBe(false);
    });

    test("a folder that somebody else laid down is refused, and so is a link in the path of the data", async () => {
      // Every user may make folders there.
      await mkdir(path.join(data, "data"), { recursive: true });
      await writeFile(path.join(data, "data/signet.json"), "{}");
      expect(await install(first)).toBe(1);
      expect(existsSync(path.join(program, "signet-service.exe"))).toBe(false);
      await rm(data, { recursive: true });
      // wine shows a link to a folder as it shows a junction: as a reparse point.
      const other = path.join(drive, "other");
      await mkdir(other);
      await symlink(other, data);
      expect(await install(first)).toBe(1);
      await rm(data);
      expect(await install(first)).toBe(0);
      for (const name of ["data", "logs"]) {
        await rename(path.join(data, name), path.join(data, "aside"));
        await symlink(other, path.join(data, name));
        expect(await install(next), name).toBe(1);
        await rm(path.join(data, name));
        await rename(path.join(data, "aside"), path.join(data, name));
      }
      expect([await version(), isActive(), await readdir(other)]).toEqual(["1.0.0", true, []]);
    });

    test("a purge goes through no link that the service may have laid", async () => {
      await install(first);
      const other = path.join(drive, "other");
      await mkdir(other);
      await writeFile(path.join(other, "file"), "not Signet's");
      await mkdir(path.join(data, "data/blobs/ab"), { recursive: true });
      await writeFile(path.join(data, "data/blobs/ab/document"), "");
      await symlink(other, path.join(data, "data/blobs/link"));
      await remove("/PURGE");
      expect(await readdir(other)).toEqual(["file"]);
      // wine does not remove a link to a folder that is not empty; all the rest is gone.
      expect([await readdir(data), await readdir(path.join(data, "data/blobs"))]).toEqual([["data"], ["link"]]);
    });
  });
