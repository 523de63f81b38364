import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadEnvelope } from "../../../server/features/envelopes/progress.ts";
import { SealFailure, sealCompleted } from "../../../server/features/evidence/sealing.ts";
import { timeSources } from "../../../server/features/evidence/tsa.ts";
import { authorities } from "../../../server/features/keys/service.ts";
import type { Deps } from "../../../server/kernel/deps.ts";
import { openTimestampResponse } from "../../../workers/seal/timestamp.ts";
import { verifySealedPdf } from "../../../workers/seal/verify.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { type Authority, makeAuthority } from "../../harness/authority.ts";
import { sealedEnvelope } from "../../harness/bundles.ts";
import { movableClock } from "../../harness/clock.ts";
import { publishTemplate } from "../../harness/scenario.ts";
import {
  expiredIdentity,
  type Forgery,
  forgedTimestamp,
  readQuery,
  rejection,
  SHA512,
  sha512,
} from "../../harness/tsa-faults.ts";

/**
 * Every fault of a time-stamping authority (issue: never a false timestamp, always a stated level): over real HTTP, each
 * sealed for once where the next authority may step in, once where only the built-in one may, and once where nobody may.
 */

type Answer = (query: Buffer, response: ServerResponse) => void;
type Served = { server: Server; url: string; port: number };

// Signing moves it on by three minutes.
const clock = movableClock(new Date(Date.now() - 180_000).toISOString());
let folder: string;
let first: Authority;
let second: Authority;
let stranger: Authority;
let careless: Authority;
let faulty: Served;
let next: Served;
let trap: Served;
let closed: string;
let app: TestAppliance;
let envelope: string;
let answer: Answer;
/** Requests that reached an address to which an answer led. */
let misled = 0;
let written = 0;

async function serve(handle: (query: Buffer, response: ServerResponse) => void): Promise<Served> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => handle(Buffer.concat(chunks), response));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return { server, port, url: `http://127.0.0.1:${port}/tsa` };
}

const reply = (response: ServerResponse, body: Uint8Array): void => {
  response.writeHead(200, { "content-type": "application/timestamp-reply" }).end(body);
};
const forged =
  (forgery: (query: Buffer) => Forgery, from?: () => Authority): Answer =>
  (query, response) =>
    reply(response, forgedTimestamp(query, from?.() ?? first, forgery(query)));
const minutesFromNow = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString();

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-tsa-"));
  first = makeAuthority({ name: "First", seal: "ec-p256" });
  second = makeAuthority({ name: "Second", seal: "ec-p256" });
  stranger = makeAuthority({ name: "Stranger", seal: "ec-p256" });
  careless = makeAuthority({ name: "Careless", seal: "ec-p256", timestampExtensions: "wrong-timestamp" });
  const roots = await Promise.all([first, second, careless].map(({ caPem }) => readFile(caPem, "utf8")));
  await writeFile(path.join(folder, "roots.pem"), roots.join(""));
  faulty = await serve((query, response) => answer(query, response));
  next = await serve((query, response) => reply(response, forgedTimestamp(query, second)));
  trap = await serve((_, response) => {
    misled += 1;
    response.end();
  });
  const gone = await serve(() => undefined);
  closed = gone.url;
  await new Promise((done) => gone.server.close(done));
  app = await startAppliance({
    clock,
    env: {
      SIGNET_TSA_URLS: faulty.url,
      SIGNET_TSA_FALLBACK: "false",
      SIGNET_TSA_TIMEOUT_SECONDS: "1",
      SIGNET_SEAL_LEVEL: "B-T",
      SIGNET_OUTBOUND_ALLOW: [faulty.port, next.port, trap.port, new URL(closed).port]
        .map((p) => `tsa=127.0.0.1:${p}`)
        .join(","),
      SIGNET_CA_FILE: path.join(folder, "roots.pem"),
    },
  });
  answer = (_, response) => response.writeHead(503).end();
  // No authority answers, so that it waits for its seal.
  envelope = await sealedEnvelope(app, clock, await publishTemplate(app));
  // The queue tries again by itself, and must not meet a good answer before a test does.
  await app.jobs.stop(5000);
});
afterAll(async () => {
  await app?.stop();
  for (const { server } of [faulty, next, trap]) {
    server?.closeAllConnections();
    server?.close();
  }
  for (const authority of [first, second, stranger, careless]) authority?.close();
  await rm(folder, { recursive: true, force: true });
});

class Undone extends Error {}

type Outcome = { level: string | null; audit: unknown; authorities: (string | null)[]; valid: boolean; text: string };

/** Seals for once: everything that the commit would write is read within it and taken back. */
async function sealWith(settings: Partial<Deps["config"]>): Promise<Outcome> {
  const deps: Deps = { ...app.deps, config: { ...app.deps.config, ...settings } };
  const commit = await sealCompleted(deps, envelope, new AbortController().signal);
  if (!commit) throw new Error("the envelope does not wait for its seal");
  let outcome: Outcome | undefined;
  await app.deps.db
    .tx(async (tx) => {
      await commit(tx);
      const row = (await loadEnvelope(tx, envelope))?.envelope;
      const entry = await tx
        .selectFrom("audit_entries")
        .select("data")
        .where("envelope", "=", envelope)
        .where("type", "=", "envelope.sealed")
        .executeTakeFirstOrThrow();
      const pdf = await app.deps.blobs.get(row?.sealed_sha256 ?? "");
      const { seals, timestamps } = await authorities(tx);
      const der = (pem: string) => Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ""), "base64");
      const trust = { trusted: seals.map(der), trustedTimestamp: timestamps.map(der) };
      const report = verifySealedPdf(pdf, { ...trust, at: clock.ts() });
      const file = path.join(folder, `${row?.sealed_sha256}.pdf`);
      await writeFile(file, pdf);
      outcome = {
        level: row?.seal_level ?? null,
        audit: JSON.parse(String(entry.data)),
        authorities: report.signatures.map(({ timestamp }) => timestamp?.authority ?? null),
        valid: report.valid,
        text: execFileSync("pdftotext", ["-layout", file, "-"]).toString(),
      };
      throw new Undone();
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error;
    });
  if (!outcome) throw new Error("nothing was sealed");
  return outcome;
}

const own = async (): Promise<string> => {
  const sources = await timeSources({ ...app.deps, config: { ...app.deps.config, tsaUrls: [] } });
  return sources[0]?.label ?? "";
};

test("the built-in authority steps in where the list is at its end, and the seal says so", async () => {
  answer = forged(() => ({ nonce: null }));
  const sealed = await sealWith({ tsaUrls: [faulty.url, closed], tsaFallback: true });
  expect(sealed).toMatchObject({ valid: true, level: "B-T", audit: { level: "B-T" }, authorities: [await own()] });
  expect(sealed.text).toContain("internal time source");
});

test("the answers are good but for the one thing that each fault changes", async () => {
  answer = forged(() => ({}));
  const sealed = await sealWith({});
  expect(sealed).toMatchObject({ level: "B-T", valid: true, authorities: [expect.stringContaining("First Time")] });
  expect(sealed.text).toContain(new URL(faulty.url).host);
});

const faults: [string, Answer | "closed", RegExp][] = [
  ["slow beyond the time limit", () => undefined, /no complete answer in time/],
  [
    "slow byte by byte",
    (query, response) => {
      const body = forgedTimestamp(query, first);
      response.writeHead(200, { "content-length": body.length }).write(body.subarray(0, 40));
    },
    /no complete answer in time/,
  ],
  ["down", "closed", /the connection failed/],
  ["breaking off", (_, response) => response.destroy(), /the connection failed/],
  ["answering another nonce", forged((query) => ({ nonce: readQuery(query).nonce + 1n })), /nonce-mismatch/],
  ["answering without the nonce", forged(() => ({ nonce: null })), /nonce-mismatch/],
  ["stamping something else", forged(() => ({ imprint: Buffer.alloc(32, 7) })), /imprint-mismatch/],
  [
    "stamping a hash of another kind",
    forged((query) => ({ algorithm: SHA512, imprint: sha512(readQuery(query).imprint) })),
    /imprint-mismatch/,
  ],
  [
    "stamping the SHA-512 of nothing",
    forged(() => ({ algorithm: SHA512, imprint: sha512(Buffer.alloc(0)) })),
    /imprint-mismatch/,
  ],
  ["whose certificate has run out", forged(() => ({ by: expiredIdentity(first) })), /untrusted/],
  [
    "that dates back into its expired certificate",
    forged(() => ({ by: expiredIdentity(first), at: "2020-06-01T00:00:00.000Z" })),
    /untrusted|the authority says that it is 2020/,
  ],
  [
    "whose certificate is for time stamps, but not critically",
    forged(
      () => ({}),
      () => careless,
    ),
    /not-a-timestamping-certificate/,
  ],
  ["whose certificate is for seals", forged(() => ({ by: first.seal })), /not-a-timestamping-certificate/],
  [
    "that nobody trusts",
    forged(
      () => ({}),
      () => stranger,
    ),
    /untrusted/,
  ],
  ["that does not bind its certificate (ESS)", forged(() => ({ unbound: true })), /signing-certificate-mismatch/],
  ["ten minutes ahead", forged(() => ({ at: minutesFromNow(10) })), /the authority says that it is/],
  ["ten minutes behind", forged(() => ({ at: minutesFromNow(-10) })), /untrusted|the authority says that it is/],
  [
    "behind a captive portal",
    (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>Sign in to the Wi-Fi</html>"),
    /no timestamp response/,
  ],
  ["answering nothing", (_, response) => reply(response, Buffer.alloc(0)), /no timestamp response/],
  [
    "cut short",
    (query, response) => reply(response, forgedTimestamp(query, first).subarray(0, 300)),
    /no timestamp response/,
  ],
  [
    "cut short under a length that fits",
    (query, response) => {
      const token = openTimestampResponse(forgedTimestamp(query, first));
      const part = token.granted ? token.token.subarray(0, 400) : Buffer.alloc(0);
      const body = Buffer.concat([Buffer.from("3003020100", "hex"), part]);
      reply(response, Buffer.concat([Buffer.from([0x30, 0x82, body.length >> 8, body.length & 0xff]), body]));
    },
    /no timestamp response|does not hold/,
  ],
  ["rejecting", (_, response) => reply(response, rejection("out of paper")), /refused with status 2: out of paper/],
  ["with an error status", (_, response) => response.writeHead(500).end("later"), /status 500/],
  [
    "whose answer does not end",
    (_, response) => {
      written = 0;
      response.writeHead(200, { "content-type": "application/timestamp-reply" });
      const chunk = Buffer.alloc(16 * 1024);
      const more = (): void => {
        // A reader that does not stop would be sent 256 MB.
        while (!response.destroyed && written < 256 * 1024 * 1024) {
          written += chunk.length;
          if (!response.write(chunk)) return void response.once("drain", more);
        }
        response.end();
      };
      more();
    },
    /larger than 65536 bytes/,
  ],
  [
    "that leads to a private address",
    (_, response) => response.writeHead(302, { location: trap.url }).end(),
    /redirect/,
  ],
];

describe.each(faults)("an authority %s", (_, wrong, reason) => {
  test("never stamps, and what seals instead is stated", async () => {
    answer = wrong === "closed" ? answer : wrong;
    const url = wrong === "closed" ? closed : faulty.url;
    const [withNext, alone] = await Promise.all([
      sealWith({ tsaUrls: [url, next.url] }),
      sealWith({ tsaUrls: [url] }).then(
        () => undefined,
        (error: unknown) => error,
      ),
    ]);
    expect(withNext).toMatchObject({ valid: true, level: "B-T", audit: { level: "B-T" } });
    expect(withNext.authorities).toEqual([expect.stringContaining("Second Time")]);
    expect(withNext.text).toContain(new URL(next.url).host);
    expect(withNext.text).not.toContain(new URL(url).host);
    expect(alone).toBeInstanceOf(SealFailure);
    expect(alone).toMatchObject({ code: "timestamp-refused", message: expect.stringMatching(reason) });
    const row = (await loadEnvelope(app.deps.db.read, envelope))?.envelope;
    expect(row).toMatchObject({ seal: "pending", seal_level: null, sealed_sha256: null });
    expect(misled).toBe(0);
    // What socket buffers hold has been written when the reader hangs up.
    expect(written).toBeLessThan(32 * 1024 * 1024);
  });
});
