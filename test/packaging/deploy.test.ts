import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../../scripts/package-modules.ts";

/** What packages do on a machine, in a folder that stands for it, with stand-ins for the programs of root's. */

const linux = path.join(root, "installer/linux");

async function openMachine() {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-deploy-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const at = (...names: string[]) => path.join(folder, ...names);
  for (const name of ["bin", "opt/signet", "var/lib/signet", "etc/signet", "run/systemd/system", "run/signet"])
    await mkdir(at(name), { recursive: true });
  await mkdir(at("usr/lib/signet/release/bin"), { recursive: true });
  await mkdir(at("usr/bin"));
  const program = async (name: string, text: string) => {
    await writeFile(at(name), `#!/bin/sh\n${text}\n`);
    await chmod(at(name), 0o755);
  };
  for (const name of ["systemd-sysusers", "systemd-tmpfiles", "chgrp"]) await program(`bin/${name}`, "exit 0");
  await program("usr/lib/signet/release/bin/node", "exit 0");
  await writeFile(at("etc/signet/signet.env"), "");
  for (const name of ["deploy", "signet"]) {
    const text = await readFile(path.join(linux, name), "utf8");
    const here = text.replaceAll(/\/(opt|var\/lib|etc|usr\/lib|usr\/bin|run)\/(signet|systemd)/g, (found) => at(found));
    await program(name, here.slice(here.indexOf("\n") + 1));
  }
  const run = (name: string, ...args: string[]) =>
    spawnSync(at(name), args, {
      encoding: "utf8",
      env: { PATH: `${at("bin")}:${process.env.PATH}`, LC_ALL: "C" },
    });
  return { at, program, run };
}

test("a package that cannot start leaves release and database of before, though the disk is full by then", async () => {
  const { at, program, run } = await openMachine();
  await program("bin/systemctl", "exit 0");
  expect(run("deploy", "configure", "1.0.0")).toMatchObject({ status: 0, stderr: "" });
  await writeFile(at("var/lib/signet/signet.db"), "before");
  await writeFile(at("var/lib/signet/signet.db-wal"), "log of before");
  // The newer one migrates, leaves a log, fills the disk and does not start.
  await program(
    "bin/systemctl",
    `data=${at("var/lib/signet")}
if [ "$1" = start ] && [ ! -e ${at("failed")} ]; then
  echo migrated >$data/signet.db; echo log >$data/signet.db-wal; echo >$data/signet.db-shm; : >${at("failed")}; exit 1
fi`,
  );
  await program("bin/cp", `if [ -e ${at("failed")} ]; then echo "cp: no space" >&2; exit 1; fi; exec /bin/cp "$@"`);
  const newer = run("deploy", "configure", "1.1.0");
  expect(newer.status).toBe(1);
  expect(newer.stderr).toContain("version 1.1.0 did not start");
  expect(await readlink(at("opt/signet/current"))).toBe("releases/1.0.0");
  const data = at("var/lib/signet");
  expect(await readdir(data)).toEqual(["signet.db", "signet.db-wal"]);
  expect(await readFile(path.join(data, "signet.db"), "utf8")).toBe("before");
  expect(await readFile(path.join(data, "signet.db-wal"), "utf8")).toBe("log of before");
});

test("languages that were added on the machine go along with an update, those of the release are its own", async () => {
  const { at, program, run } = await openMachine();
  await program("bin/systemctl", "exit 0");
  const packaged = (name: string) => at("usr/lib/signet/release/locales", name);
  await mkdir(packaged("en"), { recursive: true });
  await writeFile(packaged("en/mail.json"), '{ "a": "one" }');
  expect(run("deploy", "configure", "1.0.0")).toMatchObject({ status: 0, stderr: "" });
  const served = (name: string) => at("opt/signet/current/locales", name);
  await mkdir(served("fr"));
  await writeFile(served("fr/mail.json"), '{ "a": "un" }');
  // Again, and then the next one.
  for (const version of ["1.0.0", "1.1.0"]) {
    await rm(packaged("en/mail.json"));
    await writeFile(packaged("en/mail.json"), `{ "a": "${version}" }`);
    expect(run("deploy", "configure", version)).toMatchObject({ status: 0, stderr: "" });
    expect(await readFile(served("en/mail.json"), "utf8")).toContain(version);
    expect(await readFile(served("fr/mail.json"), "utf8")).toContain("un");
    expect(await readdir(served(""))).toEqual(["en", "fr"]);
  }
  // The next one brings the language itself.
  await mkdir(packaged("fr"));
  await writeFile(packaged("fr/mail.json"), '{ "a": "nouveau" }');
  expect(run("deploy", "configure", "1.2.0")).toMatchObject({ status: 0, stderr: "" });
  expect(await readFile(served("fr/mail.json"), "utf8")).toContain("nouveau");
  expect(existsSync(packaged("de"))).toBe(false);
});

test("a package of whose database no whole copy can be made changes nothing", async () => {
  const { at, program, run } = await openMachine();
  await program("bin/systemctl", "exit 0");
  expect(run("deploy", "configure", "1.0.0").status).toBe(0);
  const data = at("var/lib/signet");
  await writeFile(path.join(data, "signet.db"), "database");
  await writeFile(path.join(data, "signet.db-wal"), "log");
  for (const part of ["signet.db", "signet.db-wal"]) {
    // The next release would not start, and what was kept would come back.
    await program(
      "bin/systemctl",
      `if [ "$1" = start ] && [ "$(readlink ${at("opt/signet/current")})" = releases/1.1.0 ]; then exit 1; fi`,
    );
    await program(
      "bin/cp",
      `case "$*" in *before-upgrade/${part}) echo half >${data}/before-upgrade/${part}; echo "cp: no space" >&2; exit 1 ;; esac
exec /bin/cp "$@"`,
    );
    const newer = run("deploy", "configure", "1.1.0");
    expect(newer).toMatchObject({ status: 1, stderr: expect.stringContaining("version 1.0.0 goes on") });
    expect(await readlink(at("opt/signet/current"))).toBe("releases/1.0.0");
    expect(existsSync(at("opt/signet/.upgrade"))).toBe(false);
    expect(await readdir(data)).toEqual(["signet.db", "signet.db-wal"]);
    expect(await readFile(path.join(data, "signet.db"), "utf8")).toBe("database");
    expect(await readFile(path.join(data, "signet.db-wal"), "utf8")).toBe("log");
  }
});

test("a way back that could not put the database back does not count as gone", async () => {
  const { at, program, run } = await openMachine();
  await program("bin/systemctl", "exit 0");
  expect(run("deploy", "configure", "1.0.0").status).toBe(0);
  const file = at("var/lib/signet/signet.db");
  await writeFile(file, "before");
  await program(
    "bin/systemctl",
    `if [ "$1" = start ] && [ "$(readlink ${at("opt/signet/current")})" = releases/1.1.0 ]; then
  echo migrated >${file}; exit 1
fi`,
  );
  await program("bin/mv", `case "$*" in *${file}) echo "mv: read-only" >&2; exit 1 ;; esac; exec /bin/mv "$@"`);
  for (const again of [false, true]) {
    expect(run("deploy", "configure", "1.1.0").status, String(again)).toBe(1);
    expect(await readFile(at("opt/signet/.upgrade"), "utf8"), String(again)).toBe("back 1.0.0 1.1.0\n");
  }
  await rm(at("bin/mv"));
  expect(run("deploy", "configure", "1.1.0").status).toBe(1);
  expect(await readFile(file, "utf8")).toBe("before");
  expect(await readlink(at("opt/signet/current"))).toBe("releases/1.0.0");
  expect(existsSync(at("opt/signet/.upgrade"))).toBe(false);
});

test("whatever ends a way back, also with the machine, it is gone to its end, and no release starts on half of the data", async () => {
  let turns = 0;
  for (let ended = false; !ended; ) {
    turns += 1;
    const { at, program, run } = await openMachine();
    await program("bin/systemctl", "exit 0");
    expect(run("deploy", "configure", "1.0.0").status).toBe(0);
    const data = at("var/lib/signet");
    await writeFile(path.join(data, "signet.db"), "before");
    await writeFile(path.join(data, "signet.db-wal"), "log of before");
    // The newer one migrates and does not start. SQLite writes into the file that is there.
    await program(
      "bin/systemctl",
      `db=${data}/signet.db wal=${data}/signet.db-wal
if [ "$1" != start ]; then exit 0; fi
case "$(readlink ${at("opt/signet/current")})" in
  *1.1.0) echo migrated >$db; /bin/rm -f $wal; : >${at("failed")}; exit 1 ;;
  *1.0.0) [ "$(cat $db) $(cat $wal)" = "before log of before" ] || { echo "$(cat $db) $(cat $wal)" >>${at("half")}; exit 1; }
    PATH=/usr/bin:/bin ${at("deploy")} started ;;
  *) exit 1 ;;
esac`,
    );
    for (const name of ["mv", "rm", "cp", "ln", "sync"])
      await program(
        `bin/${name}`,
        `/bin/${name} "$@"; status=$?
if [ -e ${at("failed")} ]; then
  left=$(cat ${at("turns")}); echo $((left - 1)) >${at("turns")}
  if [ "$left" = 1 ]; then kill -KILL $PPID; fi
fi
exit $status`,
      );
    await writeFile(at("turns"), `${turns}\n`);
    ended = run("deploy", "configure", "1.1.0").signal === null;
    await writeFile(at("turns"), "0\n");
    if (!ended) spawnSync(at("bin/systemctl"), ["start"]);
    // One that was not begun to be gone is begun with the upgrade anew.
    for (let again = 0; again < 2; again += 1) expect(run("deploy", "configure", "1.1.0").status).toBe(1);
    expect(await readlink(at("opt/signet/current")), `cut off after ${turns}`).toBe("releases/1.0.0");
    expect(await readdir(data)).toEqual(["signet.db", "signet.db-wal"]);
    expect(await readFile(path.join(data, "signet.db"), "utf8")).toBe("before");
    expect(await readFile(path.join(data, "signet.db-wal"), "utf8")).toBe("log of before");
    expect(existsSync(at("half")) ? await readFile(at("half"), "utf8") : "").toBe("");
    expect(existsSync(at("opt/signet/.upgrade"))).toBe(false);
  }
  expect(turns).toBeGreaterThan(8);
}, 300_000);

test("a package that cannot start because the data's volume is away touches nothing of it once it is back", async () => {
  const { at, program, run } = await openMachine();
  await program("bin/systemctl", "exit 0");
  expect(run("deploy", "configure", "1.0.0")).toMatchObject({ status: 0, stderr: "" });
  const data = at("var/lib/signet");
  await writeFile(path.join(data, "signet.db"), "database");
  await writeFile(path.join(data, "signet.db-wal"), "log");
  await rename(data, at("volume"));
  // It failed, as it does with every release until the volume is there.
  await program(
    "bin/systemctl",
    `case "$*" in *is-active*) exit 1 ;; show*) echo failed ;; start*) [ -d ${data} ] ;; esac`,
  );
  expect(run("deploy", "configure", "1.1.0").status).toBe(1);
  expect(await readlink(at("opt/signet/current"))).toBe("releases/1.0.0");
  expect(existsSync(at("opt/signet/.upgrade"))).toBe(false);
  await rename(at("volume"), data);
  expect(run("deploy", "configure", "1.1.0").status).toBe(0);
  expect(await readlink(at("opt/signet/current"))).toBe("releases/1.1.0");
  expect(await readFile(path.join(data, "signet.db-wal"), "utf8")).toBe("log");
});

test("a package whose installation was cut off while it removed what it had replaced is installed again", async () => {
  const { at, program, run } = await openMachine();
  await program("bin/systemctl", "exit 0");
  expect(run("deploy", "configure", "1.0.0").status).toBe(0);
  await mkdir(at("opt/signet/releases/.old-1.0.0/server"), { recursive: true });
  await writeFile(at("opt/signet/releases/.old-1.0.0/server/main.ts"), "");
  expect(run("deploy", "configure", "1.0.0")).toMatchObject({ status: 0, stderr: "" });
  expect(await readdir(at("opt/signet/releases"))).toEqual(["1.0.0"]);
  expect(existsSync(at("opt/signet/current/bin/node"))).toBe(true);
});

test("while the same version is installed again there is always one to start, whatever cuts it off", async () => {
  const { at, program, run } = await openMachine();
  await program("bin/systemctl", "exit 0");
  expect(run("deploy", "configure", "1.0.0").status).toBe(0);
  await writeFile(at("usr/lib/signet/release/again"), "");
  // Each looks at the place before and after its work, and the one whose turn it is ends whoever called it.
  for (const name of ["mv", "rm", "cp", "ln"])
    await program(
      `bin/${name}`,
      `look() { [ -x ${at("opt/signet/current/bin/node")} ] || echo "${name} $*" >>${at("gone")}; }
look "before $@"; /bin/${name} "$@"; status=$?; look "after $@"
left=$(cat ${at("turns")}); echo $((left - 1)) >${at("turns")}
if [ "$left" = 1 ]; then kill -KILL $PPID; fi
exit $status`,
    );
  let turns = 0;
  for (let ended = false; !ended; ) {
    turns += 1;
    await writeFile(at("turns"), `${turns}\n`);
    ended = run("deploy", "configure", "1.0.0").signal === null;
    await writeFile(at("turns"), "0\n");
    expect(run("deploy", "configure", "1.0.0"), `cut off after ${turns}`).toMatchObject({ status: 0, stderr: "" });
    expect(await readlink(at("opt/signet/current"))).toBe("releases/1.0.0");
    expect(await readdir(at("opt/signet/releases"))).toEqual(["1.0.0"]);
    expect(existsSync(at("opt/signet/current/again"))).toBe(true);
  }
  expect(existsSync(at("gone")) ? await readFile(at("gone"), "utf8") : "").toBe("");
  expect(turns).toBeGreaterThan(8);
});

test("whoever took over the service cannot debug what root runs as the service's user", async () => {
  const { at, program, run } = await openMachine();
  await mkdir(at("opt/signet/current/bin"), { recursive: true });
  await program("opt/signet/current/bin/node", 'echo "node $*"');
  await program("bin/id", "echo 0");
  await program("bin/setpriv", 'echo "$*"; exit 0');
  for (const command of [["support-bundle"], ["keys", "list"], ["restore"], ["doctor"], ["--json", "backup", "key"]]) {
    const { stdout } = run("signet", ...command);
    expect(stdout, command.join(" ")).toMatch(/--reuid=signet .* -- \S+\/node --disable-sigusr1 --env-file-if-exists=/);
  }
  // As root, to which the service can send nothing.
  expect(run("signet", "update", "status").stdout).toMatch(/^node --env-file/);
  // The Node that releases carry knows the flag.
  const said = spawnSync(process.execPath, ["--disable-sigusr1", "-e", "0"], { encoding: "utf8" });
  expect(said).toMatchObject({ status: 0, stderr: "" });
});

test("a data folder that the settings name is the command line's and the package's, too", async () => {
  const { at, program, run } = await openMachine();
  const moved = at("srv data");
  await mkdir(moved);
  await program("bin/systemctl", "exit 0");
  expect(run("deploy", "configure", "1.0.0")).toMatchObject({ status: 0 });
  await program("opt/signet/current/bin/node", 'echo "$SIGNET_DATA_DIR|$SIGNET_ADMIN_SOCKET"');
  const shown = () => run("signet", "help").stdout.trim();
  expect(shown()).toBe(`${at("var/lib/signet")}|${at("run/signet/admin.sock")}`);
  await writeFile(
    at("etc/signet/signet.env"),
    `#SIGNET_DATA_DIR=/nowhere\nSIGNET_DATA_DIR=/old\nSIGNET_DATA_DIR="${moved}"\n`,
  );
  expect(shown()).toBe(`${moved}|${at("run/signet/admin.sock")}`);
  await program("opt/signet/current/bin/node", "exit 0");
  expect(run("deploy", "remove").stdout).toContain(`Its data stays in ${moved}`);
});

test("it says how to begin where nobody began, and not again where an owner's data wait", async () => {
  const { at, program, run } = await openMachine();
  await program("bin/systemctl", "exit 0");
  expect(run("deploy", "configure", "1.0.0").stdout).toContain("Begin with: signet setup\n");
  expect(run("deploy", "configure", "1.1.0").stdout).not.toContain("Begin with");
  const again = async (state: string) => {
    expect(run("deploy", "remove").status).toBe(0);
    await program(
      "usr/bin/signet",
      `echo '{"complete":false,"steps":[{"step":"owner","state":"${state}","code":"x"}]}'; exit 1`,
    );
    return run("deploy", "configure", "1.1.0").stdout;
  };
  await writeFile(at("var/lib/signet/signet.db"), "");
  expect(await again("done")).toMatch(/^Signet 1\.1\.0 is installed\. Settings: \S+\n$/);
  expect(await again("open")).toContain("Begin with: signet setup\n");
});

test("purge deletes the data where the settings put it, and nothing that is not Signet's", async () => {
  const { at, program, run } = await openMachine();
  await program("bin/systemctl", "exit 0");
  const text = await readFile(path.join(linux, "debian/postrm"), "utf8");
  const here = text.replaceAll(/\/(opt|var\/lib|etc|run)\/(signet|systemd)/g, (found) => at(found));
  await program("postrm", here.slice(here.indexOf("\n") + 1));
  // Whose folder it is: this test is not that user.
  await program("bin/stat", `case "$*" in *foreign*) echo root ;; *) echo signet ;; esac`);
  const purge = async (folder: string) => {
    await mkdir(at("etc/signet"), { recursive: true });
    await writeFile(at("etc/signet/signet.env"), `SIGNET_DATA_DIR="${folder}"\n`);
    expect(run("postrm", "remove")).toMatchObject({ status: 0, stderr: "" });
    // As dpkg does it in between.
    await rm(at("etc/signet/signet.env"));
    const said = run("postrm", "purge");
    expect(said.status).toBe(0);
    expect(existsSync(at("etc/signet"))).toBe(false);
    return said;
  };
  const fill = async (folder: string) => {
    await mkdir(path.join(folder, "blobs"), { recursive: true });
    await writeFile(path.join(folder, "signet.db"), "");
  };
  const moved = at("srv/signet data");
  await fill(moved);
  expect((await purge(moved)).stdout).toContain(`Signet's data in ${moved} is deleted`);
  expect(existsSync(moved)).toBe(false);
  expect(existsSync(at("var/lib/signet"))).toBe(false);
  await fill(at("srv/real"));
  await symlink(at("srv/real"), at("srv/link"));
  await fill(at("srv/foreign"));
  await mkdir(at("srv/other/blobs"), { recursive: true });
  for (const spared of ["srv/link", "srv/foreign", "srv/other", "srv/other/../real"]) {
    const folder = `${at()}/${spared}`;
    expect((await purge(folder)).stderr, spared).toContain(
      `${folder}, where the data was said to be, is left as it is`,
    );
  }
  expect((await purge("/")).stderr).toContain("is left as it is");
  expect(await readdir(at("srv"))).toEqual(["foreign", "link", "other", "real"]);
  expect(existsSync(at("srv/real/signet.db"))).toBe(true);
});
