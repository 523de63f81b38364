import { randomBytes } from "node:crypto";
import { access, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../../server/cli.ts";
import { recordSteps } from "../../server/features/evidence/findings.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { publishTemplate, send } from "../harness/scenario.ts";

/** The check of everything as a person calls it: watched, stopped, taken up again. */

let folder: string;
let app: TestAppliance;
let template: string;
const blobs = 28;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-fsck-"));
  app = await startAppliance({ folder });
  template = await publishTemplate(app);
  for (let round = 0; round < 3; round += 1) await send(app, template, { key: "test" });
  for (let round = 0; round < blobs; round += 1) await app.deps.blobs.put(randomBytes(1000 + round));
});
afterAll(async () => {
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

async function signet(args: string[], { interactive = false, stop = false, at = folder } = {}) {
  let out = "";
  let err = "";
  const code = await runCli(
    args,
    { SIGNET_DATA_DIR: at, SIGNET_LOG_LEVEL: "silent" },
    {
      stdout: (text) => {
        out += text;
      },
      stderr: (text) => {
        err += text;
      },
      stdin: (async function* () {
        yield "";
      })(),
      interactive,
      onSignal: (listener) => {
        if (stop) listener("SIGINT");
      },
    },
  );
  return { code, out, err };
}

const file = () => path.join(folder, "fsck-state.json");

test("a person sees a bar, a script one line of JSON with the speed", async () => {
  const watched = await signet(["fsck"], { interactive: true });
  expect(watched.code).toBe(0);
  for (const step of [...recordSteps, "files"]) expect(watched.err).toContain(step);
  expect(watched.err).toMatch(/[█░]{16} +\d+ % {2}files [█░]{16}/);
  expect(watched.out).toMatch(/MB\/s\)\.\nEverything is whole\.\n$/);
  const script = await signet(["fsck", "--json"], { interactive: true });
  expect(script.err).toBe("");
  const report = JSON.parse(script.out);
  expect(report).toMatchObject({ ok: true, checked: { envelopes: 3 }, read: { bytes: expect.any(Number) } });
  expect(report.checked.blobs).toBeGreaterThanOrEqual(blobs);
  expect(report.read.bytes).toBeGreaterThan(blobs * 1000);
});

test("one of a kind is one, and not several", async () => {
  const fresh = await mkdtemp(path.join(tmpdir(), "signet-fsck-one-"));
  try {
    await signet(["config", "set", "workers=2"], { at: fresh });
    expect((await signet(["fsck"], { at: fresh })).out).toMatch(/ 1 operator's act, .* 0 leaves, /);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
});

test("stopped, it leaves where it stood, and goes on from there until everything was looked at once", async () => {
  const whole = JSON.parse((await signet(["fsck", "--json"])).out);
  let runs = 0;
  let last = await signet(["fsck"], { stop: true });
  expect(last).toMatchObject({ code: 130, err: expect.stringContaining("--resume") });
  for (; last.code === 130; runs += 1) {
    expect(JSON.parse(await readFile(file(), "utf8"))).toMatchObject({ v: 3 });
    last = await signet(["fsck", "--resume", "--json"], { stop: true });
  }
  // Seven steps, and a place behind the envelopes; files beside them.
  expect(runs).toBeGreaterThanOrEqual(8);
  expect(JSON.parse(last.out)).toMatchObject({ ok: true, checked: whole.checked, problems: [] });
  await expect(access(file())).rejects.toThrow();
});

test("what was found before the stop is still told at the end; without a stop it begins anew", async () => {
  const names = [];
  for await (const name of app.deps.blobs.list()) names.push(name);
  const [first = ""] = names;
  const damaged = path.join(folder, "blobs", first.slice(0, 2), first.slice(2, 4), first);
  const bytes = await readFile(damaged);
  await writeFile(damaged, bytes.subarray(0, 50));
  let last = await signet(["fsck"], { stop: true });
  while (last.code === 130) last = await signet(["fsck", "--resume"], { stop: true });
  expect(last.code).toBe(1);
  expect(last.out).toContain(first);
  await writeFile(damaged, bytes);
  const anew = await signet(["fsck", "--resume"]);
  expect(anew).toMatchObject({ code: 0, err: expect.stringContaining("begins anew") });
  await writeFile(file(), "not a state");
  expect((await signet(["fsck", "--resume"])).code).toBe(0);
});

test("a check that goes on says how many envelopes it does not look at, because they came since", async () => {
  const step = async () => JSON.parse(await readFile(file(), "utf8")).records.step;
  let last = await signet(["fsck"], { stop: true });
  while (last.code === 130 && (await step()) !== "tree") last = await signet(["fsck", "--resume"], { stop: true });
  await send(app, template, { key: "test" });
  last = await signet(["fsck", "--resume", "--json"]);
  expect(JSON.parse(last.out)).toMatchObject({
    ok: true,
    notes: [{ code: "resume-skipped", message: expect.stringMatching(/^1 were created since/) }],
  });
});
