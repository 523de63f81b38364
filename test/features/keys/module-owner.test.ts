import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writableBy } from "../../../server/features/keys/pkcs11/module-owner.ts";

test("a PKCS#11 library is trusted only where the user who loads it could not have put it", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-module-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const inner = path.join(folder, "lib");
  const file = path.join(inner, "token.so");
  await mkdir(inner);
  await writeFile(file, "");
  for (const [part, mode] of [
    [folder, 0o755],
    [inner, 0o755],
    [file, 0o644],
  ] as const)
    await chmod(part, mode);
  const me = process.getuid?.() ?? 0;
  const service = { uid: me + 12_345, groups: [54_321] };
  // The folder of temporary files is for everybody, and its sticky bit keeps each from the others' files.
  expect(writableBy(file, service)).toBeNull();
  expect(writableBy("/bin/sh", service)).toBeNull();
  expect(writableBy(file, { uid: me, groups: [] })).toBe(file);
  await chmod(inner, 0o777);
  expect(writableBy(file, service)).toBe(inner);
  await chmod(inner, 0o775);
  expect(writableBy(file, service)).toBeNull();
  expect(writableBy(file, { ...service, groups: [process.getgid?.() ?? 0] })).toBe(inner);
  await chmod(inner, 0o755);
  await chmod(file, 0o666);
  expect(writableBy(file, service)).toBe(file);
  await chmod(file, 0o644);
  // Only root may give a file away.
  if (me !== 0) return;
  await chown(inner, service.uid, process.getgid?.() ?? 0);
  expect(writableBy(file, service)).toBe(inner);
});
