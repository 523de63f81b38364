import { afterAll, beforeAll, expect, test } from "vitest";
import { listStuckWork, retryAllWork, retryWork } from "../../../server/features/appliance/work-contract.ts";
import { anchorNow, listManagedAnchors } from "../../../server/features/evidence/anchors/managed-contract.ts";
import { listManagedKeys, listTokenSlots, testSignKeys } from "../../../server/features/keys/managed-contract.ts";
import { getMailQueue, testMail } from "../../../server/features/mail/queue-contract.ts";
import { listOperatorAudit } from "../../../server/features/operators/contract.ts";
import {
  changeManagedOrganization,
  createManagedOrganization,
  listManagedOrganizations,
} from "../../../server/features/organization/managed-contract.ts";
import {
  endAnySession,
  listAccess,
  recoverOwner,
  revokeAccess,
  revokeAnyKey,
} from "../../../server/features/sign-in/access-contract.ts";
import { LocalProblem } from "../../../server/local-client.ts";
import { administrator } from "../../harness/admin.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { commandOn } from "../../harness/cli.ts";
import { type SmtpSink, startSmtpSink } from "../../harness/smtp.ts";
import { makeToken, softhsmModule } from "../../harness/softhsm.ts";

let app: TestAppliance;
beforeAll(async () => {
  app = await startAppliance();
});
afterAll(() => app.stop());

const problem = async (call: Promise<unknown>): Promise<string> => {
  const error = await call.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (!(error instanceof LocalProblem)) throw error ?? new Error("it did not fail");
  return error.problem.code;
};
const acts = async () => (await administrator(app).call(listOperatorAudit, {})).data.map(({ action }) => action);

test("organizations are created with a way in for a new owner, renamed, and given a plan that counts at once", async () => {
  const admin = administrator(app);
  const body = { name: "Second Ltd", owner: { email: "new@example.com" }, plan: "free" as const };
  const made = await admin.call(createManagedOrganization, { body });
  expect(made.link).toMatch(/\/password\/reset#svcr_/);
  // Whoever has an account needs no link.
  const again = await admin.call(createManagedOrganization, { body: { ...body, name: "Third Ltd" } });
  expect(again).toMatchObject({ owner: made.owner, link: null });
  const settings = async () => {
    const { body: found } = await app.json("/v1/organization/settings");
    return (found as { features: { viewerDocumentAccess: boolean } }).features.viewerDocumentAccess;
  };
  const id = app.organization;
  expect(await settings()).toBe(true);
  const changed = await admin.call(changeManagedOrganization, {
    params: { id },
    body: { plan: "free", name: "First Ltd" },
  });
  expect(changed).toMatchObject({ id, name: "First Ltd", plan: "free", ownPlan: "free", members: 1, owners: 1 });
  expect(await settings()).toBe(false);
  const signet = commandOn(app.folder);
  expect(await signet("org", "plan", "First Ltd", "default")).toMatchObject({
    code: 0,
    out: "First Ltd: platform (default)\n",
  });
  expect(await settings()).toBe(true);
  const all = await admin.call(listManagedOrganizations, {});
  expect(all.data.map(({ name, plan }) => [name, plan])).toEqual([
    ["First Ltd", "platform"],
    ["Second Ltd", "free"],
    ["Third Ltd", "free"],
  ]);
  expect(await problem(admin.call(changeManagedOrganization, { params: { id: "org_x" }, body: { name: "X" } }))).toBe(
    "not-found",
  );
  expect(await acts()).toEqual(
    expect.arrayContaining(["organization.created", "organization.renamed", "organization.plan_changed"]),
  );
});

test("sessions and keys of every organization are listed masked, and each can be ended", async () => {
  const admin = administrator(app);
  const cookie = await app.signIn();
  const me = () => app.call("/auth/session", { key: null, headers: { cookie } });
  expect((await me()).status).toBe(200);
  const { sessions, keys } = await admin.call(listAccess, { query: { email: app.owner.email } });
  expect(sessions[0]?.person).toEqual({ id: app.owner.id, email: "o***@example.com" });
  expect(JSON.stringify({ sessions, keys })).not.toContain(app.owner.email);
  expect(keys.map(({ name }) => name).sort()).toEqual(["live key", "test key"]);
  await admin.call(endAnySession, { params: { id: sessions[0]?.id ?? "" } });
  expect((await me()).status).toBe(401);
  expect(await problem(admin.call(endAnySession, { params: { id: sessions[0]?.id ?? "" } }))).toBe("not-found");
  const secret = await app.createKey("live");
  expect((await app.call("/v1/templates", { key: { bearer: secret } })).status).toBe(200);
  const newest = (await admin.call(listAccess, {})).keys.find(({ hint }) => hint.endsWith(secret.slice(-4)));
  await admin.call(revokeAnyKey, { params: { id: newest?.id ?? "" } });
  expect((await app.call("/v1/templates", { key: { bearer: secret } })).status).toBe(401);
});

test("everything of a person ends at once, and an owner gets back in with a link that works once", async () => {
  const admin = administrator(app);
  const [first, second] = [await app.signIn(), await app.signIn()];
  const made = await admin.call(recoverOwner, { body: { email: app.owner.email } });
  expect(made.sessionsEnded).toBe(2);
  for (const cookie of [first, second])
    expect((await app.call("/auth/session", { key: null, headers: { cookie } })).status).toBe(401);
  // A second recovery takes the first link back.
  const { code, json } = await commandOn(app.folder)("recover-owner", "--email", app.owner.email, "--json");
  expect(code).toBe(0);
  const reset = (link: string) =>
    app.call("/auth/password/reset", {
      key: null,
      json: { token: link.split("#")[1], password: "a long enough pass phrase" },
      headers: { origin: new URL(app.url).origin },
    });
  expect((await reset(made.link)).status).toBeGreaterThanOrEqual(400);
  expect((await reset(String(json().link))).status).toBeLessThan(300);
  expect((await reset(String(json().link))).status).toBeGreaterThanOrEqual(400);
  expect(await problem(admin.call(recoverOwner, { body: { email: "nobody@example.com" } }))).toBe("not-found");
  expect((await commandOn(app.folder)("recover-owner", "--email", "nobody@example.com")).code).toBe(1);
  await app.signIn();
  await app.createKey("test");
  const revoked = await admin.call(revokeAccess, { body: { email: app.owner.email, keys: false } });
  expect(revoked).toMatchObject({ sessions: 1, keys: 0 });
  expect(await acts()).toEqual(
    expect.arrayContaining(["access.owner_recovered", "access.revoked", "access.key_revoked"]),
  );
});

test("stuck work is named with what it belongs to, tried again one by one or all at once", async () => {
  const admin = administrator(app);
  await app.jobs.idle();
  await app.deps.db.tx(async (tx) => {
    await tx
      .insertInto("mails")
      .values({
        id: "msg_stuck",
        cause: "stuck",
        message_id: "<x@y>",
        organization: app.organization,
        envelope: null,
        test_mode: 0,
        kind: "code",
        to_email: "mary@example.com",
        to_name: null,
        locale: "en",
        subject: "Your code",
        content: null,
        status: "failed",
        held_for: null,
        error: "550 no such user",
        created_at: app.deps.clock.ts(),
        sent_at: null,
      })
      .execute();
    const job = {
      run_at: 0,
      lease_until: null,
      lease_by: null,
      dedupe_key: null,
      created_at: 1000,
      queue: "nobody-takes-this",
    };
    await tx
      .insertInto("jobs")
      .values([
        {
          ...job,
          id: "job_mail",
          name: "mail.send",
          payload: '{"mail":"msg_stuck"}',
          subject: "msg_stuck",
          attempts: 58,
          status: "dead",
          last_error: "550 no such user",
        },
        {
          ...job,
          id: "job_dead",
          name: "viewers.invite",
          payload: '{"envelope":"env_x"}',
          attempts: 25,
          status: "dead",
          last_error: "disk full",
        },
        {
          ...job,
          id: "job_slow",
          name: "evidence.anchor",
          payload: "{}",
          attempts: 4,
          status: "queued",
          last_error: "HSM away",
          run_at: 9_999_999_999_999,
        },
      ])
      .execute();
  });
  const { data, total } = await admin.call(listStuckWork, {});
  expect(total).toBe(3);
  const by = new Map(data.map((one) => [one.id, one]));
  expect(by.get("job_mail")).toMatchObject({
    state: "failed",
    recipient: "m***@example.com",
    organization: { id: app.organization, name: "First Ltd" },
    cause: "550 no such user",
    finalBecause: expect.stringContaining("send it again"),
    nextAttemptAt: null,
  });
  expect(by.get("job_slow")).toMatchObject({ state: "failing", attempts: 4, finalBecause: null });
  expect(await problem(admin.call(retryWork, { params: { id: "job_mail" } }))).toBe("conflict");
  expect(await admin.call(retryWork, { params: { id: "job_slow" } })).toEqual({
    id: "job_slow",
    name: "evidence.anchor",
  });
  expect(await problem(admin.call(retryWork, { params: { id: "job_none" } }))).toBe("not-found");
  expect(await admin.call(retryAllWork, {})).toEqual({ retried: 2, left: 1 });
  const rows = await app.deps.db.read
    .selectFrom("jobs")
    .select(["id", "status", "run_at"])
    .where("queue", "=", "nobody-takes-this")
    .execute();
  const due = rows
    .filter(({ status, run_at: at }) => status === "queued" && at <= app.deps.clock.now())
    .map(({ id }) => id);
  expect(due.sort()).toEqual(["job_dead", "job_slow"]);
  const queue = await admin.call(getMailQueue, {});
  expect(queue.data[0]).toMatchObject({
    id: "msg_stuck",
    to: "m***@example.com",
    cause: "550 no such user",
    attempts: 58,
  });
  expect((await acts()).filter((action) => action === "work.retried")).toHaveLength(3);
});

test("a mail is tried with candidate settings; the transcript shows the conversation without the password", async () => {
  const admin = administrator(app);
  const sink: SmtpSink = await startSmtpSink();
  try {
    const to = "ada@example.com";
    const done = await admin.call(testMail, { body: { to, smtpUrl: sink.url, mailFrom: "Signet <s@example.com>" } });
    expect(done).toMatchObject({ delivered: true, by: "smtp", error: null, action: null });
    expect(sink.received[0]?.to).toEqual([to]);
    const said = (side: string) => done.transcript.filter(({ from }) => from === side).map(({ text }) => text);
    expect(said("client").join("\n")).toMatch(/MAIL FROM:<s@example\.com>[\s\S]*RCPT TO:<ada@example\.com>/);
    expect(said("server").join("\n")).toMatch(/^220 /m);
    sink.refusals.push({ at: "rcpt", code: 550 });
    const refused = await commandOn(app.folder, {}, `${sink.url}\n`)("smtp", "test", "--to", to, "--url-stdin");
    expect(refused.code).toBe(1);
    expect(refused.out).toContain("550 refused");
    expect(refused.out).toContain("SIGNET_MAIL_FROM");
    // The server knows no sign-in: the password is offered to nobody, and shown to nobody.
    const withPassword = sink.url.replace("smtp://", "smtp://ada:open%2Fsesame-99@");
    const failed = await admin.call(testMail, { body: { to, smtpUrl: withPassword } });
    const text = JSON.stringify(failed);
    expect(text).not.toMatch(/sesame/);
    expect(text).not.toContain(Buffer.from("\0ada\0open/sesame-99").toString("base64"));
  } finally {
    await sink.close();
  }
  expect(await admin.call(testMail, { body: { to: "ada@example.com" } })).toMatchObject({
    delivered: true,
    by: "file",
  });
});

test("keys are listed and proven, a PKCS#11 library shows its tokens, and an anchor is signed on demand", async () => {
  const admin = administrator(app);
  const { data, token } = await admin.call(listManagedKeys, {});
  expect(token).toBeNull();
  expect(
    data
      .filter(({ state }) => state === "in-use")
      .map(({ use }) => use)
      .sort(),
  ).toEqual(["anchor", "ca", "seal", "timestamp"]);
  expect(JSON.stringify(data)).not.toContain("private");
  const proofs = await admin.call(testSignKeys, { body: {} });
  expect(proofs.data.map(({ use }) => use).sort()).toEqual(["anchor", "ca", "seal", "timestamp"]);
  expect(await problem(admin.call(testSignKeys, { body: { key: "zz" } }))).toBe("not-found");
  expect(await problem(admin.call(listTokenSlots, { body: {} }))).toBe("conflict");
  expect(await problem(admin.call(listTokenSlots, { body: { module: "/nothing/here.so" } }))).toBe("conflict");
  const hsm = makeToken();
  try {
    const slots = await admin.call(listTokenSlots, { body: { module: softhsmModule } });
    expect(slots.data).toContainEqual(expect.objectContaining({ label: "signet", initialized: true }));
  } finally {
    hsm.close();
  }
  const standing = await admin.call(listManagedAnchors, {});
  expect(standing).toMatchObject({ waiting: 0, treeSize: 0, witnesses: [], data: [] });
  expect(await admin.call(anchorNow, {})).toEqual({ sequence: null });
});
