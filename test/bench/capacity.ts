import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cp, lstat, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createClient } from "../../server/commands/demo/client.ts";
import {
  linkFor,
  people,
  publishTemplate,
  sendEnvelope,
  signAs,
  waitFor,
  waitForSeal,
} from "../../server/commands/demo/main-job.ts";
import { type Appliance, startAppliance } from "../../server/compose.ts";
import { loadConfig } from "../../server/config.ts";
import { Envelope } from "../../server/features/envelopes/contract.ts";
import { anchorNow } from "../../server/features/evidence/anchors/signing.ts";
import { appendLeaf } from "../../server/features/evidence/anchors/tree.ts";
import type { Leaf } from "../../server/features/evidence/contract.ts";
import { createApiKey, createOrganization } from "../../server/features/identity/service.ts";
import { listMail } from "../../server/features/mail/service.ts";
import { SigningExchange, SigningView } from "../../server/features/signing/contract.ts";
import { newId } from "../../server/kernel/ids.ts";
import { createLog } from "../../server/kernel/log.ts";
import { permissions } from "../../server/kernel/wire.ts";
import { openDeps } from "../../server/open-deps.ts";
import { freePort } from "../crash/scenario.ts";
import { multiplyEnvelopes } from "./capacity-rows.ts";
import { median } from "./median.ts";
import type { BenchResult } from "./seal.ts";

/** What a full appliance costs: the same questions to one with 1 000 envelopes and to one with 100 000, in turns. */

const small = 1000;
const large = Number(process.env.SIGNET_BENCH_ENVELOPES ?? 100_000);
/** Envelopes that went through the API: sealed, waiting for the second signature, just sent, voided. */
const real = { sealed: 14, signedOnce: 2, sent: 2, voided: 2 };
const reads = 200;
const writes = 40;
const starts = 5;
const leavesEachTransaction = 500;

type Base = { folder: string; key: string; template: string; originals: string[] };
type Side = Base & Grown & { app: Appliance };

export async function benchCapacity(): Promise<BenchResult[]> {
  const root = await mkdtemp(path.join(tmpdir(), "signet-bench-capacity-"));
  try {
    const base = await makeReal(path.join(root, "real"));
    const [few, many] = [
      await grow(base, path.join(root, "few"), small),
      await grow(base, path.join(root, "many"), large),
    ];
    console.log(
      `${base.originals.length} envelopes went through the API (${Object.entries(real)
        .map(([state, count]) => `${count} ${state}`)
        .join(", ")}); ${small} and ${large} are copies of all their rows with ids, times and titles of their own. ` +
        "Leaves of sealed ones were appended by the product; chains of copies do not verify, and their files are those of the originals.",
    );
    const results = [await compareStarts(few.folder, many.folder), await sizes(few, many)];
    const sides: [Side, Side] = [await open(base, few), await open(base, many)];
    try {
      results.push(...(await compareReads(sides)), ...(await compareWork(sides)));
    } finally {
      for (const { app } of sides) await app.stop(0);
    }
    return results;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

const envOf = (folder: string): Record<string, string> => ({
  SIGNET_DATA_DIR: folder,
  SIGNET_PORT: "0",
  SIGNET_LOG_LEVEL: "silent",
  SIGNET_DISK_RESERVE_MB: "0",
});
const open = async (base: Base, grown: Grown): Promise<Side> => {
  const app = await startAppliance({ config: loadConfig(envOf(grown.folder)), log: createLog("silent") });
  // The start reads the whole database once, beside the first minutes of work.
  await app.deps.db.check("quick");
  await app.jobs.idle();
  return { ...base, ...grown, app };
};

/** Through the API, with all that follows. */
async function makeReal(folder: string): Promise<Base> {
  const app = await startAppliance({ config: loadConfig(envOf(folder)), log: createLog("silent") });
  try {
    const key = await prepare(app);
    const client = createClient(app.url, key);
    const pdf = await readFile(path.resolve(import.meta.dirname, "../fixtures/pdf/lecture.pdf"));
    const { template } = await publishTemplate(client, pdf, "none");
    const originals: string[] = [];
    for (const [state, count] of Object.entries(real))
      for (let i = 0; i < count; i += 1)
        originals.push(await makeOne(app, client, template.id, state, originals.length));
    await app.jobs.idle();
    return { folder, key, template: template.id, originals };
  } finally {
    await app.stop();
  }
}

async function prepare({ deps }: Appliance): Promise<string> {
  const owner = { email: "owner@example.com", name: "Olive Owner", password: null };
  const made = await createOrganization(deps, { name: "Example Ltd", owner });
  const actor = { type: "user" as const, id: made.user, name: owner.name, email: owner.email };
  const scopes = [...permissions];
  return (
    await createApiKey(deps, made.organization, actor, new Set(permissions), { name: "bench", mode: "live", scopes })
  ).key;
}

async function makeOne(
  { url, deps }: Appliance,
  client: ReturnType<typeof createClient>,
  template: string,
  state: string,
  number: number,
): Promise<string> {
  const { id } = await sendEnvelope(client, template, { title: `Capacity ${number}` });
  const mailbox = () => listMail(deps.db.read, deps, { envelope: id });
  if (state === "sealed" || state === "signedOnce")
    for (const person of state === "sealed" ? people : people.slice(0, 1))
      await signAs(url, person, await linkFor(mailbox, person.email), mailbox);
  if (state === "sealed") await waitForSeal(client, id);
  if (state === "voided") {
    await linkFor(mailbox, people[0].email);
    await client.json(Envelope, `/v1/envelopes/${id}/void`, { json: { reason: "Not wanted" } });
  }
  return id;
}

type Grown = { folder: string; ids: string[] };

async function grow({ folder: from, originals }: Base, folder: string, count: number): Promise<Grown> {
  await cp(from, folder, { recursive: true, filter: async (name) => !(await lstat(name)).isSocket() });
  const ids = multiplyEnvelopes(path.join(folder, "signet.db"), originals, count);
  const { deps, close } = await openDeps({ config: loadConfig(envOf(folder)), log: createLog("silent") });
  try {
    for (let done = 0; done < ids.length; done += leavesEachTransaction)
      await deps.db.tx(async (tx) => {
        for (const id of ids.slice(done, done + leavesEachTransaction)) await appendLeaf(tx, leafOf(id));
      });
    await anchorNow(deps);
    await deps.db.truncateLog();
  } finally {
    await close();
  }
  return { folder, ids };
}

const leafOf = (envelope: string): Leaf => ({
  v: 1,
  type: "svc.leaf",
  envelope,
  documentSha256: randomBytes(32).toString("hex"),
  auditHash: "0".repeat(64),
  sealedAt: "2026-11-21T09:00:00.000Z",
  testMode: false,
});

/** From the start of the process to its first answer. */
async function compareStarts(few: string, many: string): Promise<BenchResult> {
  const times: Times = [[], []];
  for (let round = 0; round < starts; round += 1)
    for (const [side, folder] of [few, many].entries()) times[side]?.push(await startOf(folder));
  return row("start to first answer", "none", times);
}

async function startOf(folder: string): Promise<number> {
  const port = String(await freePort());
  const main = path.resolve(import.meta.dirname, "../../server/main.ts");
  const begun = performance.now();
  const child = spawn(process.execPath, [main, "serve"], {
    env: { PATH: process.env.PATH ?? "", ...envOf(folder), SIGNET_PORT: port },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  try {
    const answered = async () => (await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null))?.ok || null;
    await waitFor("the first answer", answered, 60_000, 5);
    return performance.now() - begun;
  } finally {
    child.kill("SIGKILL");
    await gone;
  }
}

async function sizes(few: Grown, many: Grown): Promise<BenchResult> {
  const each = async ({ folder }: Grown, count: number) => (await stat(path.join(folder, "signet.db"))).size / count;
  const [little, much] = [await each(few, small), await each(many, large)];
  return {
    name: "database bytes an envelope",
    ratio: much / little,
    target: "≤ 2",
    detail: `${Math.round(much)} against ${Math.round(little)} bytes; ${Math.round((much * large) / 1e6)} MB`,
  };
}

/** Each question is asked of both in turns. */
async function compareReads(sides: readonly [Side, Side]): Promise<BenchResult[]> {
  const questions: [string, (side: Side, round: number) => string][] = [
    ["list, first page", () => "/v1/envelopes"],
    ["list, of a state that one in ten has", () => "/v1/envelopes?status=voided"],
    ["list, of a state that none has", () => "/v1/envelopes?status=expired"],
    ["list, of a state of the seal that none has", () => "/v1/envelopes?seal=failed"],
    ["list, of one template", ({ template }) => `/v1/envelopes?template=${template}`],
    ["search that finds one", (_, round) => `/v1/envelopes?q=${encodeURIComponent(`copy ${20 + round}.`)}`],
    ["search that finds all", () => "/v1/envelopes?q=clara"],
    ["search that finds none", () => "/v1/envelopes?q=nobody-of-this-name"],
    ["detail", ({ ids }, round) => `/v1/envelopes/${ids[(round * 7919) % ids.length]}`],
    ["audit trail", ({ ids }, round) => `/v1/envelopes/${ids[(round * 7919) % ids.length]}/events`],
  ];
  const results: BenchResult[] = [];
  for (const [name, target] of questions) {
    const times = await inTurns(sides, reads, async (side, round) => {
      const response = await fetch(new URL(target(side, round), side.app.url), {
        headers: { authorization: `Bearer ${side.key}` },
      });
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`${name} answered ${response.status}`);
    });
    results.push(row(name, "≤ 2", times));
  }
  return results;
}

/** What changes something: an envelope made, its page opened by the first signer, an anchor over one new leaf. */
async function compareWork(sides: readonly [Side, Side]): Promise<BenchResult[]> {
  const made = new Map<Side, string[]>(sides.map((side) => [side, []]));
  const create = await inTurns(sides, writes, async (side, round) => {
    const { id } = await sendEnvelope(createClient(side.app.url, side.key), side.template, { title: `New ${round}` });
    made.get(side)?.push(id);
  });
  const tokens = new Map<Side, string[]>();
  for (const side of sides) {
    const { deps, jobs } = side.app;
    await jobs.idle();
    const found: string[] = [];
    for (const envelope of made.get(side) ?? [])
      found.push(await linkFor(() => listMail(deps.db.read, deps, { envelope }), people[0].email));
    tokens.set(side, found);
  }
  const page = await inTurns(sides, writes, async (side, round) => {
    const token = tokens.get(side)?.[round];
    const exchange = { json: { token } };
    const { accessToken } = await createClient(side.app.url, null).json(
      SigningExchange,
      "/v1/signing/exchange",
      exchange,
    );
    const signer = createClient(side.app.url, accessToken);
    await signer.json(SigningView, "/v1/signing/session");
    await signer.bytes("/v1/signing/document");
  });
  const anchor = await inTurns(sides, writes, async ({ app: { deps } }) => {
    await deps.db.tx((tx) => appendLeaf(tx, leafOf(newId("env"))));
    await anchorNow(deps);
  });
  return [
    row("create", "≤ 2", create),
    row("sign page: link, session, document", "≤ 2", page),
    row("leaf and anchor", "≤ 2", anchor),
  ];
}

/** Milliseconds, of the small one and of the large one. */
type Times = [number[], number[]];

async function inTurns(
  sides: readonly [Side, Side],
  rounds: number,
  step: (side: Side, round: number) => Promise<void>,
): Promise<Times> {
  const times: Times = [[], []];
  // Once before it counts: a first call compiles and fills caches.
  for (let round = -1; round < rounds; round += 1)
    for (const [index, side] of sides.entries()) {
      const begun = performance.now();
      await step(side, Math.max(round, 0));
      if (round >= 0) times[index]?.push(performance.now() - begun);
    }
  return times;
}

function row(name: string, target: string, [few, many]: Times): BenchResult {
  const at = (values: readonly number[], share: number) =>
    values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? Number.NaN;
  const figures = (values: readonly number[]) => `${median(values).toFixed(1)} / ${at(values, 0.95).toFixed(1)} ms`;
  return {
    name: `${name}: ${large} ÷ ${small} envelopes`,
    ratio: median(many) / median(few),
    target,
    detail: `p50; p95 ${(at(many, 0.95) / at(few, 0.95)).toFixed(2)}; p50 / p95 ${figures(many)} against ${figures(few)}`,
  };
}
