import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { judgeSealedPdf } from "../../../server/commands/demo/judges.ts";
import { sealEnvelope } from "../../../server/features/envelopes/jobs.ts";
import { fsck } from "../../../server/features/evidence/fsck/fsck.ts";
import { timeSources } from "../../../server/features/evidence/tsa.ts";
import { sealSigner } from "../../../server/features/keys/service.ts";
import type { TaskResult } from "../../../workers/protocol.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { type Authority, makeAuthority, opensslTimestamp } from "../../harness/authority.ts";
import { publishedAuthorities } from "../../harness/bundles.ts";
import { movableClock } from "../../harness/clock.ts";
import { samplePdf } from "../../harness/pdfs.ts";
import { enter, envelopeOf, ok, publishTemplate, send, submission } from "../../harness/scenario.ts";

/** Outside time-stamping authorities over real HTTP: openssl answers, and what may go wrong goes wrong. */

type Answer = (query: Buffer, response: ServerResponse) => void;

let folder: string;
let outside: Authority;
let stranger: Authority;
let careless: Authority;
let server: Server;
let url: string;
let answer: Answer;

const reply = (response: ServerResponse, body: Uint8Array): void => {
  response.writeHead(200, { "content-type": "application/timestamp-reply" }).end(body);
};
const good: Answer = (query, response) => reply(response, opensslTimestamp(query, outside));

/** The content of a granted response, signed by somebody else's certificate: openssl ts itself would not do that. */
function resigned(response: Buffer, by: Authority): Buffer {
  const file = (name: string): string => path.join(folder, name);
  // Behind the head of the response and the status (30 03 02 01 00) stands the token.
  writeFileSync(file("token.der"), response.subarray(response.indexOf("3003020100", 0, "hex") + 5));
  const openssl = (...args: string[]) => execFileSync("openssl", ["cms", ...args], { stdio: "pipe" });
  openssl("-verify", "-noverify", "-inform", "DER", "-in", file("token.der"), "-binary", "-out", file("tst.der"));
  const key = ["-signer", by.timestamp.pem, "-inkey", by.timestamp.keyPem, "-certfile", by.caPem];
  const type = ["-econtent_type", "1.2.840.113549.1.9.16.1.4", "-nodetach", "-binary", "-cades", "-md", "sha256"];
  openssl("-sign", "-in", file("tst.der"), ...type, ...key, "-outform", "DER", "-out", file("forged.der"));
  const body = Buffer.concat([Buffer.from("3003020100", "hex"), readFileSync(file("forged.der"))]);
  const head = Buffer.from([0x30, 0x82, body.length >> 8, body.length & 0xff]);
  return Buffer.concat([head, body]);
}

/** The same query with another byte where `needle` begins. */
function altered(query: Buffer, needle: Buffer): Buffer {
  const copy = Buffer.from(query);
  const at = copy.indexOf(needle) + needle.length;
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}
const imprintHead = Buffer.from("0420", "hex");
const nonceHead = Buffer.from("0208", "hex");

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-tsa-"));
  outside = makeAuthority({ name: "Outside", seal: "ec-p256" });
  stranger = makeAuthority({ name: "Stranger", seal: "ec-p256" });
  careless = makeAuthority({ name: "Careless", seal: "ec-p256", timestampExtensions: "wrong-timestamp" });
  await writeFile(
    path.join(folder, "roots.pem"),
    `${await readFile(outside.caPem, "utf8")}${await readFile(careless.caPem, "utf8")}`,
  );
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      expect(request.headers["content-type"]).toBe("application/timestamp-query");
      answer(Buffer.concat(chunks), response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/tsa`;
});
beforeEach(() => {
  answer = good;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  for (const authority of [outside, stranger, careless]) authority.close();
  await rm(folder, { recursive: true, force: true });
});

const start = (env: Record<string, string>, clock?: ReturnType<typeof movableClock>) =>
  startAppliance({
    env: {
      SIGNET_TSA_URLS: url,
      SIGNET_OUTBOUND_ALLOW: `tsa=127.0.0.1:${new URL(url).port}`,
      SIGNET_CA_FILE: path.join(folder, "roots.pem"),
      ...env,
    },
    ...(clock ? { clock } : {}),
  });

describe("an answer", () => {
  let app: TestAppliance;
  let pdf: Uint8Array;
  beforeAll(async () => {
    app = await start({});
    pdf = await samplePdf();
  });
  afterAll(() => app.stop());

  async function sealed(): Promise<TaskResult<"seal">> {
    const [source] = await timeSources(app.deps);
    if (!source) throw new Error("no source");
    const signer = await sealSigner(app.deps);
    const about = { name: "Example Ltd", reason: "Test", location: null, level: "B-T" as const, fieldName: "Seal" };
    const input = {
      ...about,
      pdf,
      pages: null,
      certificates: signer.certificates,
      key: signer.kind,
      at: app.deps.clock.ts(),
    };
    return await app.deps.pool.run(
      "seal",
      { ...input, timestamp: source.next(), archive: null },
      {
        ports: {
          ...source,
          sign: (bytes) => signer.sign(bytes),
          revocationList: () => Promise.reject(new Error("none")),
        },
      },
    );
  }

  test("by openssl is taken", async () => {
    const result = await sealed();
    expect(result).toMatchObject({ ok: true, value: { timestamp: { authority: expect.stringContaining("Outside") } } });
  });

  const bad: [string, Answer, RegExp][] = [
    [
      "to another nonce",
      (query, response) => reply(response, opensslTimestamp(altered(query, nonceHead), outside)),
      /nonce-mismatch/,
    ],
    [
      "over something else",
      (query, response) => reply(response, opensslTimestamp(altered(query, imprintHead), outside)),
      /imprint-mismatch/,
    ],
    [
      "by an authority that nobody trusts",
      (query, response) => reply(response, opensslTimestamp(query, stranger)),
      /untrusted/,
    ],
    [
      "with one bit of its signature changed",
      (query, response) => {
        const body = opensslTimestamp(query, outside);
        body[body.length - 3] = (body[body.length - 3] ?? 0) ^ 1;
        reply(response, body);
      },
      /the timestamp does not hold/,
    ],
    [
      "that is a web page",
      (_, response) =>
        response.writeHead(200, { "content-type": "text/html" }).end("<html>Sign in to the Wi-Fi</html>"),
      /no timestamp response/,
    ],
    ["that is empty", (_, response) => reply(response, Buffer.alloc(0)), /no timestamp response/],
    [
      "cut short",
      (query, response) => reply(response, opensslTimestamp(query, outside).subarray(0, 300)),
      /no timestamp response/,
    ],
    ["with an error status", (_, response) => response.writeHead(503).end("later"), /status 503/],
    [
      "that leads elsewhere",
      (_, response) => response.writeHead(302, { location: "http://127.0.0.1/" }).end(),
      /redirect/,
    ],
    ["without end", (_, response) => reply(response, Buffer.alloc(300_000)), /too large|larger|more than/],
    ["that breaks off", (_, response) => response.destroy(), /./],
  ];
  test.each(bad)("%s is refused", async (_, wrong, reason) => {
    answer = wrong;
    const result = await sealed();
    expect(result).toMatchObject({ ok: false, error: { code: "timestamp-refused" } });
    expect(result.ok ? "" : result.error.message).toMatch(reason);
  });

  test("by a certificate that is not for time stamps alone is refused", async () => {
    answer = (query, response) => reply(response, resigned(opensslTimestamp(query, outside), careless));
    const result = await sealed();
    expect(result.ok ? "" : result.error.message).toMatch(/not-a-timestamping-certificate/);
  });

  test("that never comes is not waited for longer than some seconds", async () => {
    answer = () => undefined;
    expect(await sealed()).toMatchObject({ ok: false, error: { code: "timestamp-refused" } });
  });
});

async function completed(app: TestAppliance, clock: ReturnType<typeof movableClock>): Promise<string> {
  const template = await publishTemplate(app);
  clock.advance(1000);
  const { id } = await send(app, template);
  for (const email of ["ada@example.com", "ben@example.com"]) {
    clock.advance(1000);
    const bearer = await enter(app, email);
    await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer) });
    await app.jobs.idle();
  }
  return id;
}

async function pagesOf(app: TestAppliance, id: string, file: string): Promise<string> {
  const response = await app.call(`/v1/envelopes/${id}/document?version=sealed`);
  await writeFile(file, Buffer.from(await response.arrayBuffer()));
  return execFileSync("pdftotext", ["-layout", file, "-"]).toString();
}

const nowClock = () => movableClock(new Date().toISOString());

describe("a seal", () => {
  let app: TestAppliance | undefined;
  let clock: ReturnType<typeof movableClock>;
  beforeEach(() => {
    clock = nowClock();
  });
  afterEach(() => app?.stop());

  test("names the outside authority, publishes its root, and satisfies every judge", async () => {
    app = await start({}, clock);
    const id = await completed(app, clock);
    expect(await envelopeOf(app, id)).toMatchObject({ seal: "sealed", sealLevel: "B-T" });
    const file = path.join(folder, "outside.pdf");
    const text = await pagesOf(app, id, file);
    expect(text).toContain(new URL(url).host);
    expect(text).not.toContain("internal time source");
    const pem = path.join(folder, "published.pem");
    await writeFile(pem, await publishedAuthorities(app));
    expect((await judgeSealedPdf(file, pem)).filter((verdict) => !verdict.ok)).toEqual([]);
    expect((await fsck(app.deps)).problems).toEqual([]);
  });

  test("takes the built-in authority when the outside one fails, and says so on the certificate", async () => {
    app = await start({}, clock);
    answer = (_, response) => response.writeHead(500).end();
    const id = await completed(app, clock);
    expect(await envelopeOf(app, id)).toMatchObject({ seal: "sealed", sealLevel: "B-LTA" });
    expect(await pagesOf(app, id, path.join(folder, "inside.pdf"))).toContain("internal time source");
  });

  test("waits for the outside authority when nothing else is allowed", async () => {
    app = await start({ SIGNET_TSA_FALLBACK: "false" }, clock);
    answer = (_, response) => response.writeHead(500).end();
    const id = await completed(app, clock);
    expect(await envelopeOf(app, id)).toMatchObject({ status: "completed", seal: "pending" });
    answer = good;
    clock.advance(sealEnvelope.backoffMs(1));
    app.jobs.wake();
    await app.jobs.idle();
    expect(await envelopeOf(app, id)).toMatchObject({ seal: "sealed", sealLevel: "B-T" });
  });
});
