import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  active,
  at,
  installed,
  killedAt,
  left,
  makeDebian,
  must,
  openMachine,
  read,
  removeDebian,
  rpm,
  run,
  serves,
  state,
} from "./dpkg-machine.ts";

beforeAll(makeDebian, 600_000);
afterAll(removeDebian);
beforeEach(openMachine);

test("installed, installed again, upgraded, not downgraded, removed, put back, purged", () => {
  installed();
  serves("1.0.0");
  expect(must("dpkg --verify signet-server").replace(/.* c \/etc\/signet\/signet\.env\n/, "")).toBe("");
  must("dpkg -i /root/1.0.0");
  serves("1.0.0");
  must("dpkg -i /root/1.1.0");
  serves("1.1.0");
  const older = run("dpkg -i /root/1.0.0");
  expect([older.status, older.stderr]).toEqual([1, expect.stringContaining("1.0.0 is older")]);
  serves("1.1.0");
  must("dpkg -r signet-server");
  expect([state(), active(), left("opt/signet", "usr/bin/signet", "usr/lib/signet", "manager/enabled")]).toEqual([
    "deinstall ok config-files 1.1.0",
    "stopped",
    [],
  ]);
  must("dpkg -i /root/1.1.0");
  serves("1.1.0");
  must("dpkg -P signet-server");
  expect(left("opt/signet", "usr/lib/signet", "etc/signet", "var/lib/signet", "run/signet", "manager/enabled")).toEqual(
    [],
  );
});

test("a release that does not start leaves; dpkg is content again with the next that does", () => {
  installed();
  const broken = run("dpkg -i /root/1.2.0");
  expect([broken.status, broken.stderr]).toEqual([1, expect.stringContaining("1.2.0 did not start")]);
  expect([state(), active()]).toEqual(["install ok half-configured 1.2.0", "1.0.0"]);
  expect(read("var/lib/signet/signet.db")).toBe("of 1.0.0");
  must("dpkg -i /root/1.1.0");
  serves("1.1.0");
  // What stays beside it is what served before, not what never did.
  expect(readdirSync(at("opt/signet/releases")).sort()).toEqual(["1.0.0", "1.1.0"]);
});

test("a first release that does not start is followed by one that does, without a hand that starts it", () => {
  const broken = run("dpkg -i /root/1.2.0");
  expect([broken.status, state(), active()]).toEqual([1, "install ok half-configured 1.2.0", "stopped"]);
  // The next is a newer one, of course.
  must("mv /opt/signet/releases/1.2.0 /opt/signet/releases/1.0.5 && ln -sfn releases/1.0.5 /opt/signet/current");
  must("dpkg -i /root/1.1.0");
  expect([state(), active()]).toEqual(["install ok installed 1.1.0", "1.1.0"]);
});

test("what somebody stopped or masked stays stopped", () => {
  must(": >/manager/masked && dpkg -i /root/1.0.0");
  expect([state(), active(), left("manager/enabled")]).toEqual(["install ok installed 1.0.0", "stopped", []]);
  must("rm /manager/masked && systemctl enable signet.service && systemctl start signet.service");
  must("systemctl stop signet.service && dpkg -i /root/1.1.0");
  expect([state(), active()]).toEqual(["install ok installed 1.1.0", "stopped"]);
});

test("a package left half-configured does not take the place of a newer release that came as a signed update", () => {
  installed();
  expect(run("dpkg -i /root/1.2.0").status).toBe(1);
  must("cd /opt/signet && cp -a releases/1.0.0 releases/1.3.0 && ln -sfn releases/1.3.0 current");
  must("systemctl restart signet.service");
  rmSync(at("manager/calls"));
  expect(run("dpkg --configure -a")).toMatchObject({ status: 0, stderr: expect.stringContaining("1.3.0 goes on") });
  expect([state(), active()]).toEqual(["install ok installed 1.2.0", "1.3.0"]);
  expect(left("manager/calls")).toEqual([]);
});

test("settings that somebody deleted are no obstacle to the next package", () => {
  installed();
  rmSync(at("etc/signet/signet.env"));
  must("dpkg -i /root/1.1.0");
  expect([state(), active()]).toEqual(["install ok installed 1.1.0", "1.1.0"]);
});

describe("cut off", () => {
  test("between unpacking and configuring, it goes on with the old until it is configured, and can be removed or purged", () => {
    must("dpkg --unpack /root/1.0.0");
    must("dpkg -P signet-server");
    expect(left("usr/lib/signet", "etc/signet", "opt/signet")).toEqual([]);
    installed();
    must("dpkg --unpack /root/1.1.0");
    expect([state(), active()]).toEqual(["install ok unpacked 1.1.0", "1.0.0"]);
    must("dpkg --configure -a");
    serves("1.1.0");
    must("dpkg --unpack /root/1.1.0");
    must("dpkg -r signet-server");
    expect(left("opt/signet", "usr/lib/signet", "manager/active", "manager/enabled")).toEqual([]);
    expect(read("var/lib/signet/signet.db")).toBe("of 1.0.0");
  });

  test.each(["daemon-reload", "enable", "start"])(
    "the first installation at %s, it is ended by configuring",
    (step) => {
      killedAt(step, "dpkg -i /root/1.0.0");
      must("dpkg --configure -a");
      expect([state(), active()]).toEqual(["install ok installed 1.0.0", "1.0.0"]);
    },
  );

  test.each(["daemon-reload", "is-active", "stop", "start"])("an upgrade at %s, it is ended by configuring", (step) => {
    installed();
    killedAt(step, "dpkg -i /root/1.1.0");
    must("dpkg --configure -a");
    serves("1.1.0");
  });

  test.each(["stop", "start", "reset-failed"])(
    "an upgrade to what does not start at %s, it is taken back all the same",
    (step) => {
      installed();
      killedAt(step, "dpkg -i /root/1.2.0");
      const again = run("dpkg --configure -a");
      expect([again.status, again.stderr]).toEqual([1, expect.stringContaining("1.2.0 did not start")]);
      expect([active(), read("var/lib/signet/signet.db")]).toEqual(["1.0.0", "of 1.0.0"]);
      must("dpkg -i /root/1.1.0");
      serves("1.1.0");
    },
  );

  test("and used meanwhile, as after a start of the machine, what people did is never taken back", () => {
    installed();
    killedAt("start", "dpkg -i /root/1.1.0");
    // The machine starts, and its service with it.
    must("systemctl start signet.service");
    expect(active()).toBe("1.1.0");
    writeFileSync(at("var/lib/signet/signet.db"), "signed meanwhile");
    // Then something keeps it from starting.
    must(
      "systemctl stop signet.service && : >/opt/signet/current/fails && echo 'signed meanwhile' >/var/lib/signet/signet.db",
    );
    run("dpkg --configure -a");
    expect(read("var/lib/signet/signet.db")).not.toBe("of 1.0.0");
  });

  test.each(["stop", "disable"])("a removal at %s, it is ended by removing again", (step) => {
    installed();
    killedAt(step, "dpkg -r signet-server");
    must("dpkg -r signet-server");
    expect(left("opt/signet", "usr/lib/signet", "manager/active", "manager/enabled")).toEqual([]);
    expect(read("var/lib/signet/signet.db")).toBe("of 1.0.0");
  });
});

test("purge empties a volume of its own for the data, and leaves what is mounted below it", () => {
  installed();
  const data = at("var/lib/signet");
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", data]);
  try {
    mkdirSync(path.join(data, "shared/deep"), { recursive: true });
    writeFileSync(path.join(data, "signet.db"), "");
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", path.join(data, "shared")]);
    writeFileSync(path.join(data, "shared/backup"), "elsewhere");
    const said = run("dpkg -P signet-server");
    expect(said).toMatchObject({ status: 0, stderr: expect.stringContaining("mounted below it is untouched") });
    expect(readdirSync(data)).toEqual(["shared"]);
    expect(readFileSync(path.join(data, "shared/backup"), "utf8")).toBe("elsewhere");
  } finally {
    spawnSync("umount", ["-R", "-l", data]);
  }
  expect(state()).toBe("");
});

test("purge deletes the data that a link leads to, and nothing that a link leads to which is not Signet's", () => {
  installed();
  must("mv /var/lib/signet /srv/signet && ln -s /srv/signet /var/lib/signet");
  must("dpkg -P signet-server");
  expect(left("srv/signet", "var/lib/signet")).toEqual([]);
  installed();
  must(
    "rm -r /var/lib/signet && mkdir -p /srv/other/blobs && : >/srv/other/signet.db && ln -s /srv/other /var/lib/signet",
  );
  expect(run("dpkg -P signet-server")).toMatchObject({
    status: 0,
    stderr: expect.stringContaining("is left as it is"),
  });
  expect(left("srv/other/signet.db")).toEqual(["srv/other/signet.db"]);
});

test("purge of a package that was removed spares the installation that took its place", () => {
  installed();
  must("dpkg -r signet-server");
  must("cd /root && tar xzf tar && signet-server-1.0.0-linux-*/install.sh");
  const said = run("dpkg -P signet-server");
  expect(said).toMatchObject({
    status: 0,
    stderr: expect.stringContaining("Another installation of Signet is in use"),
  });
  expect([state(), active(), read("var/lib/signet/signet.db")]).toEqual(["", "1.0.0", "of 1.0.0"]);
  expect(left("opt/signet/current", "manager/enabled", "etc/signet")).toHaveLength(3);
});

test("purge deletes the data in a folder that the settings name with blanks and a slash, and a volume for programs is no obstacle", () => {
  installed();
  must("mv /var/lib/signet /srv/signet && echo 'SIGNET_DATA_DIR= /srv/signet/ ' >>/etc/signet/signet.env");
  // The copy of the database for the way back finds it, too.
  expect(run("dpkg -i /root/1.2.0").stderr).toContain("1.2.0 did not start");
  expect(read("srv/signet/signet.db")).toBe("of 1.0.0");
  must("dpkg -r signet-server");
  mkdirSync(at("opt/signet"));
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", at("opt/signet")]);
  try {
    must("dpkg -P signet-server");
    expect(left("srv/signet", "etc/signet")).toEqual([]);
  } finally {
    spawnSync("umount", ["-l", at("opt/signet")]);
  }
});

test("the .rpm goes and comes back to the settings of before", () => {
  rpm("-i", at("root/rpm"));
  writeFileSync(at("etc/signet/signet.env"), "SIGNET_PORT=443\n");
  writeFileSync(at("var/lib/signet/signet.db"), "of 1.0.0");
  rpm("-e", "signet-server");
  expect([active(), left("opt/signet", "usr/bin/signet")]).toEqual(["stopped", []]);
  expect(readdirSync(at("etc/signet"))).toEqual(["signet.env"]);
  rpm("-i", at("root/rpm"));
  expect([active(), read("etc/signet/signet.env")]).toEqual(["1.0.0", "SIGNET_PORT=443"]);
  expect(must("stat -c '%a %U %G' /etc/signet/signet.env")).toBe("640 root signet\n");
  expect(read("var/lib/signet/signet.db")).toBe("of 1.0.0");
});

test("links that the service left in its folder lead root's hand nowhere", () => {
  installed();
  mkdirSync(at("srv/outside"));
  writeFileSync(at("srv/outside/secret"), "root's");
  rmSync(at("var/lib/signet/signet.db"));
  symlinkSync("/srv/outside/secret", at("var/lib/signet/signet.db"));
  symlinkSync("/srv/outside", at("var/lib/signet/before-upgrade"));
  symlinkSync("/srv/outside/secret", at("var/lib/signet/signet.db-wal"));
  const before = statSync(at("srv/outside/secret"));
  must("dpkg -i /root/1.1.0");
  must("dpkg -P signet-server");
  expect(readdirSync(at("srv/outside"))).toEqual(["secret"]);
  expect(read("srv/outside/secret")).toBe("root's");
  const after = statSync(at("srv/outside/secret"));
  expect([after.uid, after.mode, after.mtimeMs]).toEqual([before.uid, before.mode, before.mtimeMs]);
});

test("install.sh by a root whose umask is 077, unpacked by somebody else: everybody reads it, the system's folders stay", () => {
  const folders = ["/usr", "/usr/bin", "/usr/lib/systemd/system", "/usr/share/man/man1", "/usr/share/doc"];
  const modes = () =>
    must(`stat -c '%n %a %u %Y' ${folders.slice(0, 1).join(" ")}; stat -c '%n %a %u' ${folders.join(" ")}`);
  must("mkdir -p /usr/share/man/man1 && useradd -m ada && cp /root/tar /home/ada/");
  const before = modes();
  must("runuser -u ada -- sh -c 'cd && umask 077 && tar xzf tar'");
  must("umask 077; /home/ada/signet-server-1.0.0-linux-*/install.sh");
  expect(modes()).toBe(before);
  expect(active()).toBe("1.0.0");
  for (const file of ["/opt/signet/current/bin/node", "/usr/lib/signet/deploy"])
    must(`runuser -u ada -- test -x ${file}`);
  for (const file of [
    "/opt/signet/current/server/main.ts",
    "/usr/lib/systemd/system/signet.service",
    "/usr/share/man/man1/signet.1.gz",
  ])
    must(`runuser -u ada -- test -r ${file}`);
  expect(must("stat -c '%a %U %G' /etc/signet /etc/signet/signet.env")).toBe("755 root root\n640 root signet\n");
  expect(must("find /usr/lib/signet /usr/bin/signet /opt/signet ! -user root")).toBe("");
  must("/home/ada/signet-server-1.0.0-linux-*/install.sh remove");
  expect(left("opt/signet", "usr/lib/signet", "usr/bin/signet")).toEqual([]);
});
