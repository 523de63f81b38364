import { type FSWatcher, watch } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { requestSignInCode } from "../../../server/features/sign-in/code-sign-in.ts";
import { type Clock, toTs } from "../../../server/kernel/clock.ts";
import type { TestAppliance } from "../../harness/appliance.ts";
import { addPerson, auth, mailsTo, otherPassword, startSignIn } from "../../harness/sign-in.ts";
import { type SmtpSink, startSmtpSink } from "../../harness/smtp.ts";

// What follows an answer must be the same work whether or not the address has an account: who asks could time the next requests.

type Step = { path: string; json: (email: string) => unknown };
const steps: [string, Step][] = [
  ["a code", { path: "/auth/codes", json: (email) => ({ email }) }],
  ["a link", { path: "/auth/magic-links", json: (email) => ({ email }) }],
  ["a reset", { path: "/auth/password/forgot", json: (email) => ({ email }) }],
  ["an account", { path: "/auth/sign-up", json: (email) => ({ email, password: otherPassword, name: "Someone" }) }],
];

let now = Date.parse("2026-11-21T09:10:00.000Z");
const clock: Clock = { now: () => now, ts: () => toTs(now) };

type Watched = { app: TestAppliance; work: string[] };

/** An appliance that says which jobs ran how far. */
async function start(env: Record<string, string> = {}): Promise<Watched> {
  const work: string[] = [];
  const onBoundary = (point: string) => {
    if (point.startsWith("job:sign-in.") || point.startsWith("job:mail.")) work.push(point);
  };
  const app = await startSignIn({ env, clock, onBoundary });
  onTestFinished(() => app.stop());
  return { app, work };
}

/** What the appliance does after it was asked. */
async function workFor({ app, work }: Watched, step: Step, email: string): Promise<string[]> {
  await app.jobs.idle();
  work.length = 0;
  expect((await auth(app, step.path, step.json(email))).status).toBe(202);
  await app.jobs.idle();
  return [...work];
}

const rowsTo = async ({ deps }: TestAppliance, email: string) =>
  await deps.db.read.selectFrom("mails").select("status").where("to_email", "=", email).execute();

const way = ["sign-in.mail", "mail.send"].flatMap((job) =>
  ["claimed", "effect-done", "committed"].map((point) => `job:${job}:${point}`),
);

describe("where mails are files", () => {
  test.each(steps)("%s: the same jobs run and a file is written, which stays for a person only", async (_, step) => {
    const watched = await start();
    const { app } = watched;
    const outbox = path.join(app.folder, "outbox");
    await mkdir(outbox, { recursive: true, mode: 0o700 });
    const person = await addPerson(app);
    for (const [email, stays] of [
      [person.email, 1],
      ["nobody@example.com", 0],
    ] as const) {
      const before = await readdir(outbox);
      const drafts = draftsIn(outbox);
      expect(await workFor(watched, step, email)).toEqual(way);
      await drafts;
      expect((await readdir(outbox)).length - before.length).toBe(stays);
      expect(await rowsTo(app, email)).toHaveLength(stays);
      expect(await mailsTo(app, email)).toHaveLength(stays);
    }
  });

  /** Resolves when a draft of a mail was begun in the folder. */
  function draftsIn(folder: string): Promise<void> {
    let watcher: FSWatcher | undefined;
    return new Promise<void>((resolve) => {
      watcher = watch(folder, (_, name) => {
        if (name?.endsWith(".tmp")) resolve();
      });
    }).finally(() => watcher?.close());
  }
});

describe("with a mail server", () => {
  async function withServer(): Promise<Watched & { sink: SmtpSink }> {
    const sink = await startSmtpSink();
    onTestFinished(() => sink.close());
    return { sink, ...(await start({ SIGNET_SMTP_URL: sink.url, SIGNET_BASE_URL: "https://sign.example.com" })) };
  }
  // The public name leads nowhere in a test, so the call is made from behind it.
  const ask = async ({ app, work }: Watched, email: string): Promise<string[]> => {
    await app.jobs.idle();
    work.length = 0;
    await requestSignInCode(app.deps, { email });
    await app.jobs.idle();
    return [...work];
  };

  test("each has a connection of its own, and only a person is named over it", async () => {
    const watched = await withServer();
    const { app, sink } = watched;
    const person = await addPerson(app);
    for (const [email, got] of [
      [person.email, 1],
      ["nobody@example.com", 1],
      [person.email, 2],
      ["nobody@example.net", 2],
    ] as const) {
      const before = sink.connections();
      expect(await ask(watched, email)).toEqual(way);
      expect(sink.connections() - before).toBe(1);
      expect([sink.offered(), sink.received.length]).toEqual([got, got]);
    }
    expect(new Set(sink.received.flatMap(({ to }) => to))).toEqual(new Set([person.email]));
    expect(await rowsTo(app, "nobody@example.com")).toEqual([]);
  });

  test("one that is away is asked again for both at the same times, and nobody's mail is shown to operators", async () => {
    const watched = await withServer();
    const { app, sink } = watched;
    const person = await addPerson(app);
    await sink.close();
    for (const email of [person.email, "nobody@example.com"]) await ask(watched, email);
    const waiting = () =>
      app.deps.db.read.selectFrom("jobs").select(["name", "queue", "attempts", "run_at", "status"]).execute();
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const [first, second, ...more] = (await waiting()).filter(({ name }) => name === "mail.send");
      expect(first).toMatchObject({ attempts: attempt, status: "queued" });
      expect([second, more]).toEqual([first, []]);
      now = first?.run_at ?? 0;
      app.jobs.wake();
      await app.jobs.idle();
    }
    expect((await app.mail()).map(({ to, status }) => [to.email, status])).toEqual([[person.email, "queued"]]);
  });

  test("of a link that would lead nowhere nothing is left for nobody", async () => {
    const sink = await startSmtpSink();
    onTestFinished(() => sink.close());
    const watched = await start({ SIGNET_SMTP_URL: sink.url });
    const { app } = watched;
    const link = steps[1]?.[1];
    if (!link) throw new Error("no step");
    const person = await addPerson(app);
    const known = await workFor(watched, link, person.email);
    expect(await workFor(watched, link, "nobody@example.com")).toEqual(known);
    expect(known).toEqual(way.slice(0, 3));
    expect(await rowsTo(app, person.email)).toEqual([{ status: "held" }]);
    expect(await rowsTo(app, "nobody@example.com")).toEqual([]);
    expect(sink.connections()).toBe(0);
  });
});
