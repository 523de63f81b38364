import { randomUUID } from "node:crypto";
import { arch, availableParallelism, platform, release } from "node:os";
import { crc32 } from "node:zlib";
import type { Config } from "../../config.ts";
import { toTs } from "../../kernel/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import { notFound } from "../../kernel/errors.ts";
import type { Actor } from "../../kernel/wire.ts";
import { version } from "../../version.ts";
import { zipPieces } from "../evidence/service.ts";
import type { Checks } from "../health/contract.ts";
import { listOperatorActs, recordOperatorAct } from "../operators/service.ts";
import type { LogLine } from "./logs-contract.ts";
import { scrubber } from "./scrub.ts";
import { readSettings } from "./settings.ts";
import type { ApplianceStatus } from "./status-contract.ts";
import type { SupportBundle } from "./support-contract.ts";
import { listStuckWork } from "./work.ts";

/** Gathers what somebody who helps from afar needs to see, as text that was scrubbed, and nothing of what was signed. */

export type Gathered = {
  config: Config;
  nowMs: number;
  checks: Pick<Checks, "data">;
  /** Null while the data cannot be opened. */
  deps: Pick<Deps, "db"> | null;
  /** Null while the service is stopped. */
  status: ApplianceStatus | null;
  log: readonly LogLine[];
};

const latestActs = 100;
const latestWork = 200;

export async function gatherSupport(about: Gathered): Promise<SupportBundle> {
  const scrub = scrubber(about.config);
  const createdAt = toTs(about.nowMs);
  const files = Object.entries(await contents(about)).map(([name, value]) => {
    const text = scrub(typeof value === "string" ? value : `${JSON.stringify(value, null, 2)}\n`);
    return { name, bytes: Buffer.byteLength(text), text };
  });
  return { id: randomUUID(), createdAt, filename: `signet-support-${createdAt.slice(0, 10)}.zip`, files };
}

async function contents({ config, checks, deps, status, log }: Gathered): Promise<Record<string, unknown>> {
  return {
    "README.txt": readme,
    "about.json": {
      signet: version,
      node: process.version,
      system: `${platform()} ${release()} ${arch()}`,
      // Not cpus(), which knows none where /proc is hidden from the service.
      processors: availableParallelism(),
      running: status !== null,
      schema: deps && (await schemaSteps(deps)),
    },
    "settings.json": readSettings(config).data.map(({ key, source, secret, isSet, value, pending }) => ({
      key,
      source,
      value: secret ? (isSet ? "[set]" : null) : value,
      pending,
    })),
    "checks.json": checks.data.map(shownCheck),
    "status.json": status,
    "work.json": deps && (await work(deps)),
    "operator-audit.json": deps && (await acts(deps)),
    "log.jsonl": log.map((line) => `${JSON.stringify(line)}\n`).join(""),
  };
}

const readme = `What Signet gathered for whoever helps.

Secrets of the settings, keys, tokens and passwords are taken out; addresses of people are masked. There are no documents, titles,
names of signers or organizations in these files. Read them before you hand them on: a message in the log may still say more
than it should.
`;

async function schemaSteps({ db }: Pick<Deps, "db">): Promise<string[]> {
  return (await db.read.selectFrom("migrations").select("name").orderBy("name").execute()).map(({ name }) => name);
}

/** What stands in the parameters stands in the words; organizations have their names there. */
function shownCheck({ id, area, state, code, detail, action }: Checks["data"][number]) {
  return { id, area, state, code, detail: code === "organizations.ok" ? "[names left out]" : detail, action };
}

/** Without titles, names and addresses. */
async function work({ db }: Pick<Deps, "db">) {
  const { data, total } = await listStuckWork(db.read, latestWork);
  const shown = data.map(({ id, name, state, cause, attempts, since, nextAttemptAt, envelope }) => {
    return { id, name, state, cause, attempts, since, nextAttemptAt, envelope: envelope?.id ?? null };
  });
  return { total, data: shown };
}

async function acts({ db }: Pick<Deps, "db">) {
  const entries = await listOperatorActs(db.read, { before: undefined, limit: latestActs });
  return entries.map(({ seq, at, action }) => ({ seq, at, action }));
}

const prepared = new WeakMap<Deps["db"], SupportBundle>();

/** Keeps what was gathered until the next time, so that what is saved is what was shown. */
export async function prepareSupport(deps: Deps, actor: Actor, about: Gathered): Promise<SupportBundle> {
  const bundle = await gatherSupport(about);
  const data = { files: bundle.files.map(({ name }) => name) };
  await deps.db.tx((tx) =>
    recordOperatorAct(tx, deps, { actor, action: "support.bundle_made", target: bundle.id, data }),
  );
  prepared.set(deps.db, bundle);
  return bundle;
}

/** @throws AppError `not-found` when another one was gathered since */
export function preparedSupport({ db }: Pick<Deps, "db">, id: string): SupportBundle {
  const bundle = prepared.get(db);
  if (bundle?.id !== id) throw notFound("This support bundle");
  return bundle;
}

export function zipSupport({ files, createdAt }: SupportBundle): AsyncGenerator<Uint8Array> {
  const sources = files.map(({ name, text }) => ({ name, content: async () => Buffer.from(text) }));
  return zipPieces(sources, createdAt, crc32);
}
