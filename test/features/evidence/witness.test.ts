import { createHash, createPublicKey, verify } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readCheckpoint } from "../../../server/features/evidence/anchors/checkpoint.ts";
import { atShare } from "../../../server/features/evidence/anchors/share.ts";
import { listReceipts } from "../../../server/features/evidence/anchors/witness-store.ts";
import { tell } from "../../../server/features/evidence/anchors/witnesses.ts";
import { Anchor } from "../../../server/features/evidence/contract.ts";
import { fsck } from "../../../server/features/evidence/fsck/fsck.ts";
import { AnchorKeys } from "../../../server/features/keys/contract.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { sealedEnvelope } from "../../harness/bundles.ts";
import { movableClock } from "../../harness/clock.ts";
import { ok, publishTemplate, refusal } from "../../harness/scenario.ts";
import { type SmtpSink, startSmtpSink } from "../../harness/smtp.ts";

const clock = movableClock();
const received: unknown[] = [];
let app: TestAppliance;
let folder: string;
let witness: Server;
let sink: SmtpSink;
const answers = [503];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-witness-"));
  witness = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += String(chunk);
    });
    request.on("end", () => {
      const status = answers.shift() ?? 201;
      if (status === 201) received.push(JSON.parse(text));
      response.writeHead(status).end("seen");
    });
  });
  await new Promise<void>((done) => witness.listen(0, "127.0.0.1", done));
  const { port } = witness.address() as AddressInfo;
  sink = await startSmtpSink();
  app = await startAppliance({
    clock,
    env: {
      SIGNET_WITNESS_DIR: path.join(folder, "anchors"),
      SIGNET_WITNESS_URL: `http://127.0.0.1:${port}/anchors`,
      SIGNET_WITNESS_MAIL: "witness@elsewhere.example",
      SIGNET_WITNESS_MAIL_LOCALE: "de-AT",
      SIGNET_SMTP_URL: sink.url,
      SIGNET_OUTBOUND_ALLOW: `witness=127.0.0.0/8:${port}`,
    },
  });
  await sealedEnvelope(app, clock, await publishTemplate(app));
  for (let round = 0; round < 3; round += 1) {
    clock.advance(60_000);
    await app.jobs.idle();
  }
});
afterAll(async () => {
  await app?.stop();
  await sink?.close();
  witness?.close();
  await rm(folder, { recursive: true, force: true });
});

test("an anchor is a checkpoint that holds by the words of C2SP signed-note and tlog-checkpoint", async () => {
  const anchor = Anchor.parse((await ok(app, 200, "/v1/public/anchors/1", { key: null })).body);
  const response = await app.call("/v1/public/anchors/1/checkpoint", { key: null });
  expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(response.headers.get("cache-control")).toBe("public, max-age=300");
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
  const note = await response.text();
  const name = new URL(app.deps.config.baseUrl).host;
  const text = `${name}\n${anchor.treeSize}\n${Buffer.from(anchor.rootHash, "hex").toString("base64")}\n`;
  const lines = note.split("\n");
  expect(note.startsWith(`${text}\n`)).toBe(true);
  expect([lines.length, lines[3], lines[5]]).toEqual([6, "", ""]);
  const [, own, value] = /^— (\S+) ([A-Za-z0-9+/]+=*)$/.exec(lines[4] ?? "") ?? [];
  expect(own).toBe(name);
  const { keys } = AnchorKeys.parse((await ok(app, 200, "/.well-known/svc/keys.json", { key: null })).body);
  const x = Buffer.from(keys[0]?.x ?? "", "base64url");
  const bytes = Buffer.from(value ?? "", "base64");
  const id = createHash("sha256").update(`${name}\n`).update(Buffer.of(1)).update(x).digest().subarray(0, 4);
  expect(bytes.subarray(0, 4)).toEqual(id);
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: x.toString("base64url") }, format: "jwk" });
  expect(verify(null, Buffer.from(text), key, bytes.subarray(4))).toBe(true);
  expect(readCheckpoint(note)).toMatchObject({ origin: name, treeSize: anchor.treeSize });
  expect(() => readCheckpoint(note.slice(0, -1))).toThrow("signed note");
  expect(() => readCheckpoint(note.replace("— ", "- "))).toThrow("signed note");
  expect(await refusal(app, "/v1/public/anchors/999/checkpoint", { key: null })).toMatchObject({ status: 404 });
});

test("each witness holds every anchor with its note, and its receipt is kept", async () => {
  const latest = Anchor.parse((await ok(app, 200, "/v1/public/anchors/latest", { key: null })).body);
  const names = (await readdir(path.join(folder, "anchors"))).toSorted();
  expect(names.length).toBe(latest.sequence * 2);
  const stored = await readFile(path.join(folder, "anchors", "anchor-000000001.json"), "utf8");
  const first = Anchor.parse(JSON.parse(stored));
  expect(first.sequence).toBe(1);
  const note = await (await app.call("/v1/public/anchors/1/checkpoint", { key: null })).text();
  expect(await readFile(path.join(folder, "anchors", "anchor-000000001.txt"), "utf8")).toBe(note);
  // The first attempt was answered with 503.
  expect(received).toEqual([{ anchor: first, checkpoint: note }]);
  const letters = sink.received.filter(({ to }) => to.includes("witness@elsewhere.example"));
  expect(letters).toHaveLength(latest.sequence);
  const [letter] = letters;
  expect(letter?.mail.subject).toBe("Anker 1: Bitte bewahren Sie diese E-Mail auf");
  const quoted = (letter?.mail.text ?? "").split("\n").flatMap((line) => /^> ?(.*)$/.exec(line)?.[1] ?? []);
  expect(quoted.join("\n")).toContain(note.trimEnd());
  const receipts = await listReceipts(app.deps.db.read, 1);
  expect(receipts.map(({ witness: name, receipt }) => [name, receipt])).toEqual([
    ["folder", `sha256:${createHash("sha256").update(stored).digest("hex")}`],
    ["mail", letter?.mail.messageId],
    ["url", JSON.stringify({ status: 201, body: Buffer.from("seen").toString("base64") })],
  ]);
  const { problems, checked } = await fsck(app.deps);
  expect({ problems, receipts: checked.receipts }).toEqual({ problems: [], receipts: latest.sequence * 3 });
});

test("a folder that holds another anchor under this number is never overwritten", async () => {
  const file = path.join(folder, "anchors", "anchor-000000001.json");
  const own = await readFile(file);
  await expect(tell(app.deps, { sequence: 1, witness: "folder" })).resolves.toBeDefined();
  await writeFile(file, "{}\n");
  await expect(tell(app.deps, { sequence: 1, witness: "folder" })).rejects.toThrow("holds another anchor");
  expect(await readFile(file, "utf8")).toBe("{}\n");
  await writeFile(file, own);
});

test("a folder that hangs is told again later, and keeps nothing else waiting", async () => {
  const hanging = Promise.withResolvers<void>();
  const held = atShare(path.join(folder, "anchors"), () => hanging.promise).catch(() => undefined);
  await expect(tell(app.deps, { sequence: 1, witness: "folder" })).rejects.toThrow("does not answer");
  hanging.resolve();
  await held;
  await expect(tell(app.deps, { sequence: 1, witness: "folder" })).resolves.toBeDefined();
});
