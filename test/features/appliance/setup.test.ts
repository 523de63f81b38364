import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { changeSettings } from "../../../server/features/appliance/settings-contract.ts";
import { getSetup, skipSetupStep } from "../../../server/features/appliance/setup-contract.ts";
import { administrator } from "../../harness/admin.ts";
import { startAppliance } from "../../harness/appliance.ts";
import { commandOn } from "../../harness/cli.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-setup-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const steps = (value: unknown) =>
  Object.fromEntries(
    (value as { steps: { step: string; state: string }[] }).steps.map(({ step, state }) => [step, state]),
  );

test("a file of answers sets up a machine on which nothing runs; a second time changes nothing", async () => {
  const data = path.join(folder, "data");
  const signet = commandOn(data);
  const answers = path.join(folder, "answers.yaml");
  await writeFile(
    answers,
    [
      "settings:",
      "  baseUrl: https://sign.example.com",
      "  smtpUrl: smtp://mailer:open-sesame@mail.example.com:587",
      "  mailFrom: Example Ltd <signet@example.com>",
      "  workers: 2",
      "owner: { organization: Example Ltd, email: olive@example.com, name: Olive Owner }",
      "skip: [tls, backup]",
    ].join("\n"),
  );
  const first = await signet("setup", "--answers", answers, "--json");
  expect(first.json()).toMatchObject({
    changed: [
      ...["settings.baseUrl", "settings.smtpUrl", "settings.mailFrom", "settings.workers"],
      ...["owner", "skip.tls", "skip.backup"],
    ],
    // Where people will open it, not where it listens until the next start.
    link: expect.stringMatching(/^https:\/\/sign\.example\.com\/password\/reset#svcr_/),
  });
  expect(first.out).not.toContain("open-sesame");
  const file = await readFile(path.join(data, "signet.json"), "utf8");
  const second = await signet("setup", "--answers", answers, "--json");
  expect(second.json()).toMatchObject({ changed: [], link: null });
  expect(await readFile(path.join(data, "signet.json"), "utf8")).toBe(file);
  // installer/linux/deploy looks for these words.
  expect(second.out).toContain('"step":"owner","state":"done"');
  expect(steps(second.json().setup)).toMatchObject({
    owner: "done",
    address: "done",
    mail: "done",
    tls: "skipped",
    backup: "skipped",
  });
  await writeFile(answers, "settings: { colour: red }\n");
  expect((await signet("setup", "--answers", answers)).code).toBe(2);
  await writeFile(answers, "settings: { backupRecipient: nonsense }\n");
  const wrong = await signet("setup", "--answers", answers, "--json");
  expect(wrong).toMatchObject({ code: 2, err: "" });
  expect(wrong.json()).toMatchObject({
    error: expect.stringContaining("backupRecipient"),
    code: "validation-failed",
    errors: [{ pointer: "#/changes/backupRecipient" }],
  });
  await writeFile(answers, "owner: { email: nobody }\n");
  expect(await signet("setup", "--answers", answers)).toMatchObject({ code: 2 });
  const missing = await signet("setup", "--answers", path.join(folder, "nowhere.yaml"));
  expect(missing).toMatchObject({ code: 2, err: expect.stringContaining("nowhere.yaml: there is no such file") });
});

test("a mail server without a sender of one's own is not set up; what is open names its command", async () => {
  const signet = commandOn(path.join(folder, "sender"));
  const answers = path.join(folder, "sender.yaml");
  const said = async (text: string) => {
    await writeFile(answers, text);
    return (await signet("setup", "--answers", answers)).out;
  };
  const without = await said("settings: { smtpUrl: 'smtp://mail.example.com' }");
  expect(without).toMatch(/^open +mail +Mails would come from Signet <signet@localhost>/m);
  expect(without).toMatch(/^mail +signet config set mailFrom=ADDRESS/m);
  expect(without).toMatch(/^backup +signet backup key /m);
  // A server on this machine may well take it.
  expect(await said("settings: { smtpUrl: 'smtp://127.0.0.1:25' }")).toMatch(/^done +mail /m);
  expect(await said("settings: { smtpUrl: 'smtp://[::1]:25' }")).toMatch(/^done +mail /m);
  // A password with a sign that should have been encoded: the test mail says so, and the steps go on.
  expect(await said("settings: { smtpUrl: 'smtp://mailer:pass/word@mail.example.com' }")).toMatch(/^\w+ +mail /m);
  const own = await said("settings: { smtpUrl: 'smtp://mail.example.com', mailFrom: signet@example.com }");
  expect(own).toMatch(/^done +mail +A mail server is set/m);
  expect(own).not.toMatch(/^mail +signet/m);
});

test("steps are judged as they will be after the restart that the new settings wait for", async () => {
  const data = path.join(folder, "network");
  const signet = commandOn(data);
  const answers = path.join(folder, "network.yaml");
  const tlsStep = async (text: string) => {
    await writeFile(answers, text);
    const { out } = await signet("setup", "--answers", answers);
    return out.split("\n").find((line) => / tls /.test(line));
  };
  expect(await tlsStep("skip: []")).toMatch(/^open +tls +Plain HTTP on this machine only/);
  expect(await tlsStep("settings: { host: 0.0.0.0 }")).toMatch(/^open +tls +The certificate is self-signed/);
  expect(await tlsStep("settings: { trustedProxies: [10.0.0.0/8] }")).toMatch(/^done +tls +A proxy terminates TLS/);

  const app = await startAppliance();
  try {
    await administrator(app).call(changeSettings, { body: { changes: { trustedProxies: "10.0.0.0/8" } } });
    const running = commandOn(app.folder);
    const shown = await running("setup");
    expect(shown.out).toMatch(/^Settings have changed: start Signet again.*\n/);
    expect(shown.out).toMatch(/^done +tls +A proxy terminates TLS/m);
    await writeFile(answers, "settings: { workers: 0 }");
    expect((await running("setup", "--answers", answers)).code).toBe(2);
  } finally {
    await app.stop();
  }
});

test("steps are read off from what is there; only some can be left out", async () => {
  const app = await startAppliance();
  try {
    const admin = administrator(app);
    expect(steps(await admin.call(getSetup, {}))).toMatchObject({
      owner: "done",
      address: "open",
      mail: "open",
      clock: "done",
    });
    const skip = (step: "mail" | "owner", value: boolean) =>
      admin.call(skipSetupStep, { params: { step }, body: { skip: value } });
    expect(steps(await skip("mail", true))).toMatchObject({ mail: "skipped", summary: "open" });
    await app.restart();
    expect(steps(await admin.call(getSetup, {}))).toMatchObject({ mail: "skipped" });
    expect(steps(await skip("mail", false))).toMatchObject({ mail: "open" });
    await expect(skip("owner", true)).rejects.toThrow("Nobody can do without this step: owner.");
  } finally {
    await app.stop();
  }
});
