import { spawnSync } from "node:child_process";
import { createPrivateKey } from "node:crypto";
import { createWriteStream } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip, gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeManifest, signManifest } from "../../../scripts/make-update.ts";
import {
  type BundleVisitor,
  manifestName,
  readBundle,
  releasePrefix,
  signaturesName,
} from "../../../server/features/update/bundle.ts";
import { checkClock, checkFits, checkRoom, thisPlatform } from "../../../server/features/update/checks.ts";
import { type Manifest, type PinnedKeys, readManifest } from "../../../server/features/update/manifest.ts";
import { readReleaseKeys } from "../../../server/features/update/release-keys.ts";
import { stageRelease } from "../../../server/features/update/staging.ts";
import { tarEnd, writeTarEntry } from "../../../server/features/update/tar.ts";
import { compareVersions } from "../../../server/features/update/versions.ts";
import { heldBytes } from "../../harness/memory.ts";
import { createdAt, type MakerKeys, makeMakerKeys, packRelease } from "../../harness/releases.ts";

let folder: string;
let release: string;
let keys: MakerKeys;
let pinned: PinnedKeys;
let good: string;
const deep = `server/${"a-long-name-of-a-folder/".repeat(8)}file.txt`;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-bundle-"));
  keys = await makeMakerKeys(folder);
  release = path.join(folder, "release");
  await mkdir(path.join(release, path.dirname(deep)), { recursive: true });
  await cp(keys.file, path.join(release, "release-keys.json"));
  await writeFile(path.join(release, "package.json"), JSON.stringify({ version: "1.2.0" }));
  await writeFile(path.join(release, "server/main.ts"), "process.exit(0);\n", { mode: 0o755 });
  await writeFile(path.join(release, deep), "deep\n");
  await writeFile(path.join(release, "server/empty"), "");
  await symlink("main.ts", path.join(release, "server/link.ts"));
  pinned = await readReleaseKeys(release);
  good = await packRelease(release, keys, path.join(folder, "good.tar.gz"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function refusal(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => "it was taken",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

/** Writes an update as somebody would who keeps to no rule. */
async function craft(
  manifest: Uint8Array,
  entries: readonly { path: string; text: string; target?: string }[],
): Promise<string> {
  const signatures = keys.privatePems.map((pem) => signManifest(manifest, createPrivateKey(pem)));
  const first = [
    { path: manifestName, text: Buffer.from(manifest).toString() },
    { path: signaturesName, text: JSON.stringify({ signatures }) },
  ];
  async function* archive() {
    for (const { path: name, text, target = null } of [...first, ...entries].map((entry) => ({
      target: undefined,
      ...entry,
    })))
      yield* writeTarEntry(
        { path: name, size: Buffer.byteLength(text), target, executable: false },
        Readable.from([Buffer.from(text)]),
      );
    yield tarEnd();
  }
  const out = path.join(folder, "crafted.tar.gz");
  await pipeline(Readable.from(archive()), createGzip(), createWriteStream(out));
  return out;
}

const changed = async (change: (manifest: Manifest) => unknown): Promise<Buffer> => {
  const manifest = readManifest(await makeManifest({ release, createdAt, node: null }));
  return Buffer.from(JSON.stringify(change(manifest)));
};

test("a whole update is read and staged as it was made, and tar reads it too", async () => {
  const facts = await readBundle(good, pinned);
  expect(facts).toMatchObject({
    manifest: { version: "1.2.0", platform: thisPlatform },
    signedBy: pinned.keys.map(({ id }) => id),
  });
  const root = path.join(folder, "root");
  await mkdir(path.join(root, "releases"), { recursive: true });
  await stageRelease(root, { file: good, pinned, manifestSha256: facts.manifestSha256 }, "1.2.0", () => undefined);
  const out = path.join(folder, "by-tar");
  await mkdir(out);
  expect(spawnSync("tar", ["-xzf", good, "-C", out]).status).toBe(0);
  for (const made of [path.join(root, "releases/1.2.0"), path.join(out, "release")])
    expect(spawnSync("diff", ["-r", "--no-dereference", release, made], { encoding: "utf8" }).stdout).toBe("");
  const again = await packRelease(release, keys, path.join(folder, "again.tar.gz"));
  expect((await readFile(again)).equals(await readFile(good))).toBe(true);
});

test("languages that were added on this machine go along with an update, those of the release are its own", async () => {
  const root = path.join(folder, "with-languages");
  const locales = (...names: string[]) => path.join(root, "releases/1.1.0/locales", ...names);
  for (const language of ["en", "fr"]) await mkdir(locales(language), { recursive: true });
  await writeFile(locales("en/mail.json"), '{ "a": "old" }');
  await writeFile(locales("fr/mail.json"), '{ "a": "un" }');
  await writeFile(locales("read.ts"), "old");
  await symlink("releases/1.1.0", path.join(root, "current"));
  const next = path.join(folder, "next-with-languages");
  await cp(release, next, { recursive: true, verbatimSymlinks: true });
  await mkdir(path.join(next, "locales/en"), { recursive: true });
  await writeFile(path.join(next, "locales/en/mail.json"), '{ "a": "new" }');
  const file = await packRelease(next, keys, path.join(folder, "with-languages.tar.gz"));
  const { manifestSha256 } = await readBundle(file, pinned);
  await stageRelease(root, { file, pinned, manifestSha256 }, "1.2.0", () => undefined);
  const staged = path.join(root, "releases/1.2.0/locales");
  expect((await readdir(staged, { recursive: true })).sort()).toEqual(["en", "en/mail.json", "fr", "fr/mail.json"]);
  expect(await readFile(path.join(staged, "en/mail.json"), "utf8")).toContain("new");
  expect(await readFile(path.join(staged, "fr/mail.json"), "utf8")).toContain("un");
});

test("what is not signed by both keys, or was changed after, is refused before anything of it is used", async () => {
  let used = 0;
  const visit: BundleVisitor = { manifest: async () => void used++, file: async () => void used++ };
  const [one = "", two = ""] = keys.privatePems;
  const strangers = await makeMakerKeys(await mkdtemp(path.join(folder, "strangers-")));
  for (const signers of [[], [one], [one, one], [one, ...strangers.privatePems]]) {
    const file = await packRelease(release, keys, path.join(folder, "badly-signed.tar.gz"), { signers });
    expect(await refusal(readBundle(file, pinned, visit))).toContain("not signed as it has to be");
  }
  const either = await packRelease(release, keys, path.join(folder, "by-one.tar.gz"), { signers: [two] });
  expect((await readBundle(either, { ...pinned, threshold: 1 })).signedBy).toHaveLength(1);
  const bytes = gunzipSync(await readFile(good));
  const at = bytes.indexOf('"version":"1.2.0"');
  bytes.write("9", at + 11);
  const forged = path.join(folder, "forged.tar.gz");
  await writeFile(forged, gzipSync(bytes));
  expect(await refusal(readBundle(forged, pinned, visit))).toContain("not signed as it has to be");
  expect(used).toBe(0);
});

test("an update that ends too early, holds more or other bytes is refused", async () => {
  const packed = await readFile(good);
  const unpacked = gunzipSync(packed);
  const other = path.join(folder, "other.tar.gz");
  const read = async (bytes: Uint8Array) => {
    await writeFile(other, bytes);
    return await refusal(readBundle(other, pinned));
  };
  for (const length of [0, 1, 100, Math.floor(packed.length / 2), packed.length - 1])
    expect(await read(packed.subarray(0, length)), String(length)).toContain("no complete update");
  for (const length of [512, 5000, unpacked.length - 1024, unpacked.length - 1536])
    expect(await read(gzipSync(unpacked.subarray(0, length))), String(length)).toContain("no complete update");
  expect(await read(gzipSync(Buffer.concat([unpacked, Buffer.from("more")])))).toContain("something follows");
  expect(await read(gzipSync(Buffer.concat([unpacked, Buffer.alloc(1e6)])))).toContain("something follows");
  const content = Buffer.from(unpacked);
  content.write("Process", content.indexOf("process.exit"));
  expect(await read(gzipSync(content))).toContain("server/main.ts is not what was signed");
  expect(await read(Buffer.from("no archive at all"))).toContain("no complete update");
});

test("signed or not, no path and no link leads out of the release", async () => {
  const file = { size: 1, sha256: "0".repeat(64), executable: false };
  for (const bad of ["../evil", "/evil", "a/../../evil", "a//b", "./a", "a\\b", "c:evil", "a\u0000b", ""]) {
    const manifest = await changed((one) => ({ ...one, files: [...one.files, { ...file, path: bad }] }));
    expect(await refusal(readBundle(await craft(manifest, []), pinned)), bad).toContain("cannot be used");
  }
  for (const target of ["/etc/passwd", "../../evil", "../server/../../evil", "a/../../../evil"]) {
    const manifest = await changed((one) => ({ ...one, links: [{ path: "server/link.ts", target }] }));
    expect(await refusal(readBundle(await craft(manifest, []), pinned)), target).toContain("cannot be used");
  }
  const below = await changed((one) => ({ ...one, files: [...one.files, { ...file, path: "server/link.ts/evil" }] }));
  expect(await refusal(readBundle(await craft(below, []), pinned))).toContain("below something that is no folder");
  for (const twice of ["server/main.ts", "server/MAIN.ts", "Server/link.ts"]) {
    const again = await changed((one) => ({ ...one, files: [...one.files, { ...file, path: twice }] }));
    expect(await refusal(readBundle(await craft(again, []), pinned)), twice).toContain("names a path twice");
  }
  const product = await changed((one) => ({ ...one, format: "other-update/1" }));
  expect(await refusal(readBundle(await craft(product, []), pinned))).toContain("cannot be used");
  const huge = await changed((one) => ({ ...one, files: [...one.files, { ...file, path: "huge", size: 2 ** 45 }] }));
  expect(await refusal(readBundle(await craft(huge, []), pinned))).toContain("larger than any release");
  const manifest = await changed((one) => one);
  const elsewhere = await craft(manifest, [{ path: `${releasePrefix}../evil`, text: "x" }]);
  expect(await refusal(readBundle(elsewhere, pinned))).toContain("not where it has to be");
  const device = gunzipSync(await readFile(good));
  device.write("3", 156);
  await writeFile(elsewhere, gzipSync(device));
  expect(await refusal(readBundle(elsewhere, pinned))).toContain("no complete update");
});

test("a key that is lost is replaced by a release that the others sign, and is good for nothing after", async () => {
  const all = await makeMakerKeys(await mkdtemp(path.join(folder, "three-")), 2, 3);
  const [first = "", second = "", third = ""] = all.privatePems;
  const successor = await makeMakerKeys(await mkdtemp(path.join(folder, "successor-")), 1, 1);
  const before = await readReleaseKeys(path.dirname(all.file));
  const own = path.join(folder, "rotating");
  await cp(release, own, { recursive: true, verbatimSymlinks: true });
  const [, ...kept] = JSON.parse(await readFile(all.file, "utf8")).keys;
  const fresh = JSON.parse(await readFile(successor.file, "utf8")).keys;
  await writeFile(path.join(own, "release-keys.json"), JSON.stringify({ threshold: 2, keys: [...kept, ...fresh] }));
  const pack = (...signers: string[]) => packRelease(own, all, path.join(folder, "rotating.tar.gz"), { signers });
  expect((await readBundle(await pack(second, third), before)).signedBy).toHaveLength(2);
  const after = await readReleaseKeys(own);
  for (const signers of [
    [first, second],
    [first, third],
    [first, ...successor.privatePems],
  ])
    expect(await refusal(readBundle(await pack(...signers), after))).toContain("not signed as it has to be");
  expect((await readBundle(await pack(second, ...successor.privatePems), after)).signedBy).toHaveLength(2);
});

test("what was verified is what is unpacked, though the file became another meanwhile, and a large one is never held", async () => {
  const root = path.join(folder, "exchanged");
  await mkdir(path.join(root, "releases"), { recursive: true });
  const { manifestSha256 } = await readBundle(good, pinned);
  const other = path.join(folder, "other-release");
  await cp(release, other, { recursive: true, verbatimSymlinks: true });
  await writeFile(path.join(other, "server/large"), Buffer.alloc(64 * 1024 ** 2, 7));
  const file = await packRelease(other, keys, path.join(folder, "exchanged.tar.gz"));
  const staged = stageRelease(root, { file, pinned, manifestSha256 }, "1.2.0", () => undefined);
  expect(await refusal(staged)).toContain("was exchanged while it was read");
  expect(await readdir(path.join(root, "releases/.staging-1.2.0"))).toEqual([]);
  const before = await heldBytes();
  let largest = 0;
  let held = 0;
  await readBundle(file, pinned, {
    async file({ path: name }, body) {
      let read = 0;
      for await (const piece of body) {
        largest = Math.max(largest, piece.length);
        read += piece.length;
        if (name === "server/large" && read > 48 * 1024 ** 2 && held === 0) held = await heldBytes();
      }
    },
  });
  expect(largest).toBeLessThan(1024 ** 2);
  expect(held).toBeGreaterThan(0);
  expect(held - before).toBeLessThan(16 * 1024 ** 2);
});

test("only a newer release for this machine may follow, and one that has room and a clock that can be right", async () => {
  const { manifest } = await readBundle(good, pinned);
  const refused = (change: Partial<Manifest>, installed = "1.1.0") => {
    try {
      checkFits({ ...manifest, ...change }, installed);
      return "it fits";
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  expect(refused({})).toBe("it fits");
  expect(refused({}, "1.2.0")).toContain("installed already");
  expect(refused({}, "1.10.0")).toContain("older than 1.10.0");
  expect(refused({ version: "1.2.0-rc.1" }, "1.2.0")).toContain("older");
  expect(refused({ minimumVersion: "1.1.5" })).toContain("update to that first");
  expect(refused({ platform: "win32-x64" })).toContain("win32-x64");
  expect(() => checkClock(manifest, Date.parse("2025-12-31T00:00:00Z"))).toThrow("set it right first");
  await writeFile(path.join(folder, "signet.db"), "");
  await checkRoom(folder, folder, manifest, 1000);
  expect(await refusal(checkRoom(folder, folder, manifest, 1e18))).toContain("too little room");
  const sorted = ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0", "1.2.0", "1.10.0", "2.0.0"];
  expect(sorted.toReversed().sort(compareVersions)).toEqual(sorted);
});

test("the script makes keys, has each holder sign where the key is, and packs", async () => {
  const script = path.resolve(import.meta.dirname, "../../../scripts/make-update.ts");
  const run = (...args: string[]) => {
    const { status, stderr } = spawnSync(process.execPath, [script, ...args], { cwd: folder, encoding: "utf8" });
    expect([args[0], status, stderr]).toEqual([args[0], 0, ""]);
  };
  run("keys", "--out", "maker");
  const own = path.join(folder, "own");
  await cp(release, own, { recursive: true, verbatimSymlinks: true });
  await cp(path.join(folder, "maker/release-keys.json"), path.join(own, "release-keys.json"));
  run("manifest", "--release", "own", "--node", "-", "--minimum", "1.0.0", "--out", "manifest.json");
  for (const name of ["first", "second"])
    run("sign", "--manifest", "manifest.json", "--key", `maker/${name}.key.pem`, "--out", `${name}.json`);
  run(
    "pack",
    "--release",
    "own",
    "--manifest",
    "manifest.json",
    "--signature",
    "first.json",
    "--signature",
    "second.json",
    "--out",
    "made.tar.gz",
  );
  const { manifest, signedBy } = await readBundle(path.join(folder, "made.tar.gz"), await readReleaseKeys(own));
  expect([manifest.minimumVersion, signedBy.length]).toEqual(["1.0.0", 2]);
  // OpenSSL makes and checks the same signatures (Ed25519 over the name of the format and the manifest).
  const message = path.join(folder, "signed.bin");
  await writeFile(
    message,
    Buffer.concat([Buffer.from("signet-update/1\n"), await readFile(path.join(folder, "manifest.json"))]),
  );
  const { signatures } = JSON.parse(await readFile(path.join(folder, "first.json"), "utf8"));
  await writeFile(path.join(folder, "signature.bin"), Buffer.from(signatures[0].signature, "base64"));
  const judged = spawnSync(
    "openssl",
    ["pkeyutl", "-verify", "-inkey", "maker/first.key.pem", "-rawin", "-in", "signed.bin", "-sigfile", "signature.bin"],
    { cwd: folder, encoding: "utf8" },
  );
  expect(judged.stdout).toContain("Signature Verified Successfully");
});

test("a pipe in the place of an update is refused, and not waited for", async () => {
  const pipe = path.join(folder, "pipe.tar.gz");
  expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
  expect(await refusal(readBundle(pipe, pinned))).toBe(`${pipe} is no file.`);
  expect(await refusal(readBundle(folder, pinned))).toBe(`${folder} is no file.`);
});
