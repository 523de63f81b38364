import { afterAll, beforeAll, expect, test } from "vitest";
import { messageOf, textOf } from "../../../server/features/mail/messages.ts";
import { queueMail } from "../../../server/features/mail/service.ts";
import { mailSignIn } from "../../../server/features/sign-in/jobs.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";

let app: TestAppliance;
beforeAll(async () => {
  app = await startAppliance();
});
afterAll(() => app.stop());

test("mails about accounts wait in a queue of their own, those about signing never behind them", async () => {
  const common = { envelope: null, testMode: false, to: { email: "a@example.com", name: null }, locale: "en" };
  const queues = await app.deps.db.tx(async (tx) => {
    const content = { kind: "sign_in_code" as const, code: "123456", minutes: 10 };
    await queueMail(tx, app.deps, { ...common, cause: "account", organization: null, content });
    const voided = { kind: "voided" as const, title: "T", reason: "R", sender: "S" };
    await queueMail(tx, app.deps, { ...common, cause: "signing", organization: app.organization, content: voided });
    const jobs = await tx.selectFrom("jobs").select("queue").where("name", "=", "mail.send").orderBy("id").execute();
    return jobs.map(({ queue }) => queue).sort();
  });
  expect(queues).toEqual(["account-mail", "mail"]);
  expect(mailSignIn.queue).toBe("account-mail");
  expect((await app.mail()).map(({ status }) => status)).toEqual(["written", "written"]);
});

test.each([
  ["en", /Passkeys and connected accounts go on/],
  ["de", /Passkeys und verbundene Konten melden weiterhin/],
])("the mail after a reset says what still signs in: %s", (locale, expected) => {
  const at = "2026-11-21T09:10:00.000Z";
  const content = { kind: "security_notice" as const, notice: "password_reset" as const, at };
  const about = { locale, organization: "Signet", address: "a@example.com", attached: false };
  expect(textOf(messageOf(content, about)).replaceAll(/\s+/g, " ")).toMatch(expected);
});
