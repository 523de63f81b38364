import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import type { Container } from "./container.ts";
import type { Packages } from "./releases.ts";
import { answersWithin, versionInside } from "./service.ts";
import { equal, holds, step } from "./steps.ts";

/** Installing it: the .deb, and on a machine of its own the other formats. */

export async function install(at: Container, { first }: Packages): Promise<void> {
  await step("install the package", async () => {
    at.bring(first, "root/first.deb");
    await at.must(["dpkg", "-i", "/root/first.deb"]);
  });
  await step("it is enabled and active, and answers within", async () => {
    equal(await at.must(["systemctl", "is-enabled", "signet"]), "enabled", "is-enabled");
    equal(await at.must(["systemctl", "is-active", "signet"]), "active", "is-active");
    await answersWithin(at);
    equal(await versionInside(at), "1.0.0", "version");
    // It says the command that is there, not that of a checkout.
    const said = await at.must(["journalctl", "-u", "signet", "-o", "cat", "--no-pager"]);
    holds(said, /`sudo signet first-link` prints another/, "journal");
    if (said.includes("npm run")) throw new Error("a package has no npm");
  });
  await step("no file of the package was changed by its use", async () => {
    equal(await at.must(["dpkg", "--verify", "signet-server"]), "", "dpkg --verify");
  });
  await step("manual page and completions of this release are there", async () => {
    holds(await at.must(["zcat", "/usr/share/man/man1/signet.1.gz"]), /^\.TH SIGNET 1 .*Signet 1\.0\.0/m, "manual");
    const complete = `. /usr/share/bash-completion/completions/signet
      COMP_WORDS=(signet up) COMP_CWORD=1; _signet; printf '%s\\n' "\${COMPREPLY[@]}"`;
    equal(await at.must(["bash", "-c", complete]), "update", "completion of `signet up`");
    for (const file of ["zsh/vendor-completions/_signet", "fish/vendor_completions.d/signet.fish"])
      holds(await at.must(["cat", `/usr/share/${file}`]), /recover-owner/, file);
  });
  await step("confined: systemd-analyze security", async () => {
    const said = await at.must(["systemd-analyze", "security", "--no-pager", "signet.service"]);
    const exposure = Number(/exposure level for signet\.service: ([\d.]+)/.exec(said)?.[1]);
    console.log(`          exposure ${exposure}`);
    if (!(exposure <= 2)) throw new Error(`the exposure is ${exposure}, not at most 2.0`);
  });
  await step("only root, the service and signet-admin reach the admin socket", async () => {
    equal(await at.must(["stat", "-c", "%A %U %G", "/run/signet"]), "drwxr-s--- signet signet-admin", "/run/signet");
    const socket = await at.must(["stat", "-c", "%A %U %G", "/run/signet/admin.sock"]);
    equal(socket, "srw-rw---- signet signet-admin", "admin.sock");
    await at.must(["useradd", "--groups", "signet-admin", "ada"]);
    await at.must(["useradd", "eve"]);
    await at.must(["signet", "status"], "ada");
    const refused = await at.tryTo(["signet", "status"], "eve");
    if (refused.status === 0) throw new Error("somebody outside the group was answered");
    equal((await at.tryTo(["ls", "/var/lib/signet"], "eve")).status, 2, "a stranger's look at the data");
  });
}

/** rpm itself, with an empty database of its own, so without the dependencies that no Debian package can fulfil for it. */
export async function installOtherFormats(at: Container, { rpm, tar }: Packages): Promise<void> {
  await step("get rpm itself into that machine", async () => {
    const fetch = "apt-get update -qq && apt-get install -y -qq --no-install-recommends rpm";
    execFileSync("chroot", [at.root, "sh", "-c", fetch], {
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", DEBIAN_FRONTEND: "noninteractive" },
      stdio: ["ignore", "ignore", "pipe"],
    });
  });
  await step("the .rpm: installed, enabled, answers", async () => {
    at.bring(rpm, "root/signet.rpm");
    await at.must(["rpm", "-i", "--nodeps", "/root/signet.rpm"]);
    equal(await at.must(["systemctl", "is-enabled", "signet"]), "enabled", "is-enabled");
    await answersWithin(at);
    equal(await versionInside(at), "1.0.0", "version");
    equal(await at.must(["rpm", "-V", "--nodeps", "signet-server"]), "", "rpm -V");
  });
  await step("the .rpm: removed, data and settings stay", async () => {
    await at.must(["rpm", "-e", "signet-server"]);
    gone(at, ["opt/signet", "usr/lib/signet", "usr/bin/signet", "usr/share/man/man1/signet.1.gz"]);
    equal((await at.tryTo(["systemctl", "is-active", "signet"])).stdout.trim(), "inactive", "is-active");
    if (!existsSync(path.join(at.root, "var/lib/signet/signet.db"))) throw new Error("the data is gone");
  });
  await step("the .tar.gz: unpacked, installed by its command over that data, answers", async () => {
    at.bring(tar, "root/signet.tar.gz");
    await at.must(["sh", "-c", "cd /root && tar xzf signet.tar.gz && signet-server-1.0.0-linux-*/install.sh"]);
    equal(await at.must(["systemctl", "is-enabled", "signet"]), "enabled", "is-enabled");
    await answersWithin(at);
    equal(await versionInside(at), "1.0.0", "version");
  });
  await step("the .tar.gz: removed, data and settings stay", async () => {
    await at.must(["sh", "-c", "/root/signet-server-1.0.0-linux-*/install.sh remove"]);
    gone(at, ["opt/signet", "usr/lib/signet", "usr/bin/signet", "usr/share/zsh/site-functions/_signet"]);
    if (!existsSync(path.join(at.root, "var/lib/signet/signet.db"))) throw new Error("the data is gone");
  });
}

/** @throws Error naming what is still there */
export function gone(at: Container, places: readonly string[]): void {
  const left = places.filter((place) => existsSync(path.join(at.root, place)));
  equal(left, [], "what is left");
}
