import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../../../server/commands/demo/client.ts";
import {
  linkFor,
  type Mailbox,
  people,
  publishTemplate,
  sendEnvelope,
  signAs,
  waitFor,
  waitForSeal,
} from "../../../server/commands/demo/main-job.ts";
import { anchorNow } from "../../../server/features/evidence/anchors/managed-contract.ts";
import {
  followUpdate,
  getUpdate,
  type UpdateProgress,
  verifyUpdate,
} from "../../../server/features/update/contract.ts";
import { callLocal, followLocal } from "../../../server/local-client.ts";
import { audited, goodMigration, oldVersion, openMachine, type TestMachine } from "../../harness/releases.ts";

/** `signet update` as its administrators call it: processes, a supervised service, a folder for backups. */

const timeout = 300_000;
const full = process.env.SIGNET_TEST_FULL !== undefined;
const sample = path.resolve(import.meta.dirname, "../../fixtures/pdf/lecture.pdf");
let machine: TestMachine;
let backups: string;

beforeAll(async () => {
  machine = await openMachine({ SIGNET_ANCHOR_INTERVAL_SECONDS: "86400" });
  backups = path.join(machine.folder, "backups");
  await mkdir(backups);
  await writeFile(path.join(machine.folder, "passphrase"), "a long enough passphrase\n");
  machine.supervisor.start();
  await machine.serves(oldVersion);
  if (!full) return;
  // The first sealed document is anchored at once, the next after the interval.
  await sealOne();
  await waitFor("the first anchor", async () => rows("select 1 from anchors")[0]);
}, timeout);
afterAll(() => machine.close());

type Said = { code: number | null; out: string; err: string };

/** Runs the command of the release that is served. */
async function signet(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Said> {
  const child = spawn(process.execPath, [path.join(machine.root, "current/server/main.ts"), ...args], {
    env: { PATH: process.env.PATH ?? "", ...machine.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said: Said = { code: null, out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said.out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said.err += text));
  await once(child, "close");
  return { ...said, code: child.exitCode };
}

const withBackups = () => ({
  SIGNET_BACKUP_DIR: backups,
  SIGNET_BACKUP_PASSPHRASE_FILE: path.join(machine.folder, "passphrase"),
});
const supervised = ["--service", "supervised", "--reserve", "1"];

function rows(query: string): Record<string, unknown>[] {
  const db = new DatabaseSync(path.join(machine.dataDir, "signet.db"), { readOnly: true });
  try {
    return db.prepare(query).all();
  } finally {
    db.close();
  }
}

const mailbox: Mailbox = async () => JSON.parse((await signet(["outbox", "--json"])).out);

/** The main job over HTTP: an envelope that two people sign, sealed, and a leaf that no anchor covers yet. */
async function sealOne(): Promise<void> {
  const client = createClient(machine.url, machine.apiKeys.live);
  const { template } = await publishTemplate(client, await readFile(sample), "none");
  const { id } = await sendEnvelope(client, template.id);
  for (const person of people) await signAs(machine.url, person, await linkFor(mailbox, person.email), mailbox);
  await waitForSeal(client, id);
}

test("a backup that cannot be written ends the update before anything was changed", { timeout }, async () => {
  const file = await machine.update("good", { version: "1.1.0", ...goodMigration });
  const gone = { ...withBackups(), SIGNET_BACKUP_DIR: path.join(machine.folder, "not-mounted") };
  const { code, out } = await signet(["update", "apply", file, ...supervised, "--json"], gone);
  const { run } = JSON.parse(out);
  expect([code, run.outcome, run.backup]).toEqual([1, "taken-back", null]);
  expect(run.cause).toContain("The backup before the update failed");
  await machine.serves(oldVersion);
  expect(machine.supervisor.starts).toBe(1);
  expect(rows("select status, trigger from backup_runs")).toMatchObject([{ status: "failed", trigger: "update" }]);
});

if (full)
  test("verified, applied with a verified backup, followed from outside", { timeout }, async () => {
    const file = path.join(machine.folder, "good.tar.gz");
    const facts = await callLocal(machine.site.address, verifyUpdate, { body: { file } });
    expect(facts).toMatchObject({ version: "1.1.0", signedBy: machine.pinned.keys.map(({ id }) => id) });
    await expect(
      callLocal(machine.site.address, verifyUpdate, { body: { file: machine.keys.file } }),
    ).rejects.toMatchObject({ problem: { code: "validation-failed" } });
    const verified = await signet(["update", "verify", file]);
    expect([verified.code, verified.out]).toEqual([0, expect.stringContaining("1.1.0")]);

    const seen: UpdateProgress[] = [];
    const pages: Promise<Response>[] = [];
    // The service is another process later, so whoever follows asks again.
    const ended = new AbortController();
    const following = (async () => {
      while (!ended.signal.aborted) {
        try {
          for await (const progress of followLocal(machine.site.address, followUpdate, {}, { signal: ended.signal })) {
            seen.push(progress);
            if (progress.run?.phase === "trying" && pages.length === 0)
              for (const [target, language] of [
                ["/sign#svctk_1", "de-AT,de;q=0.9,en;q=0.1"],
                ["/", "fr, en;q=0.5"],
                ["/verify", "de"],
                ["/v1/envelopes", "de"],
              ] as const)
                pages.push(
                  fetch(new URL(target, machine.url), {
                    headers: { accept: "text/html", "accept-language": language },
                  }),
                );
          }
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
    })();
    const applied = await signet(["update", "apply", file, ...supervised, "--json"], withBackups());
    ended.abort();
    await following;
    const { run } = JSON.parse(applied.out);
    expect([applied.code, run.outcome]).toEqual([0, "applied"]);
    await machine.serves("1.1.0");
    expect(rows(`select status, trigger from backup_runs where id = '${run.backup}'`)).toMatchObject([
      { status: "verified", trigger: "update" },
    ]);
    expect(readFileSync(path.join(backups, "backups", run.backup, "manifest.json"), "utf8")).toContain(oldVersion);
    const phases = [...new Set(seen.map((progress) => progress.run?.phase))];
    expect(phases).toEqual(expect.arrayContaining(["backing-up", "trying"]));

    const [german, english, verify, api] = await Promise.all(pages);
    const texts = await Promise.all([german, english].map((page) => page?.text()));
    expect([german, english, verify, api].map((page) => page?.status)).toEqual([503, 503, expect.anything(), 503]);
    expect(texts[0]).toContain('<html lang="de">');
    expect(texts[0]).toContain("Nichts geht verloren");
    expect(texts[1]).toContain("Nothing is lost");
    expect(german?.headers.get("retry-after")).toBe("15");
    expect(await verify?.text()).not.toContain("Nichts geht verloren");
    expect(api?.headers.get("content-type")).toContain("application/problem+json");

    const again = await signet(["update", "apply", file, ...supervised, "--json"]);
    expect([again.code, JSON.parse(again.out).error]).toEqual([1, "Version 1.1.0 is installed already."]);
    const state = await signet(["update", "status", "--json"]);
    expect([state.code, JSON.parse(state.out)]).toEqual([
      0,
      expect.objectContaining({ version: "1.1.0", interrupted: false }),
    ]);
  });

if (full)
  test("the way back says what it would lose, takes the database of before along, and never forks the tree", {
    timeout,
  }, async () => {
    await sealOne();
    const rollback = (...more: string[]) => signet(["update", "rollback", ...supervised, "--json", ...more]);
    const starts = machine.supervisor.starts;
    const refused = await rollback();
    expect([refused.code, JSON.parse(refused.out).error]).toEqual([
      1,
      expect.stringMatching(
        /\n {2}1 envelope made or gone on with\n {2}2 signatures\n {2}1 sealed document\n[\s\S]*\n {2}1 template made or changed\n[\s\S]*--accept-loss \d+$/,
      ),
    ]);
    expect(JSON.parse(refused.out).error).not.toMatch(/ 0 |anchor|member|API key/);
    const everything = /(\d+)$/.exec(JSON.parse(refused.out).error)?.[1] ?? "";
    expect((await rollback("--accept-loss", "1")).code).toBe(1);
    expect(machine.supervisor.starts).toBe(starts);

    const back = await rollback("--accept-loss", everything);
    expect(JSON.parse(back.out).run).toMatchObject({
      kind: "rollback",
      outcome: "applied",
      loss: { envelopes: 1, signatures: 2, leaves: 1, anchors: 0, templates: 1 },
    });
    await machine.serves(oldVersion);
    expect(rows("select count(*) as n from envelopes")).toMatchObject([{ n: 1 }]);
    expect(rows("select name from migrations where name like '9001%'")).toEqual([]);
    const [act] = rows("select data from operator_audit where action = 'update.applied' order by seq desc limit 1");
    expect(JSON.parse(String(act?.data))).toMatchObject({ from: "1.1.0", to: oldVersion, lost: { signatures: 2 } });

    // What was given up is kept in its turn, so that it can be had again.
    expect(JSON.parse((await rollback()).out).run).toMatchObject({ kind: "rollback", outcome: "applied" });
    await machine.serves("1.1.0");
    expect(rows("select count(*) as n from leaves")).toMatchObject([{ n: 2 }]);
    expect(await callLocal(machine.site.address, anchorNow, {})).toEqual({ sequence: expect.any(Number) });
    const forked = await rollback("--accept-loss", everything);
    expect([forked.code, JSON.parse(forked.out).error]).toEqual([1, expect.stringContaining("the tree would fork")]);
    expect((await callLocal(machine.site.address, getUpdate, {})).version).toBe("1.1.0");
    expect(audited(machine.dataDir).at(-1)).toBe("update.applied");
  });
