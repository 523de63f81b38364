import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { inflateRawSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../../server/cli.ts";
import { bundleFiles } from "../../server/features/evidence/bundle/contents.ts";
import { readZip, zipParts } from "../../server/features/evidence/bundle/zip.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { sealedEnvelope } from "../harness/bundles.ts";
import { movableClock } from "../harness/clock.ts";
import { publishTemplate } from "../harness/scenario.ts";

/** `signet verify` on an evidence bundle: without a server, and on machines that have no installation. */

const clock = movableClock();
let folder: string;
let app: TestAppliance;
let files: Map<string, Uint8Array>;
const at = (name: string) => path.join(folder, name);

async function installation(name: string): Promise<TestAppliance> {
  const made = await startAppliance({ clock });
  const id = await sealedEnvelope(made, clock, await publishTemplate(made));
  const bytes = Buffer.from(await (await made.call(`/v1/envelopes/${id}/evidence`)).arrayBuffer());
  await writeFile(at(`${name}.zip`), bytes);
  const keys = await made.call("/.well-known/svc/keys.json", { key: null });
  await writeFile(at(`${name}-keys.json`), await keys.text());
  const pem = await made.call("/.well-known/svc/certificates.pem", { key: null });
  await writeFile(at(`${name}.pem`), await pem.text());
  if (name === "own") files = await readZip(bytes, async (packed) => inflateRawSync(packed));
  return made;
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-offline-"));
  app = await installation("own");
  await (await installation("forger")).stop();
  await writeFile(at("document.pdf"), files.get(bundleFiles.document) ?? "");
  await writeFile(at("certificate.pdf"), files.get(bundleFiles.certificate) ?? "");
});
afterAll(async () => {
  await app?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function verify(args: string[], dataDir = at("none")): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ["", ""];
  const env = { SIGNET_DATA_DIR: dataDir, SIGNET_LOG_LEVEL: "silent" };
  const code = await runCli(["verify", ...args], env, {
    stdout: (text) => {
      out += text;
    },
    stderr: (text) => {
      err += text;
    },
    stdin: (async function* () {
      yield "";
    })(),
    interactive: false,
    onSignal: () => undefined,
  });
  return { code, out, err };
}

const pinned = () => ["--keys", at("own-keys.json"), "--trust", at("own.pem")];

test("0 under keys from outside or one's own, 2 without, and no data folder comes into being", async () => {
  const bundle = ["--bundle", at("own.zip")];
  expect(await verify([at("document.pdf"), ...bundle, ...pinned()])).toMatchObject({ code: 0 });
  expect((await verify([at("own.zip"), ...pinned()])).out).toContain("audit trail is whole");
  expect(await verify([at("own.zip")], app.folder)).toMatchObject({ code: 0 });
  const unpinned = await verify([at("document.pdf"), ...bundle]);
  expect(unpinned.code).toBe(2);
  expect(unpinned.out).toContain("pin them");
  expect((await verify([at("own.zip"), "--keys", at("own-keys.json")])).code).toBe(2);
  expect((await verify([at("own.zip"), "--trust", at("own.pem")])).code).toBe(2);
  await expect(stat(at("none"))).rejects.toThrow("ENOENT");
});

test("the certificate of completion is verified as that, against the bundle and against the own data folder", async () => {
  const bundle = ["--bundle", at("own.zip"), ...pinned()];
  const words = /Certificate of completion of envelope env_\w+; the document has the SHA-256 [0-9a-f]{64}\./;
  for (const [args, folder] of [[bundle, undefined] as const, [[], app.folder] as const]) {
    const said = await verify([at("certificate.pdf"), ...args], folder);
    expect(said.out).toMatch(words);
    expect(said.out).toContain("Proven");
    expect(said.code).toBe(0);
    const certificate = Uint8Array.from(files.get(bundleFiles.certificate) ?? []);
    certificate[400] = (certificate[400] ?? 0) ^ 1;
    await writeFile(at("changed.pdf"), certificate);
    const changed = await verify([at("changed.pdf"), ...args], folder);
    expect(changed.code).toBe(1);
    expect(changed.out).not.toMatch(words);
  }
  // In a bundle each file is what its name says: the certificate never passes for the document.
  const swapped = new Map(files).set(bundleFiles.document, files.get(bundleFiles.certificate) ?? new Uint8Array());
  const entries = [...swapped].map(([name, bytes]) => ({ name, bytes }));
  await writeFile(at("changed.zip"), Buffer.concat(zipParts(entries, "2026-11-21T12:00:00.000Z")));
  expect((await verify([at("changed.zip"), ...pinned()])).code).toBe(1);
  // And the bundle's own document is checked, too, when another copy is given.
  expect((await verify([at("document.pdf"), "--bundle", at("changed.zip"), ...pinned()])).code).toBe(1);
});

test("a bundle that fits together under a forger's own keys is 2, never 0", async () => {
  expect((await verify([at("forger.zip")])).code).toBe(2);
  expect((await verify([at("forger.zip"), ...pinned()])).code).toBe(2);
  expect((await verify([at("forger.zip")], app.folder)).code).toBe(2);
  // His evidence for our file, and ours for his.
  expect((await verify([at("document.pdf"), "--bundle", at("forger.zip"), ...pinned()])).code).toBe(1);
});

test("1 for whatever file of it is changed, and for what is no bundle", async () => {
  const evidence = [...files.keys()].filter((name) => name !== bundleFiles.readme && name !== bundleFiles.verifier);
  for (const name of evidence) {
    const changed = Uint8Array.from(files.get(name) ?? []);
    const place = Math.floor(changed.length / (name === bundleFiles.authorities ? 3 : 2));
    changed[place] = changed[place] === 0x41 ? 0x42 : 0x41;
    const entries = [...files, [name, changed] as const].map(([entry, bytes]) => ({ name: entry, bytes }));
    const kept = [...new Map(entries.map((entry) => [entry.name, entry])).values()];
    await writeFile(at("changed.zip"), Buffer.concat(zipParts(kept, "2026-11-21T12:00:00.000Z")));
    const verdict = await verify([at("changed.zip"), ...pinned(), "--json"]);
    expect(verdict.code, name).toBe(1);
  }
  await writeFile(at("changed.zip"), "PK is not enough");
  expect((await verify([at("changed.zip"), ...pinned()])).code).toBe(1);
  expect((await verify([at("document.pdf"), "--bundle", at("own.pem"), ...pinned()])).code).toBe(1);
});
