import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { buildSdk } from "../../scripts/build-sdk.ts";

/** The SDK as its users have it: built, packed, and installed from the tarball into a project of its own, without a network. */

type Sdk = typeof import("../../apps/sdk/src/client.ts");
const run = promisify(execFile);
const packages = path.resolve("node_modules");

export type InstalledSdk = Awaited<ReturnType<typeof installSdk>>;

export async function installSdk() {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-sdk-"));
  const tarball = await buildSdk(path.join(folder, "built"));
  const project = path.join(folder, "project");
  await mkdir(project);
  await writeFile(path.join(project, "package.json"), JSON.stringify({ type: "module", private: true }));
  const quietly = ["--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"];
  await run("npm", ["install", ...quietly, tarball], { cwd: project });
  const installed = path.join(project, "node_modules/@signet/sdk");
  return {
    tarball,
    project,
    installed,
    async load(): Promise<Sdk> {
      return await import(pathToFileURL(path.join(installed, "index.js")).href);
    },
    /**
     * Checks programs of the project as strictly as TypeScript can, declarations of packages included.
     * @returns what is wrong with them; empty when nothing is
     */
    async faultsOf(programs: readonly string[], options: readonly string[]): Promise<string> {
      const strict = ["--strict", "--exactOptionalPropertyTypes", "--skipLibCheck", "false", "--noEmit"];
      const how = ["--target", "es2022", "--module", "nodenext", "--allowImportingTsExtensions"];
      const typeRoots = ["--typeRoots", path.join(packages, "@types")];
      try {
        await run(path.join(packages, ".bin/tsc"), [...strict, ...how, ...typeRoots, ...options, ...programs], {
          cwd: project,
        });
        return "";
      } catch (error) {
        return error instanceof Error && "stdout" in error ? String(error.stdout) : String(error);
      }
    },
    /** Runs a program of the project. @returns what it printed */
    async runs(program: string, env: Record<string, string>): Promise<string> {
      const { stdout } = await run(process.execPath, [program], { cwd: project, env: { ...process.env, ...env } });
      return stdout;
    },
    remove: async () => await rm(folder, { recursive: true, force: true }),
  };
}

/** One method of a client, whose types a test does not have: they are written when the package is built. */
export function method(signet: InstanceType<Sdk["Signet"]>, name: string): (...args: unknown[]) => unknown {
  const [group = "", one = ""] = name.split(".");
  const found = signet[group]?.[one];
  if (!found) throw new Error(`the SDK has no ${name}`);
  return found;
}
