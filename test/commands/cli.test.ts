import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli } from "../../server/cli.ts";
import { createClient } from "../../server/commands/demo/client.ts";
import {
  linkFor,
  people,
  publishTemplate,
  sendEnvelope,
  signAs,
  waitForAnchor,
  waitForSeal,
} from "../../server/commands/demo/main-job.ts";
import { type Appliance, startAppliance } from "../../server/compose.ts";
import { loadConfig } from "../../server/config.ts";
import { listMail } from "../../server/features/mail/service.ts";
import { createLog } from "../../server/kernel/log.ts";

/** The commands as a person would call them, beside a running appliance on the same data folder. */

let folder: string;
let env: Record<string, string>;
let appliance: Appliance;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-cli-"));
  env = {
    SIGNET_DATA_DIR: path.join(folder, "data"),
    SIGNET_PORT: "0",
    SIGNET_LOG_LEVEL: "silent",
    SIGNET_ANCHOR_INTERVAL_SECONDS: "1",
  };
  appliance = await startAppliance({ config: loadConfig(env), log: createLog("silent") });
});
afterAll(async () => {
  await appliance.stop(2000);
  await rm(folder, { recursive: true, force: true });
});

async function signet(
  args: string[],
  input = "",
): Promise<{ code: number; out: string; err: string; json: () => Record<string, unknown> }> {
  let out = "";
  let err = "";
  const code = await runCli(args, env, {
    stdout: (text) => {
      out += text;
    },
    stderr: (text) => {
      err += text;
    },
    stdin: (async function* () {
      yield input;
    })(),
    interactive: false,
    onSignal: () => undefined,
  });
  return { code, out, err, json: () => JSON.parse(out) };
}

describe("wrong calls", () => {
  test("an unknown command, a missing option and an unknown option exit with 2 and the usage", async () => {
    expect((await signet(["frobnicate"])).code).toBe(2);
    const missing = await signet(["init", "--email", "a@example.com"]);
    expect(missing).toMatchObject({ code: 2, out: "" });
    expect(missing.err).toContain("--organization is required");
    expect((await signet(["api-key", "create", "--colour", "red"])).code).toBe(2);
  });

  test("help is on standard output", async () => {
    const help = await signet(["--help"]);
    expect(help.code).toBe(0);
    for (const name of ["init", "serve", "first-link", "api-key", "outbox", "jobs", "fsck", "verify", "demo", "doctor"])
      expect(help.out).toContain(name);
    expect((await signet(["verify", "--help"])).out).toContain("exit code");
  });

  test("a wrong setting is one line", async () => {
    env.SIGNET_COLOUR = "red";
    const wrong = await signet(["doctor"]);
    delete env.SIGNET_COLOUR;
    expect(wrong.code).toBe(2);
    expect(wrong.err.trim().split("\n")).toHaveLength(1);
    expect(wrong.err).toContain("SIGNET_COLOUR");
  });
});

describe("the main job from the command line", () => {
  let key: string;

  test("init makes an organization; a short password and a second account are refused with a reason", async () => {
    const short = await signet(
      ["init", "--organization", "Example Ltd", "--email", "owner@example.com", "--password-stdin", "--json"],
      "short\n",
    );
    expect(short.code).toBe(1);
    expect(short.json()).toMatchObject({ code: "validation-failed" });
    const made = await signet(
      ["init", "--organization", "Example Ltd", "--email", "owner@example.com", "--password-stdin", "--json"],
      "a long enough password\n",
    );
    expect(made.code).toBe(0);
    expect(made.json()).toMatchObject({
      organization: expect.stringMatching(/^org_/),
      user: expect.stringMatching(/^usr_/),
    });
    const second = await signet(["init", "--organization", "Other", "--email", "other@example.com", "--json"]);
    expect(second.code).toBe(1);
    const again = await signet([
      "init",
      "--additional",
      "--organization",
      "O",
      "--email",
      "OWNER@example.com",
      "--json",
    ]);
    expect(again.json()).toMatchObject({ code: "conflict" });
  });

  test("api-key creates, lists and revokes; a revoked key is dead when the command returns", async () => {
    const made = (await signet(["api-key", "create", "--name", "first", "--mode", "live", "--json"])).json();
    key = String(made.key);
    expect(key).toMatch(/^svc_live_/);
    const second = (
      await signet(["api-key", "create", "--name", "second", "--mode", "test", "--scopes", "envelope:read", "--json"])
    ).json();
    expect(second.scopes).toEqual(["envelope:read"]);
    const call = () => fetch(`${appliance.url}/v1/envelopes`, { headers: { "x-api-key": String(second.key) } });
    expect((await call()).status).toBe(200);
    const listed = await signet(["api-key", "list"]);
    expect(listed.out).toContain("second");
    expect(listed.out).not.toContain(String(second.key));
    expect((await signet(["api-key", "revoke", String(second.id)])).code).toBe(0);
    expect((await call()).status).toBe(401);
    expect((await signet(["api-key", "revoke", String(second.id)])).code).toBe(1);
  });

  test("verify proves the sealed file, and nothing else; fsck and doctor are content; the outbox shows the links", {
    timeout: 120_000,
  }, async () => {
    const client = createClient(appliance.url, key);
    const { template } = await publishTemplate(
      client,
      await readFile(path.resolve(import.meta.dirname, "../fixtures/pdf/lecture.pdf")),
    );
    const envelope = await sendEnvelope(client, template.id);
    const mailbox = () => listMail(appliance.deps.db.read, appliance.deps, {});
    for (const person of people) await signAs(appliance.url, person, await linkFor(mailbox, person.email), mailbox);
    const sealed = await waitForSeal(client, envelope.id);
    await waitForAnchor(appliance.url, sealed.sealedSha256 ?? "");
    const file = path.join(folder, "sealed.pdf");
    const bytes = await client.bytes(`/v1/envelopes/${envelope.id}/document?version=sealed`);
    await writeFile(file, bytes);

    const proven = await signet(["verify", file]);
    expect({ code: proven.code, out: proven.out }).toMatchObject({ code: 0, out: expect.stringContaining("Proven") });

    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    await writeFile(file, bytes);
    const broken = await signet(["verify", file, "--json"]);
    expect(broken.code).toBe(1);
    // Its bytes are those of no file that was sealed here.
    expect(broken.json()).toMatchObject({ verdict: "unknown" });
    expect((await signet(["verify", path.join(folder, "missing.pdf")])).code).toBe(1);

    const outbox = await signet(["outbox", "--to", people[0].email]);
    expect(outbox.out).toContain("/sign#");
    // Oldest first; the last one alone on demand, and its words only when asked for.
    const times = [...outbox.out.matchAll(/^\d{4}-\S+Z/gm)].map(([time]) => time);
    expect(times).toEqual(times.toSorted());
    const last = await signet(["outbox", "--to", people[0].email, "--last", "1"]);
    expect(last.out.match(/^\d{4}-\S+Z/gm)).toEqual(times.slice(-1));
    const full = await signet(["outbox", "--to", people[0].email, "--full"]);
    expect(full.out.length).toBeGreaterThan(outbox.out.length);
    expect((await signet(["outbox", "--last", "none"])).code).toBe(2);
    const checked = await signet(["fsck", "--json"]);
    expect(checked.json()).toMatchObject({ ok: true, problems: [] });
    const doctor = await signet(["doctor", "--json"]);
    expect(doctor.json()).toMatchObject({ ok: true });
    expect(doctor.out).not.toContain(key);
  });

  test("fsck finds a document that was changed on disk", async () => {
    const blob = await appliance.deps.db.read.selectFrom("envelopes").select("sealed_sha256").executeTakeFirstOrThrow();
    const sha256 = blob.sealed_sha256 ?? "";
    const file = path.join(folder, "data", "blobs", sha256.slice(0, 2), sha256.slice(2, 4), sha256);
    const bytes = await readFile(file);
    bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 1;
    await writeFile(file, bytes);
    const checked = await signet(["fsck"]);
    expect(checked.code).toBe(1);
    expect(checked.out).toContain(sha256);
  });
});

test("what the data folder holds is for its owner alone", async () => {
  for (const name of ["master.key", "signet.db"])
    expect((await stat(path.join(folder, "data", name))).mode & 0o077).toBe(0);
  expect((await stat(path.join(folder, "data"))).mode & 0o077).toBe(0);
});
