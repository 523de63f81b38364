import { mkdir, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { type Config, describeSettings } from "../../config.ts";
import { writeDurably } from "../../kernel/durable.ts";

/** What a machine needs besides database and documents: the master key, the settings and its certificates. */

/** Folders and files in the data folder that are small and belong to the installation. */
const carried = ["signet.json", "tls"];

const Machine = z.object({
  v: z.literal(1),
  /** Base64. */
  masterKey: z.base64(),
  files: z.array(z.object({ name: z.string(), content: z.base64() })),
  /** Settings that came from the environment of the process; null where the value is a secret. */
  environment: z.record(z.string(), z.string().nullable()),
});
export type Machine = z.infer<typeof Machine>;

export async function readMachine(config: Config, masterKey: Buffer): Promise<Machine> {
  const files: Machine["files"] = [];
  for (const name of carried)
    for (const file of await filesBelow(path.join(config.dataDir, name)))
      files.push({
        name: path.relative(config.dataDir, file).split(path.sep).join("/"),
        content: (await readFile(file)).toString("base64"),
      });
  const environment: Machine["environment"] = {};
  for (const { key, variable, secret } of describeSettings()) {
    const value = config.given.environment[key];
    if (value !== undefined && key !== "dataDir") environment[variable] = secret ? null : value;
  }
  return { v: 1, masterKey: masterKey.toString("base64"), files, environment };
}

export const textOfMachine = (machine: Machine): string => JSON.stringify(machine);

/** @throws Error when it is not what `readMachine` gave */
export function parseMachine(text: string): Machine {
  const machine = Machine.parse(JSON.parse(text));
  for (const { name } of machine.files) {
    const parts = name.split("/");
    const [first = ""] = parts;
    // A colon or a backslash leads elsewhere on Windows.
    if (!carried.includes(first) || parts.some((part) => /^\.{0,2}$|[\\:\0]/.test(part)))
      throw new Error(`the backup holds a file ${JSON.stringify(name)}, which is none of Signet's`);
  }
  return machine;
}

/** Puts settings and certificates into the data folder. */
export async function placeFiles({ files }: Machine, dataDir: string): Promise<void> {
  for (const { name, content } of files) {
    const file = path.join(dataDir, ...name.split("/"));
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await writeDurably(file, Buffer.from(content, "base64"));
  }
}

async function filesBelow(start: string): Promise<string[]> {
  const unlessMissing = (error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  };
  const entries = await readdir(start, { withFileTypes: true, recursive: true }).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOTDIR") return "file" as const;
    return unlessMissing(error);
  });
  if (entries === "file") return [start];
  const files = entries?.filter((entry) => entry.isFile() && !entry.name.endsWith(".tmp")) ?? [];
  return files.map((entry) => path.join(entry.parentPath, entry.name)).sort();
}
