import { existsSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import type { Container } from "./container.ts";
import type { Packages } from "./releases.ts";
import { anchored, answers, type Job, versionInside } from "./service.ts";
import { equal, holds, step } from "./steps.ts";

/** Newer releases: as packages, and as files that two people signed. */

export async function bringPackages(at: Container, { next, broken }: Packages, { sha256 }: Job): Promise<void> {
  await step("a newer package migrates the database and serves", async () => {
    at.bring(next, "root/next.deb");
    await at.must(["dpkg", "-i", "/root/next.deb"]);
    equal(await versionInside(at), "1.1.0", "version");
    equal(await at.must(["ls", "/opt/signet/releases"]), "1.0.0\n1.1.0", "releases");
    await anchored(at, sha256);
  });
  await step("an older package is refused", async () => {
    const { status, stderr } = await at.tryTo(["dpkg", "-i", "/root/first.deb"]);
    if (status === 0) throw new Error("1.0.0 replaced 1.1.0");
    holds(stderr, /version 1\.1\.0 is in use, and 1\.0\.0 is older/, "dpkg");
    equal(await versionInside(at), "1.1.0", "version");
    holds(await at.must(["dpkg", "-l", "signet-server"]), /^ii +signet-server +1\.1\.0 /m, "dpkg -l");
  });
  await step("a release that cannot start leaves: program and data of before are back by themselves", async () => {
    at.bring(broken, "root/broken.deb");
    const { status, stderr } = await at.tryTo(["dpkg", "-i", "/root/broken.deb"]);
    if (status === 0) throw new Error("1.2.0 was installed");
    holds(stderr, /version 1\.2\.0 did not start/, "dpkg");
    equal(await versionInside(at), "1.1.0", "version");
    await answers(at);
    await anchored(at, sha256);
    equal(await tables(at), ["9001_appliance_test"], "tables that the test's migrations made");
    if (existsSync(path.join(at.root, "var/lib/signet/before-upgrade"))) throw new Error("the copy was left behind");
    // What the package manager needs to be content again.
    await at.must(["dpkg", "-i", "/root/next.deb"]);
    equal(await versionInside(at), "1.1.0", "version");
  });
}

const Outcome = z.object({ run: z.object({ outcome: z.string() }) });

export async function bringSignedUpdates(at: Container, packages: Packages, { sha256 }: Job): Promise<void> {
  await step("signet update verify: two signatures that the release in use pins", async () => {
    at.bring(packages.update, "root/update.tar.gz");
    holds(await at.must(["signet", "update", "verify", "/root/update.tar.gz"]), /all as signed/, "update verify");
    const flip =
      "cp /root/update.tar.gz /root/forged.tar.gz && printf X | dd of=/root/forged.tar.gz bs=1 seek=2000000 conv=notrunc status=none";
    await at.must(["sh", "-c", flip]);
    if ((await at.tryTo(["signet", "update", "verify", "/root/forged.tar.gz"])).status === 0)
      throw new Error("a file that was changed was believed");
  });
  await step("signet update apply: backed up, tried on a copy, migrated, serves", async () => {
    const said = await at.must(["signet", "update", "apply", "/root/update.tar.gz", "--drain", "5", "--json"]);
    equal(Outcome.parse(JSON.parse(said)).run.outcome, "applied", "outcome");
    equal(await versionInside(at), "1.3.0", "version");
    equal(await tables(at), ["9001_appliance_test", "9003_appliance_test"], "tables of the test's migrations");
    await answers(at);
    await anchored(at, sha256);
  });
  await step("a signed update that does not serve: program and data of before are back by themselves", async () => {
    at.bring(packages.brokenUpdate, "root/broken.tar.gz");
    const options = ["--drain", "5", "--gate", "30", "--json"];
    const { status, stdout } = await at.tryTo(["signet", "update", "apply", "/root/broken.tar.gz", ...options]);
    equal(status, 1, `exit code of ${stdout}`);
    equal(await versionInside(at), "1.3.0", "version");
    equal(await tables(at), ["9001_appliance_test", "9003_appliance_test"], "tables of the test's migrations");
    await answers(at);
    await anchored(at, sha256);
    equal(await at.must(["systemctl", "is-active", "signet"]), "active", "is-active");
  });
}

async function tables(at: Container): Promise<unknown> {
  const sql = "SELECT name FROM sqlite_schema WHERE name LIKE '900%' ORDER BY name";
  const code = `import { DatabaseSync } from "node:sqlite";
    const rows = new DatabaseSync("/var/lib/signet/signet.db", { readOnly: true }).prepare(${JSON.stringify(sql)}).all();
    console.log(JSON.stringify(rows.map(({ name }) => name)))`;
  return JSON.parse(await at.must(["/opt/signet/current/bin/node", "--input-type=module", "-e", code]));
}
