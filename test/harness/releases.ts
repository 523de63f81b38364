import { type ChildProcess, spawn } from "node:child_process";
import { createHash, createPrivateKey, generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeManifest, packUpdate, signManifest } from "../../scripts/make-update.ts";
import { runRelease } from "../../server/features/update/child.ts";
import { type Release, releaseFolder, switchTo } from "../../server/features/update/installation.ts";
import { type PinnedKeys, readManifest } from "../../server/features/update/manifest.ts";
import { readReleaseKeys } from "../../server/features/update/release-keys.ts";
import { serviceControl } from "../../server/features/update/service-control.ts";
import { healthOf, type Site } from "../../server/features/update/site.ts";
import { compileCacheFolder } from "../../server/kernel/compile-cache.ts";
import { startAppliance } from "./appliance.ts";

/** A machine with an installation that can be updated: real releases made of this working tree, a real supervised process. */

const checkout = path.resolve(import.meta.dirname, "../..");
export const oldVersion = "1.0.0";

/** Replaces text in a file of a release; the text has to be there. */
export type Patch = { file: string; from: string; to: string };
export type ReleaseOptions = { version: string; patches?: readonly Patch[]; files?: Readonly<Record<string, string>> };

const migrationList = "server/migrations/list.ts";
/** One more step of the schema. */
export const extraMigration = (body: string): Pick<ReleaseOptions, "patches" | "files"> => ({
  files: {
    "server/migrations/9001-more.ts": `import { type Kysely, sql } from "kysely";\nexport async function up(db: Kysely<unknown>): Promise<void> {\n${body}\n}\n`,
  },
  patches: [
    {
      file: migrationList,
      from: "export const migrations",
      to: 'import * as more from "./9001-more.ts";\nexport const migrations',
    },
    { file: migrationList, from: "\n];", to: '\n  { name: "9001-more", up: more.up },\n];' },
  ],
});

export const goodMigration = extraMigration(
  "await sql`create table more (id integer primary key) strict`.execute(db);",
);

export async function writeRelease(folder: string, keysFile: string, options: ReleaseOptions): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const part of ["server", "workers", "locales"])
    await cp(path.join(checkout, part), path.join(folder, part), { recursive: true });
  const about = { name: "signet", version: options.version, private: true, type: "module" };
  await writeFile(path.join(folder, "package.json"), JSON.stringify(about));
  await cp(keysFile, path.join(folder, "release-keys.json"));
  for (const [name, text] of Object.entries(options.files ?? {})) await writeFile(path.join(folder, name), text);
  for (const { file, from, to } of options.patches ?? []) {
    const text = await readFile(path.join(folder, file), "utf8");
    if (!text.includes(from)) throw new Error(`${file} does not hold ${from}`);
    await writeFile(
      path.join(folder, file),
      text.replace(from, () => to),
    );
  }
}

export type MakerKeys = { folder: string; file: string; privatePems: string[] };

/** The key pairs of a maker, and the file that pins them. */
export async function makeMakerKeys(folder: string, threshold = 2, count = 2): Promise<MakerKeys> {
  const pairs = Array.from({ length: count }, () => generateKeyPairSync("ed25519"));
  const file = path.join(folder, "release-keys.json");
  const keys = pairs.map(({ publicKey }) => ({
    publicKeyPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
  }));
  await writeFile(file, JSON.stringify({ threshold, keys }));
  const privatePems = pairs.map(({ privateKey }) => privateKey.export({ type: "pkcs8", format: "pem" }).toString());
  return { folder, file, privatePems };
}

export const createdAt = "2026-01-02T03:04:05.000Z";

/** Packs a release folder as its maker does. */
export async function packRelease(
  release: string,
  keys: MakerKeys,
  out: string,
  about: { platform?: string; minimumVersion?: string; signers?: readonly string[] } = {},
): Promise<string> {
  const manifest = await makeManifest({ release, createdAt, node: null, ...about });
  const signatures = (about.signers ?? keys.privatePems).map((pem) => signManifest(manifest, createPrivateKey(pem)));
  await packUpdate(release, manifest, signatures, out);
  readManifest(manifest);
  return out;
}

/** Starts `current` again whenever it ended, as a container's or an init's supervisor does. */
class Supervisor {
  readonly #root: string;
  readonly #env: Record<string, string>;
  #child: ChildProcess | undefined;
  #stopping = false;
  starts = 0;

  constructor(root: string, env: Record<string, string>) {
    this.#root = root;
    this.#env = env;
  }

  start(): void {
    this.#stopping = false;
    this.#begin();
  }

  #begin(): void {
    this.starts += 1;
    const child = spawn(process.execPath, [path.join(this.#root, "current/server/main.ts"), "serve"], {
      env: { PATH: process.env.PATH ?? "", ...this.#env },
      stdio: ["ignore", "ignore", process.env.SIGNET_TEST_SHOW ? "inherit" : "ignore"],
    });
    this.#child = child;
    child.once("exit", () => {
      if (!this.#stopping && this.#child === child) this.#begin();
    });
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }
}

/** Filled at each start or by the update itself; the rest is people's data. */
const volatile = [
  "operator_audit",
  "jobs",
  "clock_events",
  "clock_state",
  "storage_samples",
  "retention_runs",
  "migrations",
];

/** Noted at each use. */
const uses = ["last_used_at", "last_used_ip"];

/** SHA-256 of all rows of each table that people's work fills, and of the whole schema. */
export function contentOf(dataDir: string): Record<string, string> {
  const db = new DatabaseSync(path.join(dataDir, "signet.db"), { readOnly: true });
  try {
    const kept = (name: string, value: unknown) => (uses.includes(name) ? undefined : value);
    const hash = (rows: unknown) => createHash("sha256").update(JSON.stringify(rows, kept)).digest("hex").slice(0, 16);
    const tables = db.prepare("select name from sqlite_schema where type = 'table' order by name").all();
    const names = tables
      .map(({ name }) => String(name))
      .filter((name) => !volatile.includes(name) && !name.startsWith("sqlite_"))
      // The parts of the index of texts follow from the envelopes, and have no row numbers to go by.
      .filter((name) => !name.startsWith("envelope_search_"));
    return {
      schema: hash(db.prepare("select sql from sqlite_schema order by name").all()),
      migrations: hash(db.prepare("select name from migrations order by name").all()),
      ...Object.fromEntries(
        names.map((name) => [name, hash(db.prepare(`select * from "${name}" order by rowid`).all())]),
      ),
    };
  } finally {
    db.close();
  }
}

/** The same, once the work that a start begins is done: keys are made in the background while it already serves. */
export async function settledContentOf(dataDir: string): Promise<Record<string, string>> {
  const db = new DatabaseSync(path.join(dataDir, "signet.db"), { readOnly: true });
  try {
    const soon = db.prepare(
      "select name, last_error from jobs where status <> 'dead' and (run_at < ? or attempts > 0)",
    );
    const until = Date.now() + 120_000;
    for (let left = soon.get(Date.now() + 5000); left !== undefined; left = soon.get(Date.now() + 5000)) {
      if (Date.now() > until) throw new Error(`${left.name} is not done: ${left.last_error}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  } finally {
    db.close();
  }
  return contentOf(dataDir);
}

export function audited(dataDir: string): string[] {
  const db = new DatabaseSync(path.join(dataDir, "signet.db"), { readOnly: true });
  try {
    const rows = db.prepare("select action from operator_audit where action like 'update.%' order by seq").all();
    return rows.map(({ action }) => String(action));
  } finally {
    db.close();
  }
}

export const installed: Release = { version: oldVersion, program: { node: process.execPath, main: "server/main.ts" } };

/** The machine as the process that applies an update sees it. */
export async function siteOf({
  root,
  dataDir,
  env,
}: Pick<Site, "root" | "dataDir"> & { env: Record<string, string> }): Promise<Site> {
  const address = { socket: path.join(dataDir, "run", "admin.sock"), operator: "ada" };
  return {
    root,
    dataDir,
    address,
    service: await serviceControl("supervised", address),
    run: (release, args) => runRelease({ root, dataDir, environment: env }, release, args),
    now: Date.now,
    ts: () => new Date().toISOString(),
    drainSeconds: 20,
    gateSeconds: 60,
    reserveBytes: 1_000_000,
    tell: () => undefined,
  };
}

export type TestMachine = Awaited<ReturnType<typeof openMachine>>;

/**
 * @param extra settings of the service and of whoever updates it
 * @param volume where all of it lies
 */
export async function openMachine(extra: Readonly<Record<string, string>> = {}, volume = tmpdir()) {
  const folder = await mkdtemp(path.join(volume, "signet-update-"));
  const root = path.join(folder, "opt");
  const dataDir = path.join(folder, "data");
  await mkdir(path.join(root, "releases"), { recursive: true });
  // Packages are found above the releases, so that they need not be in each of them.
  await symlink(path.join(checkout, "node_modules"), path.join(root, "node_modules"));
  const keys = await makeMakerKeys(folder);
  await writeRelease(releaseFolder(root, oldVersion), keys.file, { version: oldVersion });
  await switchTo(root, oldVersion);
  const seeded = await startAppliance({ folder: dataDir });
  const { keys: apiKeys } = seeded;
  await seeded.stop();
  const port = await freePort();
  // Packages are compiled once for all releases.
  const cache = { NODE_COMPILE_CACHE: compileCacheFolder };
  const env = {
    ...cache,
    SIGNET_DATA_DIR: dataDir,
    SIGNET_PORT: String(port),
    SIGNET_LOG_LEVEL: "warn",
    SIGNET_WORKERS: "1",
    ...extra,
  };
  const supervisor = new Supervisor(root, env);
  const site = await siteOf({ root, dataDir, env });
  const pinned: PinnedKeys = await readReleaseKeys(releaseFolder(root, oldVersion));
  const machine = {
    folder,
    root,
    dataDir,
    env,
    keys,
    apiKeys,
    pinned,
    site,
    supervisor,
    url: `http://127.0.0.1:${port}`,
    /** Makes a release and packs it. */
    async update(
      name: string,
      options: ReleaseOptions,
      about: Parameters<typeof packRelease>[3] = {},
    ): Promise<string> {
      const release = path.join(folder, name);
      await writeRelease(release, keys.file, options);
      return await packRelease(release, keys, path.join(folder, `${name}.tar.gz`), about);
    },
    call: (target: string, init: RequestInit = {}) =>
      fetch(`http://127.0.0.1:${port}${target}`, {
        ...init,
        headers: { authorization: `Bearer ${apiKeys.live}`, "content-type": "application/json" },
      }),
    /** Waits until this version serves, out of maintenance. */
    async serves(version: string): Promise<void> {
      for (;;) {
        const health = await healthOf(site);
        if (health?.version === version && health.maintenance === null && health.trouble === null) return;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    async close(): Promise<void> {
      await supervisor.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return machine;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return address !== null && typeof address === "object" ? address.port : 0;
}
