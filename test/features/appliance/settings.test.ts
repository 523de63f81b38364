import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { changeSettings, listSettings } from "../../../server/features/appliance/settings-contract.ts";
import { listOperatorAudit } from "../../../server/features/operators/contract.ts";
import { LocalProblem } from "../../../server/local-client.ts";
import { administrator } from "../../harness/admin.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { commandOn } from "../../harness/cli.ts";

let app: TestAppliance;
let admin: ReturnType<typeof administrator>;
beforeAll(async () => {
  app = await startAppliance();
  admin = administrator(app);
});
afterAll(() => app.stop());

const change = (changes: Record<string, string | null>) => admin.call(changeSettings, { body: { changes } });
const setting = async (key: string) => (await admin.call(listSettings, {})).data.find((one) => one.key === key);

test("settings say their value, their source and what may be chosen; secrets are never shown", async () => {
  expect(await setting("port")).toMatchObject({ value: "0", source: "environment", variable: "SIGNET_PORT" });
  expect(await setting("sealLevel")).toMatchObject({
    value: "B-LTA",
    source: "default",
    choices: ["B-T", "B-LT", "B-LTA"],
  });
  await change({ smtpUrl: "smtp://user:hunter2@mail.example.com:587" });
  expect(await setting("smtpUrl")).toMatchObject({ value: null, isSet: true, secret: true, pending: true });
  expect(JSON.stringify(await admin.call(listSettings, {}))).not.toContain("hunter2");
  expect(JSON.stringify(await admin.call(listOperatorAudit, {}))).not.toContain("hunter2");
});

test("changes are written for the owner's eyes, wait for the next start, and are taken out with null", async () => {
  const answer = await change({ sealLevel: "B-LT", tsaUrls: "https://a.example/tsa, https://b.example/tsa" });
  expect(answer.restartNeeded).toBe(true);
  const file = path.join(app.folder, "signet.json");
  expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ sealLevel: "B-LT" });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(app.deps.config.sealLevel).toBe("B-LTA");
  await change({ smtpUrl: null, sealLevel: null, tsaUrls: null });
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({});
  expect((await admin.call(listSettings, {})).restartNeeded).toBe(false);
});

test("of changes that come at the same time none is lost", async () => {
  const wanted = { sealLevel: "B-LT", tsaUrls: "https://a.example/tsa", mailFrom: "A <a@b.example>", workers: "2" };
  await Promise.all(Object.entries(wanted).map(([key, value]) => change({ [key]: value })));
  const file = path.join(app.folder, "signet.json");
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual(wanted);
  // Two windows that change the same setting: one of both values, and nothing else is touched.
  await Promise.all([change({ workers: "3" }), change({ workers: "4" }), change({ sealLevel: null })]);
  const { sealLevel: _, ...others } = wanted;
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ ...others, workers: expect.stringMatching(/^[34]$/) });
  await change({ tsaUrls: null, mailFrom: null, workers: null });
});

test.each([
  [{ prot: "1" }, "#/changes/prot", /no setting "prot"/],
  [{ sealLevel: "B-B" }, "#/changes/sealLevel", /sealLevel/],
  [{ workers: "0" }, "#/changes/workers", /whole number from 1 to 64/],
  [{ tlsCert: "/x.pem", mailFrom: "A <a@b.example>" }, "#/changes/tlsCert", /go together/],
  [{ dataDir: "/elsewhere" }, "#/changes/dataDir", /can be changed/],
] as const)("%o is refused, and nothing of it is written", async (changes, pointer, message) => {
  const refused = change({ ...changes });
  await expect(refused).rejects.toThrow(message);
  await expect(refused).rejects.toMatchObject({ problem: { code: "validation-failed", errors: [{ pointer }] } });
  expect((await admin.call(listSettings, {})).data.filter(({ source }) => source === "file")).toEqual([]);
});

test("a setting that cannot be used ends the command with 2, where the appliance runs and where it does not", async () => {
  const stopped = await mkdtemp(path.join(tmpdir(), "signet-settings-"));
  try {
    for (const folder of [app.folder, stopped]) {
      const signet = commandOn(folder);
      expect(await signet("config", "set", "workers=abc")).toMatchObject({
        code: 2,
        err: expect.stringMatching(/^signet: SIGNET_WORKERS .* cannot be used: use a whole number from 1 to 64\n$/),
      });
      expect((await signet("config", "set", "prot=1", "--json")).json()).toMatchObject({
        code: "validation-failed",
        errors: [{ pointer: "#/changes/prot" }],
      });
      for (const name of ["__proto__", "constructor", "toString", "dataDir"])
        expect(await signet("config", "set", "logLevel=warn", `${name}=x`), name).toMatchObject({
          code: 2,
          err: `signet: There is no setting "${name}" that can be changed.\n`,
        });
    }
    // What the environment holds is no wrong value.
    expect((await commandOn(app.folder)("config", "set", "port=9000")).code).toBe(1);
  } finally {
    await rm(stopped, { recursive: true, force: true });
  }
});

test("a name that every object has is no setting in the file either", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-settings-"));
  try {
    await writeFile(path.join(folder, "signet.json"), '{"constructor":"x"}');
    expect(await commandOn(folder)("config", "check")).toMatchObject({
      code: 2,
      err: expect.stringContaining("constructor is not a setting"),
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("a variable that is mistyped is told with the one that was meant, and where all of them stand", async () => {
  const said = async (variable: string) => (await commandOn(app.folder, { [variable]: "1" })("config", "check")).err;
  expect(await said("SIGNET_PROT")).toContain("did you mean SIGNET_PORT? Without it, signet config get lists");
  expect(await said("SIGNET_COMPLETELY_ELSE")).toMatch(/is not a setting: take it out; then signet config get lists/);
});

test("what the environment sets cannot be changed here, and the answer says where", async () => {
  const refused = change({ port: "9000" });
  await expect(refused).rejects.toThrow(LocalProblem);
  await expect(refused).rejects.toThrow(/SIGNET_PORT is set in the environment/);
});

test("a file that somebody damaged is named, not lost", async () => {
  const file = path.join(app.folder, "signet.json");
  await writeFile(file, "{");
  await expect(change({ sealLevel: "B-T" })).rejects.toThrow();
  expect(await readFile(file, "utf8")).toBe("{");
  await writeFile(file, "{}");
});
