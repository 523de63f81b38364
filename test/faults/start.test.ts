import { spawn } from "node:child_process";
import { chmod, cp, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { runCli } from "../../server/cli.ts";

const main = path.resolve(import.meta.dirname, "../../server/main.ts");
let whole: string;

const envOf = (folder: string) => ({
  SIGNET_DATA_DIR: folder,
  SIGNET_PORT: "0",
  SIGNET_LOG_LEVEL: "silent",
  SIGNET_DISK_RESERVE_MB: "0",
});

beforeAll(async () => {
  whole = await mkdtemp(path.join(tmpdir(), "signet-whole-"));
  expect((await signet(whole, "init", "--organization", "Example Ltd", "--email", "owner@example.com")).code).toBe(0);
});
afterAll(() => rm(whole, { recursive: true, force: true }));

async function signet(folder: string, ...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = "";
  let err = "";
  const code = await runCli(args, envOf(folder), {
    stdout: (text) => {
      out += text;
    },
    stderr: (text) => {
      err += text;
    },
    stdin: (async function* () {})(),
    interactive: false,
    onSignal: () => undefined,
  });
  return { code, out, err };
}

/** Starts the real service, which is expected to end. */
async function serve(folder: string, env: Record<string, string> = {}): Promise<{ code: number | null; err: string }> {
  const child = spawn(process.execPath, [main, "serve"], {
    env: { PATH: process.env.PATH ?? "", ...envOf(folder), ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let err = "";
  child.stderr.on("data", (chunk: Buffer) => {
    err += chunk.toString();
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, err };
}

async function damage(file: string, at: number, length: number): Promise<void> {
  const handle = await open(file, "r+");
  await handle.write(Buffer.alloc(length, 0xa5), 0, length, at);
  await handle.close();
}

type Fault = {
  name: string;
  break: (folder: string) => Promise<unknown>;
  code: number;
  says: RegExp;
  /** What the doctor finds, or says instead of findings. */
  doctor: RegExp;
  /** Whether `signet status` can repeat it; it cannot where the settings themselves cannot be read. */
  recorded?: boolean;
};

const faults: Fault[] = [
  {
    name: "a lost master key",
    break: (folder) => rm(path.join(folder, "master.key")),
    code: 1,
    says: /master key .* is missing.*put the key back/,
    doctor: /master\.key is missing/,
  },
  {
    name: "a damaged master key",
    break: (folder) => writeFile(path.join(folder, "master.key"), "garbage\n"),
    code: 1,
    says: /master key .* is damaged.*put the right one back/,
    doctor: /master key .* is damaged/,
  },
  {
    name: "a master key that others can read",
    break: (folder) => chmod(path.join(folder, "master.key"), 0o644),
    code: 1,
    says: /can be read by others; run: chmod 600/,
    doctor: /master\.key can be read by others/,
  },
  {
    name: "a damaged signet.json",
    break: (folder) => writeFile(path.join(folder, "signet.json"), '{"port": 84'),
    code: 2,
    says: /signet\.json is not valid JSON: repair it/,
    doctor: /signet\.json is not valid JSON: repair it/,
    recorded: false,
  },
  {
    name: "a database whose beginning is garbage",
    break: (folder) => damage(path.join(folder, "signet.db"), 0, 4096),
    code: 1,
    says: /signet\.db is damaged: .*restore the last backup/,
    doctor: /signet\.db is damaged/,
  },
];

test.each(faults)(
  "$name: the start says what to do and ends with $code, the doctor names it",
  async ({ break: harm, code, says, doctor, recorded }) => {
    const folder = await mkdtemp(path.join(tmpdir(), "signet-fault-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await cp(whole, folder, { recursive: true, filter: (file) => !file.includes(`${path.sep}run${path.sep}`) });
    await harm(folder);
    const started = await serve(folder);
    expect(started).toMatchObject({ code, err: expect.stringMatching(says) });
    // One line, no stack: this is no defect of the program.
    expect(started.err.trim().split("\n")).toHaveLength(1);
    if (recorded !== false)
      expect(await signet(folder, "status")).toMatchObject({
        code: 1,
        out: expect.stringMatching(says),
      });
    const looked = await signet(folder, "doctor", "--json");
    expect(looked.code).toBeGreaterThan(0);
    expect(looked.out).toMatch(doctor);
  },
);

test("a taken port ends the start with 2, and status says so afterwards", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-fault-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await cp(whole, folder, { recursive: true, filter: (file) => !file.includes(`${path.sep}run${path.sep}`) });
  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  onTestFinished(() => void other.close());
  const address = other.address();
  const port = String(typeof address === "object" ? address?.port : 0);
  expect(await serve(folder, { SIGNET_PORT: port })).toMatchObject({
    code: 2,
    err: expect.stringContaining("is taken by another program"),
  });
  const said = await signet(folder, "status", "--json");
  expect(said).toMatchObject({ code: 1, out: expect.stringContaining("is taken by another program") });
  const looked = await signet(folder, "doctor", "--json");
  expect(looked.code).toBe(1);
  expect(JSON.parse(looked.out).findings).toContainEqual(
    expect.objectContaining({
      code: "service.failed",
      state: "wrong",
      detail: expect.stringContaining("is taken by another program"),
    }),
  );
  expect(await readFile(path.join(folder, "run", "start-fault.json"), "utf8")).toContain(port);
});
