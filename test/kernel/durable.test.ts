import { randomBytes } from "node:crypto";
import type * as FileSystem from "node:fs/promises";
import { access, readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createMailTransport } from "../../server/features/mail/transport.ts";
import { openBlobs } from "../../server/kernel/blobs.ts";
import { createMasterKey, loadMasterKey, openSecrets } from "../../server/kernel/secrets.ts";
import { temporaryFolder } from "./open.ts";

/** What the file system was told, and whether the next write fails as on a full disk. */
const disk = vi.hoisted(() => ({ done: [] as string[], full: false }));

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof FileSystem>();
  return {
    ...real,
    async open(file: string, ...rest: [string, number]) {
      const handle = await real.open(file, ...rest);
      const { sync, writeFile } = handle;
      handle.sync = () => {
        disk.done.push(`sync ${file}`);
        return sync.call(handle);
      };
      handle.writeFile = (...content) =>
        disk.full ? Promise.reject(new Error("ENOSPC: no space left on device")) : writeFile.apply(handle, content);
      return handle;
    },
    link(from: string, to: string) {
      disk.done.push(`link ${to}`);
      return real.link(from, to);
    },
  };
});

beforeEach(() => {
  disk.done = [];
  disk.full = false;
});

test("a master key is flushed before it gets its name, and its name is flushed after", async () => {
  const folder = await temporaryFolder();
  const file = join(folder, "master.key");
  const key = await createMasterKey(file);
  expect(disk.done).toEqual([expect.stringMatching(/^sync .*\.tmp$/), `link ${file}`, `sync ${folder}`]);
  expect(await readdir(folder)).toEqual(["master.key"]);
  expect(await loadMasterKey(file)).toEqual(key);
});

test("a master key that cannot be written leaves nothing that looks like one", async () => {
  const folder = await temporaryFolder();
  disk.full = true;
  await expect(createMasterKey(join(folder, "master.key"))).rejects.toThrow("ENOSPC");
  expect(await readdir(folder)).toEqual([]);
});

test("of two that make the master key at once, one succeeds and the other is told", async () => {
  const file = join(await temporaryFolder(), "master.key");
  const results = await Promise.allSettled([createMasterKey(file), createMasterKey(file)]);
  expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  const made = results.find((result) => result.status === "fulfilled");
  expect(await loadMasterKey(file)).toEqual(made?.value);
});

test("the name of a new blob store is flushed in the data folder", async () => {
  const folder = await temporaryFolder();
  await openBlobs({ folder: join(folder, "blobs"), secrets: openSecrets(randomBytes(32)) });
  expect(disk.done).toContain(`sync ${folder}`);
  await access(join(folder, "blobs"));
});

describe("a mail in the outbox", () => {
  const letter = {
    id: "mail_1",
    from: "post@example.com",
    to: { email: "sam@example.com", name: null },
    subject: "Lease",
    html: "<p>Hello</p>",
    text: "Hello",
    messageId: "<1@example.com>",
    date: new Date("2026-11-21T09:10:00.000Z"),
    language: "en",
    attachments: [],
  };

  test("has its name flushed", async () => {
    const folder = await temporaryFolder();
    await createMailTransport({ smtpUrl: undefined, dataDir: folder, caFile: undefined }).deliver(letter);
    expect(disk.done).toContain(`sync ${join(folder, "outbox")}`);
  });

  test("is delivered on Windows too, where a folder cannot be flushed", async () => {
    const folder = await temporaryFolder();
    const platform = Object.getOwnPropertyDescriptor(process, "platform") ?? {};
    Object.defineProperty(process, "platform", { ...platform, value: "win32" });
    onTestFinished(() => void Object.defineProperty(process, "platform", platform));
    await createMailTransport({ smtpUrl: undefined, dataDir: folder, caFile: undefined }).deliver(letter);
    expect(disk.done).toEqual([expect.stringMatching(/^sync .*\.tmp$/)]);
    expect(await readdir(join(folder, "outbox"))).toEqual(["mail_1.eml"]);
  });
});
