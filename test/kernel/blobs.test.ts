import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CheckedPart } from "../../server/kernel/blob-format.ts";
import type { WalkOptions } from "../../server/kernel/blob-walk.ts";
import { BlobDamaged, BlobMissing, openBlobs } from "../../server/kernel/blobs.ts";
import { openSecrets } from "../../server/kernel/secrets.ts";
import { temporaryFolder } from "./open.ts";

const secrets = openSecrets(randomBytes(32));

async function namesIn(list: AsyncIterable<string>): Promise<string[]> {
  const names = [];
  for await (const name of list) names.push(name);
  return names;
}

async function setUp() {
  const folder = await temporaryFolder();
  const blobs = await openBlobs({ folder, secrets });
  const path = (sha256: string) => join(folder, sha256.slice(0, 2), sha256.slice(2, 4), sha256);
  return { folder, blobs, path };
}

test("content comes back under its SHA-256 and lies encrypted on the disk", async () => {
  const { blobs, path } = await setUp();
  for (const content of [Buffer.from("%PDF-1.7 secret clause"), Buffer.alloc(0), randomBytes(300_000)]) {
    const { sha256, size } = await blobs.put(content);
    expect(sha256).toBe(createHash("sha256").update(content).digest("hex"));
    expect(size).toBe(content.length);
    expect(Buffer.from(await blobs.get(sha256))).toEqual(content);
    expect(await blobs.has(sha256)).toBe(true);
    expect(await blobs.size(sha256)).toBe(content.length);
    expect((await stat(path(sha256))).mode & 0o777).toBe(0o600);
  }
  const { sha256 } = await blobs.put(Buffer.from("%PDF-1.7 secret clause"));
  expect((await readFile(path(sha256))).includes("secret")).toBe(false);
});

test("the same content is written once, also by callers at the same time; the buffer stays the caller's", async () => {
  const { blobs, path } = await setUp();
  const content = randomBytes(100_000);
  const original = Buffer.from(content);
  const puts = Array.from({ length: 20 }, () => blobs.put(content));
  content.fill(0);
  const shas = new Set((await Promise.all(puts)).map(({ sha256 }) => sha256));
  expect(shas.size).toBe(1);
  const [sha256 = ""] = shas;
  expect(Buffer.from(await blobs.get(sha256))).toEqual(original);
  const { ino } = await stat(path(sha256));
  await blobs.put(original);
  expect((await stat(path(sha256))).ino).toBe(ino);
});

test("content in parts is the same blob as in one piece, whatever the sizes", async () => {
  const { blobs } = await setUp();
  const cuts = [[], [0], [1024 * 1024], [5, 5, 2_500_000], [1024 * 1024 - 1, 2 * 1024 * 1024 + 1]];
  for (const cut of cuts) {
    const content = randomBytes(3_000_000);
    const parts = [0, ...cut].map((from, index) => content.subarray(from, cut[index]));
    const { sha256, size } = await blobs.put(parts);
    expect(sha256).toBe(createHash("sha256").update(content).digest("hex"));
    expect(size).toBe(content.length);
    expect(await blobs.size(sha256)).toBe(content.length);
    expect(Buffer.compare(await blobs.get(sha256), content)).toBe(0);
    expect(await blobs.put(content)).toEqual({ sha256, size });
  }
  expect(await blobs.put([])).toEqual(await blobs.put(Buffer.alloc(0)));
});

test("a missing, changed, shortened, or exchanged file is noticed; a shortened one is written again", async () => {
  const { blobs, path } = await setUp();
  const content = randomBytes(1000);
  const { sha256 } = await blobs.put(content);
  const other = await blobs.put(randomBytes(1000));
  const file = await readFile(path(sha256));
  await expect(blobs.get("0".repeat(64))).rejects.toThrow(BlobMissing);
  await expect(blobs.size("0".repeat(64))).rejects.toThrow(BlobMissing);
  expect(await blobs.has("0".repeat(64))).toBe(false);
  for (const place of [0, 5, 40, 100, file.length - 1]) {
    const changed = Buffer.from(file);
    changed[place] = (changed[place] ?? 0) ^ 1;
    await writeFile(path(sha256), changed);
    await expect(blobs.get(sha256)).rejects.toThrow(BlobDamaged);
  }
  await writeFile(path(sha256), await readFile(path(other.sha256)));
  await expect(blobs.get(sha256)).rejects.toThrow(BlobDamaged);
  await writeFile(path(sha256), file.subarray(0, 500));
  await expect(blobs.get(sha256)).rejects.toThrow(BlobDamaged);
  await blobs.put(content);
  expect(Buffer.from(await blobs.get(sha256))).toEqual(content);
});

test("what the system does not let us open is not called damaged: nobody restores a backup for it", async () => {
  const { blobs, path } = await setUp();
  const { sha256 } = await blobs.put(randomBytes(1000));
  await rm(path(sha256));
  // A link that leads to itself cannot be opened, by root neither.
  await symlink(path(sha256), path(sha256));
  await expect(blobs.open(sha256)).rejects.toMatchObject({ code: "ELOOP" });
  await expect(blobs.get(sha256)).rejects.toMatchObject({ code: "ELOOP" });
});

test("a file of the right size that cannot be opened is written again, and not taken for the content", async () => {
  const { folder, blobs, path } = await setUp();
  const content = randomBytes(1000);
  const { sha256 } = await blobs.put(content);
  const file = await readFile(path(sha256));
  for (const place of [0, 40, 100, file.length - 1]) {
    const changed = Buffer.from(file);
    changed[place] = (changed[place] ?? 0) ^ 1;
    await writeFile(path(sha256), changed);
    await blobs.put(content);
    expect(Buffer.from(await blobs.get(sha256))).toEqual(content);
  }
  const underAnotherKey = await openBlobs({ folder, secrets: openSecrets(randomBytes(32)) });
  await underAnotherKey.put(content);
  expect(Buffer.from(await underAnotherKey.get(sha256))).toEqual(content);
});

test("content that was changed since it was opened is never given to its end, nor is a part of it", async () => {
  const { blobs, path } = await setUp();
  const content = randomBytes(700_000);
  const { sha256 } = await blobs.put(content);
  const opened = await blobs.open(sha256);
  const read = async (range?: { start: number; end: number }) => {
    const given: Uint8Array[] = [];
    const ended = (async () => {
      for await (const piece of opened.pieces(range)) given.push(piece);
    })();
    const whole = await ended.then(
      () => true,
      () => false,
    );
    return { whole, bytes: Buffer.concat(given) };
  };
  expect(await read()).toEqual({ whole: true, bytes: content });
  for (const [start, end] of [
    [0, 0],
    [5, 299_999],
    [300_000, 699_999],
    [699_999, 699_999],
  ] as const)
    expect(await read({ start, end })).toEqual({ whole: true, bytes: content.subarray(start, end + 1) });
  const file = await readFile(path(sha256));
  const spoilt = Buffer.from(file);
  spoilt[file.length >> 1] = (spoilt[file.length >> 1] ?? 0) ^ 1;
  await writeFile(path(sha256), spoilt);
  for (const range of [undefined, { start: 0, end: 99 }, { start: 600_000, end: 699_999 }]) {
    const { whole, bytes } = await read(range);
    expect(whole).toBe(false);
    expect(bytes.length).toBeLessThan(range ? range.end + 1 - range.start : content.length);
  }
});

test("only a SHA-256 names a blob", async () => {
  const { blobs } = await setUp();
  for (const name of ["../../etc/passwd", "", "A".repeat(64), "0".repeat(63)]) {
    await expect(blobs.get(name)).rejects.toThrow(TypeError);
  }
});

test("the holder of the data folder clears what interrupted writes left; the list names every blob", async () => {
  const { folder, blobs } = await setUp();
  const names = [];
  for (let index = 0; index < 5; index += 1) names.push((await blobs.put(Buffer.from(`blob ${index}`))).sha256);
  const [drafts = ""] = await readdir(join(folder, "tmp"));
  await writeFile(join(folder, "tmp", drafts, "17"), "half");
  // A command beside the server must leave the server's drafts alone.
  await openBlobs({ folder, secrets });
  expect(await readdir(join(folder, "tmp", drafts))).toEqual(["17"]);
  // So must a server that starts beside a command: only what nobody can be writing any more goes.
  const starting = await openBlobs({ folder, secrets, clear: true });
  expect(await readdir(join(folder, "tmp", drafts))).toEqual(["17"]);
  await blobs.put(Buffer.from("blob 0"));
  await starting.close();
  const longAgo = new Date(Date.now() - 25 * 3_600_000);
  await utimes(join(folder, "tmp", drafts), longAgo, longAgo);
  const again = await openBlobs({ folder, secrets, clear: true });
  expect(await readdir(join(folder, "tmp"))).not.toContain(drafts);
  expect((await namesIn(again.list())).sort()).toEqual(names.sort());
  await again.removeUnused(names[0] ?? "", Number.POSITIVE_INFINITY);
  expect(await namesIn(again.list())).toHaveLength(4);
});

test("a process that closes the store takes the folder of its drafts with it", async () => {
  const { folder, blobs } = await setUp();
  const { sha256 } = await blobs.put(Buffer.from("deed"));
  const other = await openBlobs({ folder, secrets });
  await blobs.close();
  expect(await readdir(join(folder, "tmp"))).toHaveLength(1);
  await other.close();
  expect(await readdir(join(folder, "tmp"))).toEqual([]);
  expect(await namesIn(other.list())).toEqual([sha256]);
});

test("a write that fails leaves nothing behind", async () => {
  const { folder, blobs } = await setUp();
  const [drafts = ""] = await readdir(join(folder, "tmp"));
  await rm(join(folder, "tmp", drafts), { recursive: true });
  await expect(blobs.put(Buffer.from("x"))).rejects.toThrow("ENOENT");
  await mkdir(join(folder, "tmp", drafts));
  const { sha256 } = await blobs.put(Buffer.from("x"));
  expect(await namesIn(blobs.list())).toEqual([sha256]);
});

test("blobs of an old master key are wrapped again under the new one", async () => {
  const folder = await temporaryFolder();
  const old = randomBytes(32);
  const next = randomBytes(32);
  const { sha256 } = await (await openBlobs({ folder, secrets: openSecrets(old) })).put(Buffer.from("deed"));
  const rotating = await openBlobs({ folder, secrets: openSecrets(next, [old]) });
  expect(await rotating.rewrap(sha256)).toBe("rewrapped");
  expect(await rotating.rewrap(sha256)).toBe("current");
  const after = await openBlobs({ folder, secrets: openSecrets(next) });
  expect(Buffer.from(await after.get(sha256)).toString()).toBe("deed");
});

test("every file is read in threads, and whatever was changed in one is found", async () => {
  const { folder, blobs, path } = await setUp();
  const lengths = [0, 1, 100_000, 1_048_576 - 109, 1_048_576, 3_200_001];
  const stored = [];
  for (const length of lengths) stored.push({ length, ...(await blobs.put(randomBytes(length))) });
  const look = async (options: WalkOptions = {}) => {
    const found: CheckedPart[] = [];
    for await (const part of blobs.walk(options)) found.push(part);
    return { blobs: found.flatMap((part) => part.blobs), stray: found.flatMap((part) => part.stray) };
  };
  const whole = await look({ threads: 2 });
  expect(whole.stray).toEqual([]);
  const inOrder = [...stored].sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1));
  expect(whole.blobs).toMatchObject(inOrder.map(({ sha256, length }) => ({ sha256, size: length, problem: null })));
  expect((await look({ threads: 1, after: inOrder[2]?.sha256 })).blobs).toEqual(whole.blobs.slice(3));
  const files = await Promise.all(
    stored.map(async ({ sha256 }) => [path(sha256), await readFile(path(sha256))] as const),
  );
  for (const at of [0, 10, 60, 90, -1]) {
    for (const [name, file] of files) {
      const changed = Buffer.from(file);
      const place = at < 0 ? file.length + at : Math.min(at, file.length - 1);
      changed[place] = (changed[place] ?? 0) ^ 1;
      await writeFile(name, changed);
    }
    expect((await look()).blobs.filter(({ problem }) => problem === null)).toEqual([]);
  }
  for (const keep of [-1, 20, 0]) {
    for (const [name, file] of files) await writeFile(name, file.subarray(0, keep));
    expect((await look()).blobs.filter(({ problem }) => problem === null)).toEqual([]);
  }
  for (const [name, file] of files) await writeFile(name, file);
  const [first = "", second = ""] = inOrder.map(({ sha256 }) => sha256);
  const misplaced = join(path(first), "..", second);
  await writeFile(misplaced, "x");
  expect(await look()).toMatchObject({
    blobs: whole.blobs.map(({ sha256 }) => ({ sha256, problem: null })),
    stray: [misplaced],
  });
  await rm(folder, { recursive: true });
});

test("only what was not put since then is removed, and what is put meanwhile is there afterwards", async () => {
  const folder = await temporaryFolder();
  let now = 1_000_000_000_000;
  const blobs = await openBlobs({ folder, secrets, now: () => now });
  const content = randomBytes(5000);
  const { sha256 } = await blobs.put(content);
  expect(await blobs.removeUnused(sha256, now)).toBe(null);
  now += 60_000;
  await blobs.put(content);
  expect(await blobs.removeUnused(sha256, now)).toBe(null);
  const [size] = await Promise.all([blobs.removeUnused(sha256, now + 1), blobs.put(content)]);
  expect(size).toBe(5000);
  expect(Buffer.from(await blobs.get(sha256))).toEqual(content);
  const [, kept] = await Promise.all([blobs.put(content), blobs.removeUnused(sha256, now + 1)]);
  expect([null, 5000]).toContain(kept);
  expect(await blobs.has(sha256)).toBe(true);
});
