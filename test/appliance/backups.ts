import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { createClient } from "../../server/commands/demo/client.ts";
import { sendEnvelope } from "../../server/commands/demo/main-job.ts";
import type { Container } from "./container.ts";
import type { Packages } from "./releases.ts";
import { anchored, answers, type Job, sealed, signForAll, trustServer, urlOf } from "./service.ts";
import { backupFolder, openBackupFolder } from "./setup.ts";
import { equal, holds, step } from "./steps.ts";

/** A backup that leaves the machine, and another machine that goes on with it. */

export type Kept = {
  /** On this machine: the folder of backups as it was carried off, and the key that opens them. */
  folder: string;
  key: string;
  anchors: string[];
};

export async function backUp(at: Container, folder: string): Promise<Kept> {
  return await step("back up to the folder, encrypted and verified; carry it off with its key", async () => {
    const said = z.object({ status: z.string() });
    equal(said.parse(JSON.parse(await at.must(["signet", "backup", "--json"]))).status, "verified", "backup");
    holds(await at.must(["signet", "drill", "--key", "/root/backup.key"]), /The drill passed/, "drill");
    const kept = {
      folder: path.join(folder, "carried"),
      key: path.join(folder, "backup.key"),
      anchors: await anchorsOf(at),
    };
    mkdirSync(kept.folder);
    execFileSync("cp", ["-a", `${path.join(at.root, backupFolder)}/.`, kept.folder]);
    cpSync(path.join(at.root, "root/backup.key"), kept.key);
    // Nothing of what was signed lies there in the clear.
    const found = execFileSync("sh", ["-c", 'grep -rlE "%PDF-|clara@example.org" "$1" || true', "sh", kept.folder]);
    equal(found.toString(), "", "files that show documents or names");
    return kept;
  });
}

/** Each anchor's note, in order: what nobody may ever change. */
async function anchorsOf(at: Container): Promise<string[]> {
  const Latest = z.object({ sequence: z.number() });
  const answer = await fetch(`${urlOf(at)}/v1/public/anchors/latest`);
  const { sequence } = Latest.parse(await answer.json());
  const notes: string[] = [];
  for (let number = 1; number <= sequence; number += 1) {
    const note = await fetch(`${urlOf(at)}/v1/public/anchors/${number}/checkpoint`);
    if (!note.ok) throw new Error(`the checkpoint of anchor ${number}: ${note.status}`);
    notes.push(await note.text());
  }
  return notes;
}

export async function restoreElsewhere(at: Container, { next }: Packages, kept: Kept, job: Job): Promise<void> {
  await step("another machine: install, restore from the folder with the key", async () => {
    at.bring(next, "root/next.deb");
    await at.must(["dpkg", "-i", "/root/next.deb"]);
    await at.must(["systemctl", "stop", "signet"]);
    // It has begun data of its own, which nobody used.
    await at.must(["sh", "-c", "rm -rf /var/lib/signet/* /var/lib/signet/.[!.]*"]);
    // As it lies on the medium that was carried: root's, and nobody else's.
    execFileSync("cp", ["-a", kept.folder, path.join(at.root, "root/carried")]);
    execFileSync("chown", ["-R", "0:0", path.join(at.root, "root/carried")]);
    at.bring(kept.key, "root/backup.key");
    const said = await at.must(["signet", "restore", "--from", "/root/carried", "--key", "/root/backup.key"]);
    holds(said, /Everything is whole/, "restore");
    equal(await at.must(["find", "/var/lib/signet", "!", "-user", "signet"]), "", "files of others in the data");
  });
  await step("the same anchors, documents and keys verify there", async () => {
    // The settings came along, and say where this machine is to back up: where the backups of the first lie, as on a share.
    await openBackupFolder(at);
    await at.must(["cp", "-a", "/root/carried/.", backupFolder]);
    await at.must(["chown", "-R", "signet:signet", backupFolder]);
    await at.must(["systemctl", "start", "signet"]);
    await trustServer(at);
    await answers(at);
    equal(await anchorsOf(at).then((notes) => notes.slice(0, kept.anchors.length)), kept.anchors, "anchors");
    await anchored(at, job.sha256);
    const client = createClient(urlOf(at), job.key);
    const pdf = await client.bytes(`/v1/envelopes/${job.envelope}/document?version=sealed`);
    equal(Buffer.compare(pdf, job.pdf), 0, "difference of the sealed document");
    await at.must(["signet", "fsck"]);
  });
  await step("and it goes on: a new envelope is signed, sealed and anchored", async () => {
    // The first machine published nothing after the backup; until somebody says so no anchor is signed here.
    await at.must(["signet", "anchors", "resume"]);
    const { id } = await sendEnvelope(createClient(urlOf(at), job.key), job.template);
    await signForAll(at);
    await sealed(at, job.key, id);
  });
}
