import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { endpoints } from "../../server/contract.ts";
import type { RunningHost } from "../../server/feature.ts";
import { createActivity } from "../../server/features/backup/activity.ts";
import { openTls } from "../../server/features/tls/keeper.ts";
import { openMaintenance } from "../../server/features/update/maintenance.ts";
import { features } from "../../server/features.ts";
import { createLogTail } from "../../server/kernel/log-tail.ts";
import { localEndpoints } from "../../server/local-contract.ts";
import { createLoopback } from "../../server/loopback.ts";
import { startAppliance } from "../harness/appliance.ts";
import { copySources } from "../harness/copied-sources.ts";

const run = promisify(execFile);

test("every folder of features is one feature, and they declare the operations of both contracts and nothing else", () => {
  // Beside them stands what the kernel looks after itself.
  expect(features).toHaveLength(readdirSync("server/features").length + 1);
  const ids = (specs: readonly { id: string }[]) => specs.map(({ id }) => id).sort();
  expect(ids(features.flatMap((feature) => feature.endpoints ?? []))).toEqual(ids([...endpoints, ...localEndpoints]));
  // The credential decides on which of the two sockets an operation is served.
  expect(localEndpoints.every(({ credential }) => credential === "local")).toBe(true);
  expect(endpoints.some(({ credential }) => credential === "local")).toBe(false);
});

test("every operation has one handler, every schedule a handler of its job, and no job two", async () => {
  const { deps, jobs, stop } = await startAppliance();
  onTestFinished(stop);
  const tls = await openTls(deps.config, deps.clock.now);
  onTestFinished(() => tls.close());
  const host: RunningHost = {
    deps,
    jobs,
    tls,
    startedAt: deps.clock.ts(),
    url: deps.config.baseUrl,
    backups: createActivity(),
    maintenance: await openMaintenance({ dataDir: deps.config.dataDir, root: null }),
    installation: null,
    log: { tail: createLogTail(), keptIn: null },
    trouble: async () => null,
    loopback: createLoopback(),
    end: null,
  };
  const declared = features.flatMap((feature) => feature.endpoints ?? []).map(({ id }) => id);
  const handled = features.flatMap((feature) => feature.handlers?.(host) ?? []).map(({ endpoint }) => endpoint.id);
  expect(handled.sort()).toEqual(declared.sort());
  const kinds = features.flatMap((feature) => feature.jobs?.(host) ?? []).map(({ job }) => job.name);
  expect(kinds).toEqual([...new Set(kinds)]);
  const scheduled = features.flatMap((feature) => feature.schedules ?? []).map(({ job }) => job.name);
  expect(kinds).toEqual(expect.arrayContaining(scheduled));
});

const greeting: Readonly<Record<string, string>> = {
  "contract.ts": `
import { z } from "zod";
import { endpoint } from "../../kernel/endpoint.ts";

export const Greeting = z.object({ ran: z.int(), heard: z.array(z.string()), greeted: z.array(z.string()), said: z.string() });

export const getGreeting = endpoint({
  method: "GET",
  path: "/v1/greeting",
  id: "getGreeting",
  tag: "Greeting",
  summary: "What was heard",
  credential: "key",
  responses: { 200: { kind: "json", schema: Greeting } },
});

export const endpoints = [getGreeting];
`,
  "jobs.ts": `
import { z } from "zod";
import { defineJob, defineRecurring } from "../../kernel/jobs.ts";

export const greet = defineJob({ name: "greeting.greet", payload: z.object({ envelope: z.string() }), subject: "envelope" });
export const count = defineRecurring("greeting.count");
`,
  "service.ts": `
import type { AuditObserver } from "../envelopes/service.ts";
import { enqueue } from "../../kernel/jobs.ts";
import { greet } from "./jobs.ts";

export const state = { ran: 0, heard: [] as string[], greeted: [] as string[] };

export const listen: AuditObserver = async (tx, _deps, { envelope, entries }) => {
  for (const { type } of entries) state.heard.push(type);
  if (entries.some(({ type }) => type === "envelope.created")) await enqueue(tx, greet, { envelope });
};
`,
  "feature.ts": `
import type { Feature } from "../../feature.ts";
import type words from "../../../locales/en/greeting.json";
import { bind } from "../../kernel/binding.ts";
import { english } from "../../kernel/english.ts";
import { handle } from "../../kernel/job-handler.ts";
import { hourMs } from "../../kernel/schedules.ts";
import { endpoints, getGreeting } from "./contract.ts";
import { count, greet } from "./jobs.ts";
import { listen, state } from "./service.ts";

const t = english<typeof words>("greeting");

export const feature: Feature = {
  endpoints,
  handlers: () => [
    bind(getGreeting)({ handle: async () => ({ status: 200, body: { ...state, said: t("hello", { count: 2 }) } }) }),
  ],
  jobs: () => [
    handle(greet, async ({ envelope }) => {
      state.greeted.push(envelope);
      return undefined;
    }),
    handle(count, async () => {
      state.ran += 1;
      return undefined;
    }),
  ],
  schedules: [{ job: count, everyMs: hourMs }],
  observers: { audit: [listen] },
};
`,
};

/** Its words, a file for each language. */
const words: Readonly<Record<string, object>> = {
  en: { hello: "{count, plural, one {Hello, one of you} other {Hello, # of you}}" },
  de: { hello: "{count, plural, one {Hallo, einer} other {Hallo, alle #}}" },
};

/** The only files outside its folder that a feature touches. */
const outside: Readonly<Record<string, [RegExp, string][]>> = {
  "server/features.ts": [
    [/^/, 'import { feature as greeting } from "./features/greeting/feature.ts";\n'],
    [/ {2}kernel,\n/, "  kernel,\n  greeting,\n"],
  ],
  "server/contract.ts": [
    [/^/, 'import { endpoints as greeting } from "./features/greeting/contract.ts";\n'],
    [/ {2}\.\.\.templates,\n/, "  ...templates,\n  ...greeting,\n"],
  ],
};

const trial = `
import { startAppliance } from "./test/harness/appliance.ts";
import { publishTemplate, sentEnvelope } from "./test/harness/envelopes.ts";

const app = await startAppliance();
const { id } = await sentEnvelope(app, await publishTemplate(app));
await app.jobs.idle();
const { status, body } = await app.json("/v1/greeting");
const known = (await app.json("/openapi.json", { key: null })).body.paths["/v1/greeting"] !== undefined;
const served = await (await fetch(app.url + "/locales/de/greeting.json")).json();
console.log(JSON.stringify({ status, said: body.said, served, ran: body.ran, created: body.heard[0], greeted: body.greeted.includes(id), known }));
await app.stop();
`;

// Besides, `frozen.json` takes up the names of its jobs, by a command.
test("a new feature touches two source files outside its folder, and brings its words", async () => {
  const copy = await copySources(["server", "workers", "locales", "test", "package.json", "tsconfig.json"]);
  const folder = path.join(copy, "server/features/greeting");
  await mkdir(folder);
  for (const [name, source] of Object.entries(greeting)) await writeFile(path.join(folder, name), source);
  for (const [language, texts] of Object.entries(words))
    await writeFile(path.join(copy, "locales", language, "greeting.json"), JSON.stringify(texts));
  for (const [name, edits] of Object.entries(outside)) {
    const before = await readFile(path.join(copy, name), "utf8");
    const after = edits.reduce((text, [where, what]) => text.replace(where, what), before);
    await writeFile(path.join(copy, name), after);
  }
  await writeFile(path.join(copy, "trial.ts"), trial);
  const checked = { extends: "./tsconfig.json", include: ["server"] };
  await writeFile(path.join(copy, "tsconfig.server.json"), JSON.stringify(checked));
  const { stdout } = await run(process.execPath, ["trial.ts"], { cwd: copy });
  expect(JSON.parse(stdout)).toEqual({
    status: 200,
    said: "Hello, 2 of you",
    served: words.de,
    ran: 1,
    created: "envelope.created",
    greeted: true,
    known: true,
  });
  const types = await run("node_modules/.bin/tsc", ["-p", "tsconfig.server.json", "--checkers", "1"], {
    cwd: copy,
  }).catch((failed: { stdout: string }) => failed);
  expect(types.stdout).toBe("");
  const { stdout: cruised } = await run(
    "node_modules/.bin/depcruise",
    ["--config", "test/architecture/rules.mjs", "server/features/greeting", "server/features.ts", "server/contract.ts"],
    { cwd: copy },
  );
  expect(cruised).toContain("no dependency violations found");
});
