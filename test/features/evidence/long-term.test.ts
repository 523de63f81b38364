import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { judgeSealedPdf } from "../../../server/commands/demo/judges.ts";
import { VerifyResult } from "../../../server/features/evidence/contract.ts";
import { extendSealed } from "../../../server/features/evidence/extending.ts";
import { fsck } from "../../../server/features/evidence/fsck/fsck.ts";
import { ownEvidence, verifyFile } from "../../../server/features/evidence/verify-file.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { type Authority, makeAuthority, opensslTimestamp } from "../../harness/authority.ts";
import { publishedAuthorities } from "../../harness/bundles.ts";
import { movableClock } from "../../harness/clock.ts";
import { textOf } from "../../harness/rendering.ts";
import { auditOf, enter, envelopeOf, ok, publishTemplate, send, submission } from "../../harness/scenario.ts";

/** Seals that last: with an outside authority over real HTTP that fails and returns, and a clock that is moved. */

// Each makes an appliance of its own and asks openssl for every time stamp.
vi.setConfig({ testTimeout: 120_000 });

const dayMs = 24 * 60 * 60 * 1000;
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

let folder: string;
let outside: Authority;
let server: Server;
let base: string;
/** What the outside authority does now. */
let stamps: "good" | "down";
/** The stamp over each of the two signatures is answered; the document timestamps between them, and later, are not. */
let onlySignatures: boolean;
let queries: number;
let lists: "good" | "down";
let listsAsked: number;

function answer(target: string, query: Buffer, response: ServerResponse): void {
  if (target === "/ca.crl") {
    listsAsked += 1;
    if (lists === "down") response.writeHead(503).end();
    else response.writeHead(200, { "content-type": "application/pkix-crl" }).end(outside.revocationList());
    return;
  }
  if (stamps === "down") {
    response.writeHead(500).end();
    return;
  }
  queries += 1;
  if (onlySignatures && queries !== 1 && queries !== 3) {
    response.writeHead(503).end();
    return;
  }
  const body = opensslTimestamp(query, outside);
  response.writeHead(200, { "content-type": "application/timestamp-reply" }).end(body);
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-long-"));
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => answer(request.url ?? "", Buffer.concat(chunks), response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const options = { name: "Outside", seal: "ec-p256", listUrl: `${base}/ca.crl`, timestampDays: 400 } as const;
  outside = makeAuthority(options);
});
beforeEach(() => {
  stamps = "good";
  onlySignatures = false;
  queries = 0;
  lists = "good";
  listsAsked = 0;
});
let app: TestAppliance | undefined;
afterEach(async () => {
  await app?.stop();
  app = undefined;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  outside.close();
  await rm(folder, { recursive: true, force: true });
});

const clockNow = () => movableClock(new Date().toISOString());
type Clock = ReturnType<typeof movableClock>;

async function start(clock: Clock, env: Record<string, string> = {}): Promise<TestAppliance> {
  const { port } = new URL(base);
  app = await startAppliance({
    clock,
    env: {
      SIGNET_TSA_URLS: `${base}/tsa`,
      SIGNET_OUTBOUND_ALLOW: `tsa=127.0.0.1:${port},crl=127.0.0.1:${port}`,
      SIGNET_CA_FILE: outside.caPem,
      ...env,
    },
  });
  return app;
}

async function completed(on: TestAppliance, clock: Clock): Promise<string> {
  const template = await publishTemplate(on);
  clock.advance(1000);
  const { id } = await send(on, template);
  for (const email of ["ada@example.com", "ben@example.com"]) {
    clock.advance(1000);
    const bearer = await enter(on, email);
    await ok(on, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(on, bearer) });
    await on.jobs.idle();
  }
  return id;
}

async function documentOf(on: TestAppliance, id: string, version: "sealed" | "certificate"): Promise<Buffer> {
  const response = await on.call(`/v1/envelopes/${id}/document?version=${version}`);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

async function later(on: TestAppliance, clock: Clock, ms: number): Promise<void> {
  clock.advance(ms);
  on.jobs.wake();
  await on.jobs.idle();
}

/** Judged from outside, by our own verification, and by fsck. */
async function expectWhole(on: TestAppliance, id: string, level: "B-T" | "B-LT" | "B-LTA"): Promise<void> {
  const pem = path.join(folder, "published.pem");
  await writeFile(pem, await publishedAuthorities(on));
  const { source, pins } = await ownEvidence(on.deps);
  const sealed = await documentOf(on, id, "sealed");
  for (const version of ["sealed", "certificate"] as const) {
    const file = path.join(folder, `${version}.pdf`);
    await writeFile(file, await documentOf(on, id, version));
    // What stands behind the signature of B-LT is signed by nobody, which these two say.
    const verdicts = await judgeSealedPdf(file, pem);
    const unhappy = verdicts.filter((one) => !one.ok && (level !== "B-LT" || !/pdfsig|mutool/.test(one.judge)));
    expect(unhappy).toEqual([]);
  }
  const report = await verifyFile(on.deps, sealed, source, pins);
  expect(report).toMatchObject({ exitCode: 0, verdict: "valid", problems: [], seals: { valid: true, level } });
  expect((await fsck(on.deps)).problems).toEqual([]);
}

const entriesOf = async (on: TestAppliance, id: string, type: string) =>
  (await auditOf(on, id)).data.filter((entry) => entry.type === type);

async function lookUp(on: TestAppliance, hash: string): Promise<VerifyResult> {
  return VerifyResult.parse((await ok(on, 200, "/v1/public/verify", { key: null, json: { sha256: hash } })).body);
}

test("an outside authority with its revocation list gives B-LTA", async () => {
  const clock = clockNow();
  const on = await start(clock);
  const id = await completed(on, clock);
  expect(await envelopeOf(on, id)).toMatchObject({ seal: "sealed", sealLevel: "B-LTA" });
  expect(listsAsked).toBeGreaterThan(0);
  await expectWhole(on, id, "B-LTA");
  expect(await entriesOf(on, id, "envelope.seal_extended")).toEqual([]);
});

describe("a seal that fell short", () => {
  test.each(["B-T", "B-LT"] as const)(
    "at %s is stated, raised by appending, and told to nobody again",
    async (level) => {
      const clock = clockNow();
      const on = await start(clock, { SIGNET_TSA_FALLBACK: "false" });
      if (level === "B-T") lists = "down";
      else onlySignatures = true;
      const id = await completed(on, clock);
      const first = await envelopeOf(on, id);
      expect(first).toMatchObject({ seal: "sealed", sealLevel: level });
      expect((await entriesOf(on, id, "envelope.sealed"))[0]?.data).toMatchObject({ level });
      await expectWhole(on, id, level);
      const before = await documentOf(on, id, "sealed");
      const standalone = textOf(await documentOf(on, id, "certificate")).replace(/\s+/g, " ");
      expect(standalone).toContain(`PAdES ${level} when it was sealed; the settings ask for B-LTA`);
      expect(standalone).toContain("the level B-LTA could not be reached");
      const mails = (await on.mail()).length;

      // It is still away at the first attempt.
      await later(on, clock, 61_000);
      expect(await envelopeOf(on, id)).toMatchObject({ sealLevel: level, sealedSha256: first.sealedSha256 });
      lists = "good";
      stamps = "good";
      onlySignatures = false;
      for (let wait = 1000; wait < 10_000; wait *= 2) await later(on, clock, wait);

      const raised = await envelopeOf(on, id);
      expect(raised).toMatchObject({ seal: "sealed", sealLevel: "B-LTA", sealedAt: first.sealedAt });
      const after = await documentOf(on, id, "sealed");
      expect(after.subarray(0, before.length).equals(before)).toBe(true);
      expect(sha256(after)).toBe(raised.sealedSha256);
      expect((await entriesOf(on, id, "envelope.seal_extended")).map(({ data }) => data)).toEqual([
        {
          sealedSha256: raised.sealedSha256,
          certificateSha256: sha256(await documentOf(on, id, "certificate")),
          level: "B-LTA",
        },
      ]);
      await expectWhole(on, id, "B-LTA");
      expect(await on.mail()).toHaveLength(mails);
      // Every version is found.
      expect(await lookUp(on, sha256(before))).toMatchObject({ status: "anchored" });
      expect(await lookUp(on, sha256(after))).toMatchObject({ status: "anchored", envelope: { id } });
      // Nothing is left to do.
      await later(on, clock, dayMs);
      expect(await envelopeOf(on, id)).toMatchObject({ sealedSha256: raised.sealedSha256 });
    },
  );

  test("two extensions at once end in one", async () => {
    const clock = clockNow();
    const on = await start(clock);
    lists = "down";
    const id = await completed(on, clock);
    lists = "good";
    const commits = await Promise.all([1, 2].map(() => extendSealed(on.deps, id, AbortSignal.timeout(60_000))));
    for (const commit of commits) if (commit) await on.deps.db.tx(commit);
    await later(on, clock, 120_000);
    expect(await entriesOf(on, id, "envelope.seal_extended")).toHaveLength(1);
    await expectWhole(on, id, "B-LTA");
  });
});

test.each(["B-T", "B-LT"] as const)("the level of the settings is not exceeded: %s", async (level) => {
  const clock = clockNow();
  const on = await start(clock, { SIGNET_TSA_URLS: "", SIGNET_SEAL_LEVEL: level });
  const id = await completed(on, clock);
  expect(await envelopeOf(on, id)).toMatchObject({ sealLevel: level });
  await expectWhole(on, id, level);
  await later(on, clock, dayMs);
  expect(await entriesOf(on, id, "envelope.seal_extended")).toEqual([]);
});

test("a seal is renewed before the certificate of its document timestamp ends", async () => {
  const clock = clockNow();
  const on = await start(clock);
  const id = await completed(on, clock);
  const before = await documentOf(on, id, "sealed");
  const mails = (await on.mail()).length;
  // 400 days, renewed when a quarter is left: until then nothing happens.
  for (let month = 0; month < 9; month += 1) await later(on, clock, 30 * dayMs);
  expect(await entriesOf(on, id, "envelope.seal_extended")).toEqual([]);
  // The outside authority is gone for good; its clock would not be ours any more either.
  stamps = "down";
  lists = "down";
  for (let step = 0; step < 4; step += 1) await later(on, clock, 10 * dayMs);

  expect(await entriesOf(on, id, "envelope.seal_extended")).toHaveLength(1);
  const after = await documentOf(on, id, "sealed");
  expect(after.subarray(0, before.length).equals(before)).toBe(true);
  const { source, pins } = await ownEvidence(on.deps);
  const { seals, verdict } = await verifyFile(on.deps, after, source, pins);
  expect({ verdict, level: seals.level, valid: seals.valid }).toEqual({
    verdict: "valid",
    level: "B-LTA",
    valid: true,
  });
  expect(seals.signatures.map(({ kind }) => kind)).toEqual(["seal", "document-timestamp", "document-timestamp"]);
  expect(Date.parse(seals.protectedUntil ?? "")).toBeGreaterThan(clock.now() + 1000 * dayMs);
  expect(seals.signatures[1]?.later).toEqual(["validation-data", "document-timestamp"]);
  expect((await fsck(on.deps)).problems).toEqual([]);
  expect(await on.mail()).toHaveLength(mails);
  // And not again.
  await later(on, clock, 30 * dayMs);
  expect(await entriesOf(on, id, "envelope.seal_extended")).toHaveLength(1);
});

describe("seals below the level of the settings that nothing was going to raise", () => {
  const many = 6;

  /** Sealed at B-T because the settings asked for no more. @returns their ids */
  async function sealedLow(on: TestAppliance, clock: Clock): Promise<string[]> {
    const template = await publishTemplate(on);
    const ids: string[] = [];
    for (let n = 0; n < many; n += 1) {
      clock.advance(1000);
      ids.push((await send(on, template)).id);
      for (const email of ["ada@example.com", "ben@example.com"]) {
        clock.advance(1000);
        const bearer = await enter(on, email);
        await ok(on, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(on, bearer) });
        await on.jobs.idle();
      }
    }
    return ids;
  }

  test("are found at the start, and raised a few at a time", async () => {
    const clock = clockNow();
    const env = { SIGNET_TSA_URLS: "", SIGNET_SEAL_LEVEL: "B-T" };
    const on = await start(clock, env);
    const ids = await sealedLow(on, clock);
    await on.restart();
    await on.jobs.idle();
    // Nothing has changed, so that nothing is queued.
    expect(await jobsNamed(on, "evidence.raise")).toEqual([]);

    // The operator asks for more.
    Object.assign(on.config, { sealLevel: "B-LTA" });
    await on.restart();
    await on.jobs.idle();
    const levels = async () => await Promise.all(ids.map(async (id) => (await envelopeOf(on, id)).sealLevel));
    const raised = async () => (await levels()).filter((level) => level === "B-LTA").length;
    expect(await raised()).toBe(4);
    expect(await jobsNamed(on, "evidence.extend")).toEqual([]);
    await later(on, clock, 1000);
    expect(await raised()).toBe(many);
    // The anchor over the last of them.
    await later(on, clock, 2000);
    for (const id of ids) expect(await entriesOf(on, id, "envelope.seal_extended")).toHaveLength(1);
    await expectWhole(on, ids.at(-1) ?? "", "B-LTA");

    // One more look a day later finds nothing, and then nothing looks any more.
    await later(on, clock, dayMs);
    expect(await jobsNamed(on, "evidence.raise")).toEqual([]);
    for (const id of ids) expect(await entriesOf(on, id, "envelope.seal_extended")).toHaveLength(1);
    // They are renewed like any other, also when the job for that was lost.
    await on.deps.db.tx((tx) => tx.deleteFrom("jobs").where("name", "=", "evidence.renew").execute());
    await on.restart();
    await on.jobs.idle();
    expect(await jobsNamed(on, "evidence.renew")).toHaveLength(1);
  });
});

const jobsNamed = (on: TestAppliance, name: string) =>
  on.deps.db.read.selectFrom("jobs").select("id").where("name", "=", name).execute();

test("a damaged file is not extended until it is whole again", async () => {
  const clock = clockNow();
  const on = await start(clock);
  lists = "down";
  const id = await completed(on, clock);
  lists = "good";
  const { sealedSha256 } = await envelopeOf(on, id);
  const hash = sealedSha256 ?? "";
  const file = path.join(on.folder, "blobs", hash.slice(0, 2), hash.slice(2, 4), hash);
  const bytes = await readFile(file);
  const broken = Buffer.from(bytes);
  broken[100] = (broken[100] ?? 0) ^ 1;
  await writeFile(file, broken);
  await later(on, clock, 61_000);
  expect(await envelopeOf(on, id)).toMatchObject({ sealLevel: "B-T", sealedSha256: hash });
  await writeFile(file, bytes);
  for (let wait = 1000; wait < 10_000; wait *= 2) await later(on, clock, wait);
  expect(await envelopeOf(on, id)).toMatchObject({ sealLevel: "B-LTA" });
});
