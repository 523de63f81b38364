import { execFile, execFileSync } from "node:child_process";
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Format, writeFormat, writePayload } from "../../scripts/package-formats.ts";
import { root } from "../../scripts/package-modules.ts";
import { date, sha256 } from "../../scripts/package-tree.ts";

const run = promisify(execFile);
const linux = path.join(root, "installer/linux");
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-packages-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A release of two files, made in a folder of its own, packed there. */
async function pack(name: string, format: Format, version = "1.2.3-rc.1"): Promise<string> {
  const at = path.join(folder, name);
  const release = { folder: path.join(at, "release"), version, epoch: 1_780_000_000 };
  await mkdir(path.join(release.folder, "bin"), { recursive: true });
  await mkdir(path.join(release.folder, "server"));
  await writeFile(path.join(release.folder, "server/main.ts"), `// ${"main".repeat(100)}`);
  await writeFile(path.join(release.folder, "bin/node"), '#!/bin/sh\nshift; echo "what signet $* prints"\n', {
    mode: 0o755,
  });
  // What writeRelease sees to.
  await chmod(path.join(release.folder, "server/main.ts"), 0o644);
  await chmod(path.join(release.folder, "bin/node"), 0o755);
  date(release.folder, release.epoch);
  writePayload(release, path.join(at, "payload"));
  return writeFormat(format, release, path.join(at, "payload"), at);
}

/** The same, by somebody whose files are for nobody else. */
async function packByCareful(name: string, format: Format): Promise<string> {
  const before = process.umask(0o077);
  try {
    return await pack(name, format);
  } finally {
    process.umask(before);
  }
}

test("the .deb holds the release, and is the same bytes wherever it is built", async () => {
  const [one, two] = [await pack("deb-1", "deb"), await packByCareful("deb-2", "deb")];
  expect(sha256(one)).toBe(sha256(two));
  const list = (await run("dpkg-deb", ["--contents", one])).stdout;
  expect(list).toMatch(/^-rw-r----- root\/root .* \.\/etc\/signet\/signet\.env$/m);
  expect(list).toMatch(/^-rwxr-xr-x root\/root .* \.\/usr\/lib\/signet\/release\/bin\/node$/m);
  expect(list).toMatch(/^-rw-r--r-- root\/root .* \.\/usr\/lib\/systemd\/system\/signet\.service$/m);
  for (const place of ["man/man1/signet.1.gz", "bash-completion/completions/signet", "zsh/vendor-completions/_signet"])
    expect(list).toContain(` ./usr/share/${place}\n`);
  expect(list).toContain(" ./usr/share/fish/vendor_completions.d/signet.fish\n");
  // dpkg deletes with an upgrade what it installed: the releases that are run are no files of the package.
  expect(list).not.toMatch(/\.\/(opt|var|run)\//);
  const control = (await run("dpkg-deb", ["--field", one])).stdout;
  expect(control).toContain("Version: 1.2.3~rc.1\n");
  expect(control).not.toMatch(/@[A-Z]+@/);
  await run("dpkg-deb", ["--control", one, path.join(folder, "control")]);
  for (const script of ["preinst", "postinst", "prerm", "postrm"])
    expect(await readFile(path.join(folder, "control", script), "utf8")).not.toMatch(/@[A-Z]+@/);
});

test("the .rpm holds the same files, and is the same bytes wherever it is built", async () => {
  const [one, two] = [await pack("rpm-1", "rpm"), await packByCareful("rpm-2", "rpm")];
  expect(sha256(one)).toBe(sha256(two));
  const list = (await run("rpm", ["-qp", "--queryformat", "[%{FILEMODES:perms} %{FILEUSERNAME} %{FILENAMES}\\n]", one]))
    .stdout;
  expect(list).toMatch(/^-rw-r----- root \/etc\/signet\/signet\.env$/m);
  expect(list).toMatch(/^-rwxr-xr-x root \/usr\/lib\/signet\/release\/bin\/node$/m);
  expect(list).toMatch(/^-rw-r--r-- root \/usr\/share\/zsh\/site-functions\/_signet$/m);
  expect(list).not.toMatch(/ \/(opt|var|run)\//);
  expect((await run("rpm", ["-qp", "--queryformat", "%{VERSION}", one])).stdout).toBe("1.2.3~rc.1");
});

test("the .tar.gz brings its installation along, and is the same bytes wherever it is built", async () => {
  const [one, two] = [await pack("tar-1", "tar.gz"), await packByCareful("tar-2", "tar.gz")];
  expect(sha256(one)).toBe(sha256(two));
  const list = (await run("tar", ["-tvzf", one])).stdout;
  expect(list).toMatch(/^-rwxr-xr-x 0\/0 .* signet-server-1\.2\.3-rc\.1-linux-\w+\/\.?\/?install\.sh$/m);
  expect(list).toMatch(/usr\/lib\/signet\/release\/bin\/node$/m);
});

test("every shell script is one for any POSIX shell", async () => {
  const scripts = [
    "deploy",
    "signet",
    "install.sh",
    ...(await readdir(path.join(linux, "debian"))).map((name) => `debian/${name}`),
  ];
  for (const name of scripts) {
    if (name === "debian/control") continue;
    expect((await readFile(path.join(linux, name), "utf8")).startsWith("#!/bin/sh\n"), name).toBe(true);
    execFileSync("sh", ["-n", path.join(linux, name)]);
  }
});

const targets = "/usr/lib/systemd/system";
test("systemd understands every line of the unit and its examples, and finds it well confined", async () => {
  const image = path.join(folder, "image");
  const units = path.join(image, "usr/lib/systemd/system");
  await mkdir(path.join(units, "signet.service.d"), { recursive: true });
  await mkdir(path.join(image, "opt/signet/current/bin"), { recursive: true });
  await copyFile(process.execPath, path.join(image, "opt/signet/current/bin/node"));
  await chmod(path.join(image, "opt/signet/current/bin/node"), 0o755);
  for (const name of ["multi-user", "network-online", "network", "basic", "sysinit", "shutdown", "local-fs"])
    await copyFile(path.join(targets, `${name}.target`), path.join(units, `${name}.target`));
  await copyFile(path.join(linux, "signet.service"), path.join(units, "signet.service"));
  const verify = async () => await run("systemd-analyze", ["verify", "--man=no", `--root=${image}`, "signet.service"]);
  // It exits with 0 after ignoring a key that it does not know, so what it says counts.
  const said = await verify();
  expect(`${said.stdout}${said.stderr}`).toBe("");
  for (const name of await readdir(path.join(linux, "examples")))
    await copyFile(path.join(linux, "examples", name), path.join(units, "signet.service.d", name));
  const withExamples = await verify();
  expect(`${withExamples.stdout}${withExamples.stderr}`).toBe("");
  await run("systemd-analyze", ["security", "--offline=true", "--threshold=20", path.join(linux, "signet.service")]);
});

/** Python is there wherever native addons are compiled, and reads both formats. */
const python = (code: string, file: string) => execFileSync("python3", ["-c", code, file], { encoding: "utf8" });

test("the service of Windows and the daemon of macOS start the same program", () => {
  const winsw = python(
    "import json,sys,xml.etree.ElementTree as t; print(json.dumps({e.tag: e.text for e in t.parse(sys.argv[1]).getroot()}))",
    path.join(root, "installer/windows/signet-service.xml"),
  );
  expect(JSON.parse(winsw)).toMatchObject({ id: "Signet", arguments: '"%BASE%\\release\\server\\main.ts" serve' });
  const plist = python(
    "import json,sys,plistlib; print(json.dumps(plistlib.load(open(sys.argv[1],'rb'))))",
    path.join(root, "installer/macos/app.signet.server.plist"),
  );
  expect(JSON.parse(plist)).toMatchObject({
    Label: "app.signet.server",
    ProgramArguments: ["/opt/signet/current/bin/node", "/opt/signet/current/server/main.ts", "serve"],
    UserName: "_signet",
    Umask: 0o077,
  });
});
