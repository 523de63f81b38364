import { existsSync, statSync } from "node:fs";
import path from "node:path";
import type { Container } from "./container.ts";
import { gone } from "./installation.ts";
import { anchored, answers, type Job } from "./service.ts";
import { equal, holds, step } from "./steps.ts";

export async function leave(at: Container, { sha256 }: Job): Promise<void> {
  await step("removing the package keeps data and settings", async () => {
    await at.must(["dpkg", "-r", "signet-server"]);
    equal((await at.tryTo(["systemctl", "is-active", "signet"])).stdout.trim(), "inactive", "is-active");
    if (existsSync(path.join(at.root, "opt/signet"))) throw new Error("the program is still there");
    statSync(path.join(at.root, "var/lib/signet/signet.db"));
    statSync(path.join(at.root, "etc/signet/signet.env"));
  });
  await step("installing it again goes on with them", async () => {
    await at.must(["dpkg", "-i", "/root/next.deb"]);
    await answers(at);
    await anchored(at, sha256);
  });
}

export async function purge(at: Container): Promise<void> {
  await step("purging it leaves nothing", async () => {
    holds(await at.must(["dpkg", "--purge", "signet-server"]), /is deleted, as purge asks/, "dpkg");
    gone(at, ["opt/signet", "var/lib/signet", "etc/signet", "run/signet", "usr/lib/signet", "usr/bin/signet"]);
  });
}
