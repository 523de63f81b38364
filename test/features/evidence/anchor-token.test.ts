import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tell } from "../../../server/features/evidence/anchors/witnesses.ts";
import { Anchor } from "../../../server/features/evidence/contract.ts";
import { fsck } from "../../../server/features/evidence/fsck/fsck.ts";
import { tellWitness } from "../../../server/features/evidence/jobs.ts";
import { ownEvidence, verifyBundle } from "../../../server/features/evidence/verify-file.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { type Authority, makeAuthority } from "../../harness/authority.ts";
import { sealedEnvelope } from "../../harness/bundles.ts";
import { movableClock } from "../../harness/clock.ts";
import { ok, publishTemplate } from "../../harness/scenario.ts";
import { type Forgery, forgedTimestamp } from "../../harness/tsa-faults.ts";

/** The time stamp of an anchor: asked for after the anchor is signed, verified, published, judged by openssl. */

const clock = movableClock(new Date(Date.now() - 240_000).toISOString());
let folder: string;
let outside: Authority;
let server: Server;
let forgery: Forgery | "down";
let asked = 0;
let app: TestAppliance;
let envelope: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-anchor-"));
  outside = makeAuthority({ name: "Outside", seal: "ec-p256" });
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      asked += 1;
      if (forgery === "down") return void response.writeHead(503).end();
      response.writeHead(200).end(forgedTimestamp(Buffer.concat(chunks), outside, forgery));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  forgery = "down";
  app = await startAppliance({
    clock,
    env: {
      SIGNET_ANCHOR_TIMESTAMP: "true",
      SIGNET_TSA_URLS: `http://127.0.0.1:${port}/tsa`,
      SIGNET_OUTBOUND_ALLOW: `tsa=127.0.0.1:${port}`,
      SIGNET_CA_FILE: outside.caPem,
      SIGNET_WITNESS_DIR: path.join(folder, "witness"),
    },
  });
  envelope = await sealedEnvelope(app, clock, await publishTemplate(app));
  await app.jobs.idle();
});
afterAll(async () => {
  await app?.stop();
  server?.close();
  outside?.close();
  await rm(folder, { recursive: true, force: true });
});

const anchorOne = async () => Anchor.parse((await ok(app, 200, "/v1/public/anchors/1", { key: null })).body);

test("an anchor never waits for its time stamp, and no token that does not hold is stored", async () => {
  expect(await anchorOne()).toMatchObject({ sequence: 1, timestampToken: null });
  for (const wrong of [{ nonce: null }, { imprint: Buffer.alloc(32) }, { at: "2020-06-01T00:00:00.000Z" }]) {
    const before = asked;
    forgery = wrong;
    clock.advance(40_000);
    await app.jobs.idle();
    expect(asked).toBeGreaterThan(before);
    expect((await anchorOne()).timestampToken).toBeNull();
  }
});

test("the token is published with its anchor, openssl verifies it, and witnesses hold the anchor as it was signed", async () => {
  const before = await anchorOne();
  forgery = {};
  clock.advance(130_000);
  await app.jobs.idle();
  const anchor = await anchorOne();
  expect({ ...anchor, timestampToken: null }).toEqual(before);
  const { body } = await ok(app, 200, "/v1/public/anchors", { key: null });
  expect(JSON.stringify(body)).toContain(anchor.timestampToken ?? "nothing");
  const file = path.join(folder, "token.der");
  await writeFile(file, Buffer.from(anchor.timestampToken ?? "", "base64"));
  const judge = (digest: string) =>
    execFileSync("openssl", ["ts", "-verify", "-token_in", "-in", file, "-digest", digest, "-CAfile", outside.caPem], {
      encoding: "utf8",
      stdio: "pipe",
    });
  expect(judge(anchor.anchorHash)).toContain("Verification: OK");
  expect(() => judge("0".repeat(64))).toThrow(/imprint mismatch/);
  const pem = await (await app.call("/.well-known/svc/timestamp-certificates.pem", { key: null })).text();
  expect(pem).toContain((await readFile(outside.caPem, "utf8")).trim());
  // Told again after the token came, the witness hears the same.
  await expect(tell(app.deps, tellWitness.payload.parse({ sequence: 1, witness: "folder" }))).resolves.toBeDefined();
  const held = Anchor.parse(JSON.parse(await readFile(path.join(folder, "witness/anchor-000000001.json"), "utf8")));
  expect(held).toEqual(before);
  expect((await fsck(app.deps)).problems).toEqual([]);
});

test("the evidence bundle holds the token, and signet verify checks it", async () => {
  const archive = new Uint8Array(await (await app.call(`/v1/envelopes/${envelope}/evidence`)).arrayBuffer());
  const { pins } = await ownEvidence(app.deps);
  const report = await verifyBundle(app.deps, archive, pins);
  expect(report.problems).toEqual([]);
  expect(report.steps.find(({ name }) => name === "token")).toMatchObject({ ok: true });
});

test("notes that old anchors lack are made at the start, the same as they would have been, and once", async () => {
  const note = async () => await (await app.call("/v1/public/anchors/1/checkpoint", { key: null })).text();
  const before = await note();
  // As after an update from the time before there were notes.
  await app.deps.db.tx(async (tx) => {
    await sql`drop trigger anchor_notes_no_delete`.execute(tx);
    await sql`delete from anchor_notes`.execute(tx);
  });
  expect((await app.call("/v1/public/anchors/1/checkpoint", { key: null })).status).toBe(404);
  await app.restart();
  await app.jobs.idle();
  // The name of the log is the address, whose port is another one now.
  expect((await note()).split("\n").slice(1, 3)).toEqual(before.split("\n").slice(1, 3));
  const again = await note();
  await app.restart();
  await app.jobs.idle();
  expect(await note()).toBe(again);
});
