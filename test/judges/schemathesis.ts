import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { z } from "zod";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { sealedEnvelope } from "../harness/bundles.ts";
import { enter, ok, publishTemplate, samplePdf, send } from "../harness/scenario.ts";
import { enterAsViewer } from "../harness/viewers.ts";

/**
 * Schemathesis makes requests from the interface description, valid and invalid, follows its links, and compares the answers.
 * What fails must stand in `schemathesis-known.json`, each with its reason.
 */

const version = "4.32.5";
const here = import.meta.dirname;
const environment = path.resolve(here, `../../out/judges/schemathesis-${version}`);
const knownFile = path.join(here, "schemathesis-known.json");

const Known = z.array(z.looseObject({ failure: z.string(), reason: z.string().min(1) }));
const Id = z.object({ id: z.string() });
const Report = z.looseObject({
  running_time: z.number(),
  operations: z.looseObject({ total: z.int(), tested: z.int() }),
  test_cases: z.looseObject({ generated: z.int(), unique_failures: z.int() }),
  errors: z.array(z.looseObject({ title: z.string(), count: z.int() })),
  filtered: z.int(),
});

/**
 * Runs all its phases over a running appliance. What it printed lies in `out/judges/schemathesis.txt`.
 * @param seconds how long examples, fuzzing and links together may take
 * @returns whether nothing failed but what is known, and every answer was as the description says
 */
export async function judgeBySchemathesis(seconds = 400): Promise<boolean> {
  await install();
  const folder = await mkdtemp(path.join(tmpdir(), "signet-schemathesis-"));
  const app = await startAppliance({ env: { SIGNET_TRUSTED_PROXIES: "127.0.0.1" } });
  let described = "";
  let passed = false;
  try {
    await writeFile(path.join(folder, "sample.pdf"), await samplePdf());
    await writeFile(path.join(folder, "met"), "");
    const given = await prepare(app);
    await writeFile(path.join(folder, "schemathesis.toml"), configuration(app, given, seconds));
    const env = {
      ...process.env,
      SCHEMATHESIS_HOOKS: "schemathesis_hooks",
      PYTHONPATH: here,
      PYTHONDONTWRITEBYTECODE: "1",
      SIGNET_JUDGE_KNOWN: knownFile,
      SIGNET_JUDGE_MET: path.join(folder, "met"),
      SIGNET_JUDGE_GIVEN: JSON.stringify({ ...given, url: app.url, pdf: path.join(folder, "sample.pdf") }),
    };
    const report = path.join(folder, "report.json");
    const args = ["--config-file", path.join(folder, "schemathesis.toml"), "run", `${app.url}/openapi.json`];
    args.push("--phases", "examples,coverage,fuzzing,stateful", "--max-time", String(seconds), "--no-color");
    args.push(
      "--continue-on-failure",
      "--generation-database",
      "none",
      "--report",
      "json",
      "--report-json-path",
      report,
    );
    const code = await run(path.join(environment, "bin/schemathesis"), args, { cwd: folder, env });
    passed = code === 0;
    console.log(await summary(folder));
  } finally {
    await app.stop().catch((error: unknown) => {
      described = String(error);
    });
    await rm(folder, { recursive: true, force: true });
  }
  if (described !== "") console.log(described);
  return passed && described === "";
}

async function install(): Promise<void> {
  const there = await access(path.join(environment, "bin/schemathesis")).then(
    () => true,
    () => false,
  );
  if (there) return;
  const made = await run("python3", ["-m", "venv", environment], {});
  const pip = path.join(environment, "bin/pip");
  if (made !== 0 || (await run(pip, ["install", "--quiet", `schemathesis==${version}`], {})) !== 0)
    throw new Error(`schemathesis could not be installed: see ${output}`);
}

type Given = {
  /** The token that the configuration names, and those of other envelopes that take its place in turn. */
  signer: string;
  signers: string[];
  viewer: string;
  cookie: string;
  sealed: string;
  attachment: string;
  download: string;
  /** Ids of what must not be deleted: the key, and what the tokens hang on. */
  kept: string[];
};

/** Something of everything that the operations read: a sealed envelope with an attachment, open ones, tokens. */
async function prepare(app: TestAppliance): Promise<Given> {
  const template = await publishTemplate(app);
  const sealed = await sealedEnvelope(app, { advance: () => undefined }, template);
  const mails = await app.mail();
  const download = mails.find(({ kind }) => kind === "completed")?.link ?? "";
  const values = z
    .looseObject({
      values: z.looseObject({ recipients: z.looseObject({ Tenant: z.looseObject({ card: z.array(Id) }) }) }),
    })
    .parse((await ok(app, 200, `/v1/envelopes/${sealed}`)).body);
  const signers: string[] = [];
  const kept: string[] = [];
  for (let n = 0; n < 8; n++) {
    const email = `signer-${n}@example.com`;
    const viewers = [{ email: `viewer-${n}@example.com` }];
    const { id } = await send(app, template, { tenant: { email }, envelope: { viewers, viewerDocumentAccess: true } });
    signers.push(await enter(app, email));
    kept.push(id);
  }
  const keys = z.object({ data: z.array(Id) });
  const cookie = await app.signIn();
  const listed = await ok(app, 200, "/v1/api-keys", { key: null, headers: { cookie } });
  return {
    signer: signers[0] ?? "",
    signers,
    viewer: await enterAsViewer(app, "viewer-0@example.com"),
    cookie: cookie.slice(cookie.indexOf("=") + 1),
    sealed,
    attachment: values.values.recipients.Tenant.card[0]?.id ?? "",
    download: new URL(download).pathname.split("/").at(-1) ?? "",
    kept: [...kept, template, ...keys.parse(listed.body).data.map(({ id }) => id)],
  };
}

/** What its command line has no options for. Basic strings of TOML are written like those of JSON. */
function configuration(app: TestAppliance, given: Given, seconds: number): string {
  const text = (value: string) => JSON.stringify(value);
  const half = (name: string, operation: string, values: Record<string, string>) => `
[[operations]]
include-operation-id = ${text(operation)}
parameters = { ${Object.keys(values)
    .map(
      (parameter) =>
        `${text(`path.${parameter}`)} = { dictionary = ${text(`${name}-${parameter}`)}, probability = 0.5 }`,
    )
    .join(", ")} }
`;
  const things: [string, string, Record<string, string>][] = [
    ["attachment", "getAttachment", { id: given.sealed, attachment: given.attachment }],
    ["evidence", "getEnvelopeEvidence", { id: given.sealed }],
    ["document", "getEnvelopeDocument", { id: given.sealed }],
    ["download", "downloadDocument", { token: given.download }],
  ];
  const dictionaries = things.flatMap(([name, , values]) =>
    Object.entries(values).map(([key, value]) => `${text(`${name}-${key}`)} = { values = [${text(value)}] }`),
  );
  return `seed = 1
max-stream-events = 1
request-timeout = 20
max-time = ${seconds}

[auth.openapi]
bearerApiKey = { bearer = ${text(app.keys.live)} }
apiKeyHeader = { api_key = ${text(app.keys.live)} }
sessionCookie = { api_key = ${text(given.cookie)} }
signerToken = { bearer = ${text(given.signer)} }
viewerToken = { bearer = ${text(given.viewer)} }

[checks]
positive_data_acceptance = { expected-statuses = ["2xx", "3xx", 401, 403, 404, 409, 412, 416, 429, "5xx"] }
negative_data_rejection = { expected-statuses = [400, 401, 403, 404, 405, 406, 409, 412, 413, 415, 422, 429, "5xx"] }

[dictionaries]
${dictionaries.join("\n")}
${things.map((thing) => half(...thing)).join("")}`;
}

const output = path.resolve(here, "../../out/judges/schemathesis.txt");

/** @returns the exit code; what it says goes to the file */
async function run(
  command: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv },
): Promise<number> {
  const file = await open(output, "w");
  try {
    const child = spawn(command, args, { ...options, stdio: ["ignore", file.fd, file.fd] });
    const [code] = await once(child, "exit");
    return z.int().catch(-1).parse(code);
  } finally {
    await file.close();
  }
}

async function summary(folder: string): Promise<string> {
  const { operations, test_cases, errors, filtered, running_time } = Report.parse(
    JSON.parse(await readFile(path.join(folder, "report.json"), "utf8")),
  );
  const known = Known.parse(JSON.parse(await readFile(knownFile, "utf8")));
  const met = new Set((await readFile(path.join(folder, "met"), "utf8")).split("\n").map(Number));
  const unmet = known.filter((_, index) => !met.has(index));
  const lines = [
    `${operations.tested} of ${operations.total} operations, ${test_cases.generated} requests in ${Math.round(running_time)} s`,
    `${test_cases.unique_failures} failures beside ${filtered} that are known; ${errors.length} errors`,
    ...errors.map(({ title, count }) => `${title}: ${count}`),
    ...unmet.map(({ failure, reason }) => `not met: ${failure} (${reason})`),
    `see ${output}`,
  ];
  return lines.map((line) => `  ${line}`).join("\n");
}
