import { cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");

/** Copies these files and folders of the checkout, with links to what is installed and built. @returns a folder that the test removes */
export async function copySources(parts: readonly string[]): Promise<string> {
  const copy = await mkdtemp(path.join(tmpdir(), "signet-copy-"));
  onTestFinished(() => rm(copy, { recursive: true, force: true }));
  for (const part of parts) {
    await mkdir(path.dirname(path.join(copy, part)), { recursive: true });
    await cp(path.join(root, part), path.join(copy, part), { recursive: true });
  }
  for (const part of ["node_modules", "dist"]) await symlink(path.join(root, part), path.join(copy, part));
  return copy;
}
