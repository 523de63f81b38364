import { createHmac } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sdkOperations } from "../../scripts/sdk-operations.ts";
import { endpoints } from "../../server/contract.ts";
import { version } from "../../server/version.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { samplePdf } from "../harness/pdfs.ts";
import { type InstalledSdk, installSdk, method } from "../harness/sdk.ts";

/** The package as it is installed: what is in it, that its types hold, and that programs that use it work with a real appliance. */

let sdk: InstalledSdk;
let app: TestAppliance;

beforeAll(async () => {
  [sdk, app] = await Promise.all([installSdk(), startAppliance()]);
  writeFileSync(path.join(sdk.project, "agreement.pdf"), await samplePdf({ pages: 1 }));
  for (const name of ["flow.ts", "types.ts"])
    writeFileSync(path.join(sdk.project, name), readFileSync(path.join("test/fixtures/sdk", name)));
  writeFileSync(path.join(sdk.project, "guide.ts"), guide());
  writeFileSync(path.join(sdk.project, "readme.ts"), examplesOf(path.join(sdk.installed, "README.md")).join("\n"));
});
afterAll(async () => {
  await app?.stop();
  await sdk?.remove();
});

const examplesOf = (file: string): string[] =>
  [...readFileSync(file, "utf8").matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code = ""]) => code);

/** The examples of docs/sdk.md, one after the other, with the appliance of this test, and a webhook that comes in. */
function guide(): string {
  const examples = examplesOf("docs/sdk.md");
  expect(examples.length).toBeGreaterThan(5);
  const head = "const { BASE_URL = '', WEBHOOK_ID = '', WEBHOOK_TIME = '', WEBHOOK_SIGNATURE = '' } = process.env;";
  const webhook = `
    const headers = { "webhook-id": WEBHOOK_ID, "webhook-timestamp": WEBHOOK_TIME, "webhook-signature": WEBHOOK_SIGNATURE };
    const body = ${JSON.stringify(webhookBody)};
    const answers = [body, body.replace("test", "tset")].map((body) =>
      receive(new Request("https://you.example.com/", { method: "POST", headers, body })));
    console.log("answers: " + (await Promise.all(answers)).map(({ status }) => status).join());`;
  return [head, ...examples.map(atBaseUrl), webhook].join("\n");
}
const atBaseUrl = (code: string): string => code.replaceAll('"http://127.0.0.1:8480"', "BASE_URL");
const webhookBody = '{"id":"evt_1","type":"webhook.test"}';

test("the tarball has a module and its declarations, without a dependency and small", () => {
  expect(path.basename(sdk.tarball)).toBe(`signet-sdk-${version}.tgz`);
  const names = readdirSync(sdk.installed);
  expect(names.filter((name) => !name.endsWith(".d.ts")).sort()).toEqual(["README.md", "index.js", "package.json"]);
  const manifest = JSON.parse(readFileSync(path.join(sdk.installed, "package.json"), "utf8"));
  expect(manifest).toMatchObject({ name: "@signet/sdk", version, license: "UNLICENSED", type: "module" });
  expect(Object.keys(manifest).filter((key) => /dependencies/i.test(key))).toEqual([]);
  const code = readFileSync(path.join(sdk.installed, "index.js"), "utf8");
  expect(ts.preProcessFile(code).importedFiles).toEqual([]);
  const size = gzipSync(code).byteLength;
  console.log(`@signet/sdk: ${(size / 1000).toFixed(1)} kB compressed, ${sdkOperations(endpoints).length} operations`);
  expect(size).toBeLessThan(20_000);
  for (const name of names.filter((one) => one.endsWith(".d.ts")))
    for (const [, from] of readFileSync(path.join(sdk.installed, name), "utf8").matchAll(/from "([^"]+)"/g))
      expect(from).toMatch(/^\.\/[a-z]+\.js$/);
});

test("every published operation for keys, and public verification, has a method of its own", async () => {
  const { Signet } = await sdk.load();
  const signet = new Signet({ baseUrl: app.url, apiKey: app.keys.live });
  const operations = sdkOperations(endpoints);
  const names = operations.map(({ operation: { group, name } }) => `${group}.${name}`);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(method(signet, name), name).toBeTypeOf("function");
  expect(names).toEqual(
    expect.arrayContaining([
      ...["templates.create", "templates.uploadFile", "templates.saveDraft", "templates.publish", "templates.versions"],
      ...["envelopes.create", "envelopes.list", "envelopes.get", "envelopes.document", "envelopes.void"],
      ...["envelopes.follow", "envelopes.evidence", "verification.verifyDocument", "organization.exportAudit"],
    ]),
  );
  const keys = endpoints.filter(({ credential, published }) => credential === "key" && published !== false);
  expect(keys.length).toBeGreaterThan(20);
  const ids = operations.map(({ endpoint }) => endpoint.id);
  expect(ids).toEqual(expect.arrayContaining(keys.map(({ id }) => id)));
  // What belongs to signing pages and the dashboard needs other credentials.
  for (const id of ["submitSigning", "exchangeSigningToken", "createApiKey", "updatePreferences"])
    expect(ids).not.toContain(id);
});

test("strict programs compile with browsers' types and with Node's, and mistakes are found", async () => {
  const browsers = ["--lib", "es2022,dom,dom.iterable", "--types", ""];
  const node = ["--lib", "es2022", "--types", "node"];
  expect(await sdk.faultsOf(["types.ts"], browsers)).toBe("");
  expect(await sdk.faultsOf(["types.ts", "flow.ts", "guide.ts", "readme.ts"], node)).toBe("");
});

test("a program sends, lists, follows, downloads and voids on a real appliance", async () => {
  const printed = await sdk.runs("flow.ts", { BASE_URL: app.url, API_KEY: app.keys.live });
  expect(printed).toBe("the flow is done\n");
});

test("the examples of the guide do what they say", async () => {
  const time = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from("a secret of thirty-two bytes ...");
  const signature = createHmac("sha256", key).update(`evt_1.${time}.${webhookBody}`).digest("base64");
  const printed = await sdk.runs("guide.ts", {
    BASE_URL: app.url,
    API_KEY: app.keys.live,
    WEBHOOK_SECRET: `whsec_${key.toString("base64")}`,
    WEBHOOK_ID: "evt_1",
    WEBHOOK_TIME: time,
    WEBHOOK_SIGNATURE: `v1,${signature}`,
  });
  const lines = printed.trim().split("\n");
  const said = (pattern: RegExp) => lines.filter((line) => pattern.test(line)).length;
  expect(said(/^created env_/)).toBe(1);
  expect(lines).toContain("1 envelope.created");
  expect(said(/^\d+ recipient\.sent$/)).toBe(1);
  expect(said(/^\d+ envelopes, more: false$/)).toBe(1);
  expect(said(/^env_\w+ is sent$/)).toBe(1);
  expect(said(/^422 validation-failed: .+ \(request req_\w+\)$/)).toBe(1);
  expect(lines).toContain("once: true");
  expect(lines).toContain("webhook evt_1 webhook.test");
  expect(lines).toContain("answers: 204,400");
  expect(lines).toContain("verification: unknown");
  expect(readFileSync(path.join(sdk.project, "original.pdf")).subarray(0, 5).toString()).toBe("%PDF-");
});

test("the guide's first program runs in a project as npm init makes it, and without TypeScript", async () => {
  const fresh = path.join(sdk.project, "fresh");
  mkdirSync(fresh);
  writeFileSync(path.join(fresh, "package.json"), JSON.stringify({ type: "commonjs" }));
  const [first = ""] = examplesOf("docs/sdk.md");
  for (const name of ["first.mts", "first.mjs"]) {
    writeFileSync(path.join(fresh, name), `const { BASE_URL } = process.env;\n${atBaseUrl(first)}`);
    const printed = await sdk.runs(`fresh/${name}`, { BASE_URL: app.url, API_KEY: app.keys.live });
    expect(printed).toMatch(/^created env_\w+\n$/);
  }
});
