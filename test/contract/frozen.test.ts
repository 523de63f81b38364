import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { allCommands } from "../../server/cli.ts";
import { applianceContext } from "../../server/features/backup/opened.ts";
import { unwrapBackupKey } from "../../server/features/backup/recipient.ts";
import { fileKey } from "../../server/features/backup/sealed-file.ts";
import { AuditType } from "../../server/features/envelopes/audit-contract.ts";
import { fsckCodes } from "../../server/features/evidence/fsck/codes.ts";
import { adminActions } from "../../server/features/identity/admin-audit.ts";
import { sealedColumns } from "../../server/features/keys/sealed-columns.ts";
import { operatorActions } from "../../server/features/operators/contract.ts";
import { builtInConsents } from "../../server/features/signing/consent-texts.ts";
import type { JobType } from "../../server/kernel/jobs.ts";
import { errorCodes, problemErrorCodes } from "../../server/kernel/problem.ts";
import { masterKeyFingerprint, openSecrets } from "../../server/kernel/secrets.ts";
import { localEndpoints } from "../../server/local-contract.ts";
import { commandOn } from "../harness/cli.ts";
import { type EarlierFolder, earlierFolders, takeOver } from "../harness/earlier-folder.ts";
import { binding, land, landed, notAdded, today } from "./landed.ts";

/**
 * Names that are stored, signed or spoken with other programs: none may ever be renamed or taken away, because data folders,
 * bundles, backups and scripts of users hold them. `frozen.json` lists them. `SIGNET_FREEZE=1 npm test -- test/contract/frozen.test.ts`
 * adds what is new to it, and takes nothing away.
 */

const file = path.join(import.meta.dirname, "frozen.json");
const Frozen = z.record(z.string(), z.array(z.string()));
const frozen = existsSync(file) ? Frozen.parse(JSON.parse(readFileSync(file, "utf8"))) : {};
const found = new Map<string, readonly string[]>();
const root = path.resolve(import.meta.dirname, "../..");
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

function expectFrozen(section: string, names: readonly string[]): void {
  const now = [...new Set(names)].sort();
  const known = frozen[section] ?? [];
  expect(
    known.filter((name) => !now.includes(name)),
    `${section}: renamed or taken away`,
  ).toEqual([]);
  const added = now.filter((name) => !known.includes(name));
  if (process.env.SIGNET_FREEZE === "1") found.set(section, [...known, ...added].sort());
  else expect(added, `${section}: new names, which frozen.json has to list`).toEqual([]);
}

let earlier: EarlierFolder;
beforeAll(async () => {
  earlier = await takeOver(earlierFolders[0] ?? "");
});
afterAll(async () => {
  await earlier?.close();
  if (found.size > 0) writeFileSync(file, `${JSON.stringify({ ...frozen, ...Object.fromEntries(found) }, null, 2)}\n`);
});

/** What is derived from a key of 32 times the byte 1 under each label. */
test("labels of derived keys", () => {
  const master = Buffer.alloc(32, 1);
  const secrets = openSecrets(master);
  const purposes: string[] = [];
  for (const name of globSync("server/**/*.ts", { cwd: root })) {
    const source = readFileSync(path.join(root, name), "utf8");
    const calls = source.match(/[a-z]\.hmac\(/g)?.length ?? 0;
    const labels = [...source.matchAll(/[a-z]\.hmac\("([a-z-]+)"/g)].flatMap(([, label]) => label ?? []);
    expect(labels.length, `${name} names the purpose of each HMAC`).toBe(calls);
    purposes.push(...labels);
  }
  expectFrozen("labels", [
    `signet/fingerprint ${masterKeyFingerprint(master)}`,
    `signet/key-id ${Buffer.from(secrets.wrapKeys()[0]?.id ?? []).toString("hex")}`,
    `signet/wrap ${sha256(Buffer.from(secrets.wrapKeys()[0]?.wrap ?? []).toString("hex"))}`,
    `signet/backup/file ${fileKey(master, "bak_1", "signet.db").toString("hex")}`,
    ...purposes.map((purpose) => `signet/hmac/${purpose} ${secrets.hmac(purpose, "").toString("hex")}`),
  ]);
});

/** Made when this test was written: under a key of 32 times the byte 1, and for a backup. */
const made = {
  sealed: "AVcy9MzJQEmOxq8qNZdEAtcd4kSZqA2334yWTn9p1c9eEUgrJw==",
  dataKey: "AVcy9Mzk6qhzcDk87+469BX6T96tjMZenZarZTg86nv0kDmaury9waFlBtkkj4yWlzjiKk93QWrXq8f7nwH+vaQ=",
  backupKey: {
    kind: "x25519",
    recipient: "signet-backup--Nxg4nyKGMGD3ZoTpHrZ8vcLh13_ve-KXCrp7_w47RAnUpIK",
    ephemeral: "4pO40/N5COVT1ZJaFryuGuOl+TZ3BhCIbd/BR+I5fB8=",
    nonce: "CB30FGPQby+nD/2I",
    wrapped: "IL4WO1ibYkXqC2aCZxIhllzEKIuaFaYlMV1rw8f7K3xitpFsUaFngt2hK3cCpX00",
  },
  backupSecret: "SIGNET-BACKUP-SECRET-2DT9-kdAcj0hHWuUMbBVEF1nS8-po4S7x_AoTVTpmHPd_u1W",
} as const;
test("what was sealed and wrapped under them is opened", () => {
  const secrets = openSecrets(Buffer.alloc(32, 1));
  expect(secrets.open(made.sealed, "mails.content:mail_1").toString()).toBe("kept");
  expect(secrets.unwrapKey(Buffer.from(made.dataKey, "base64"), Buffer.from("address"))).toEqual(Buffer.alloc(32, 2));
  const opener = { kind: "x25519", secret: made.backupSecret } as const;
  expect(unwrapBackupKey(made.backupKey, opener, "bak_1")).toEqual(Buffer.alloc(32, 3));
});

test("contexts of sealed texts", () => {
  const columns = new Proxy<Record<string, string>>({}, { get: (_, column) => `<${String(column)}>` });
  expectFrozen("contexts", [
    ...sealedColumns.map(({ table, column, context }) => `${table}.${column} ${context(columns)}`),
    `backup ${applianceContext("<id>")}`,
  ]);
});

test("jobs that may wait in the queue", async () => {
  const jobs: JobType<unknown>[] = [];
  for (const name of globSync("server/{kernel,features/**}/*jobs.ts", { cwd: root })) {
    const module: Record<string, unknown> = await import(path.join(root, name));
    jobs.push(...Object.values(module).filter(isJob));
  }
  expectFrozen(
    "jobs",
    jobs.flatMap(({ name, queue, secret, payload, subjectOf }) => [
      `${name} in ${queue}${secret ? ", secret" : ""}`,
      ...[subjectOf(members)].flatMap((subject) => subject ?? []).map((subject) => `${name} is about ${subject}`),
      ...membersOf(z.toJSONSchema(payload, { io: "input" })).map((member) => `${name} ${member}`),
    ]),
  );
});
/** Whose members are their own names. */
const members = new Proxy<Record<string, string>>({}, { get: (_, name) => `.${String(name)}` });
const isJob = (value: unknown): value is JobType<unknown> =>
  typeof value === "object" && value !== null && "backoffMs" in value && "payload" in value;

test("entries of the audits", () => {
  expectFrozen("audit", AuditType.options);
  expectFrozen("operators", operatorActions);
  expectFrozen("administrators", adminActions);
});

test("codes of errors and findings", () => {
  expectFrozen("problems", errorCodes);
  expectFrozen("problem members", problemErrorCodes);
  expectFrozen("fsck", Object.keys(fsckCodes));
});

test("statements that signers accept", () => {
  const texts = Object.entries(builtInConsents).flatMap(([version, by]) =>
    Object.entries(by).map(([locale, text]) => `${version} ${locale} ${sha256(text)}`),
  );
  expectFrozen("consents", texts);
});

test("members of the admin socket", () => {
  const members = localEndpoints.flatMap((spec) => {
    const call = `${spec.method} ${spec.path}`;
    const parts: [string, z.ZodType, "input" | "output"][] = [];
    if (spec.query) parts.push(["query", spec.query, "input"]);
    if (spec.body && "schema" in spec.body) parts.push(["body", spec.body.schema, "input"]);
    for (const [status, response] of Object.entries(spec.responses))
      if ("schema" in response) parts.push([status, response.schema, "output"]);
    return [
      `${call} ${spec.id}`,
      ...parts.flatMap(([part, schema, io]) =>
        membersOf(z.toJSONSchema(schema, { io, unrepresentable: "any" })).map((member) => `${call} ${part} ${member}`),
      ),
    ];
  });
  expectFrozen("socket", members);
});

/** With `SIGNET_FREEZE=1` today's document lands, if it is more than another wording of the newest that has. */
test("landed descriptions of the interface", async () => {
  const newest = landed().at(-1)?.document;
  const now = today();
  if (process.env.SIGNET_FREEZE === "1" && !isDeepStrictEqual(binding(now), binding(newest))) {
    for (const { name, document } of landed())
      expect(await notAdded(document, now), `no addition to ${name}`).toEqual([]);
    land(now);
  }
  expectFrozen(
    "openapi",
    landed().map(({ name, text }) => `${name} ${sha256(text)}`),
  );
});

/** Lines that print JSON on a folder that people work in. The others print what the admin socket answered. */
const lines = [
  "access list",
  "anchors list",
  "api-key create --name frozen --mode test --scopes envelope:read --organization Example",
  "api-key list",
  "backup list",
  "backup status",
  "clock",
  "config get",
  "doctor",
  "fsck",
  "jobs list",
  "keys list",
  "keys record",
  "keys slots",
  "org list",
  "outbox",
  "setup",
  "smtp queue",
  "status",
  "tls show",
  "update history",
  "update status",
];
test("what commands print as JSON", { timeout: 60_000 }, async () => {
  const commands = await allCommands();
  const signet = commandOn(earlier.app.folder);
  const keys: string[] = commands.map(({ name }) => name);
  for (const line of lines) {
    const { out, err } = await signet(...line.split(" "), "--json");
    expect(out, `${line}: ${err}`).toMatch(/^[[{]/);
    keys.push(...keysOf(JSON.parse(out)).map((key) => `${line.replace(/ --.*/, "")} ${key}`));
  }
  expectFrozen("commands", keys);
});

/** `.name`, `.list[].name` … of a JSON Schema. */
function membersOf(schema: unknown): string[] {
  const defs = isRecord(schema) && isRecord(schema.$defs) ? schema.$defs : {};
  const walk = (node: unknown, at: string, open: readonly unknown[]): string[] => {
    if (!isRecord(node) || open.includes(node)) return [];
    const below = [...open, node];
    const named = typeof node.$ref === "string" ? defs[node.$ref.replace("#/$defs/", "")] : undefined;
    const each = (value: unknown, place: string) => (value === undefined ? [] : walk(value, place, below));
    const choices = [node.anyOf, node.oneOf, node.allOf].flatMap((list) => (Array.isArray(list) ? list : []));
    return [
      ...each(named, at),
      ...choices.flatMap((choice) => each(choice, at)),
      ...each(node.items, `${at}[]`),
      ...(isRecord(node.properties)
        ? Object.entries(node.properties).flatMap(([name, value]) => [`${at}.${name}`, ...each(value, `${at}.${name}`)])
        : []),
      ...(Array.isArray(node.enum) ? node.enum.map((value) => `${at} = ${String(value)}`) : []),
      ...("const" in node ? [`${at} = ${String(node.const)}`] : []),
    ];
  };
  return walk(schema, "", []);
}

/** The same of a value. */
function keysOf(value: unknown, at = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => keysOf(one, `${at}[]`));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => [`${at}.${name}`, ...keysOf(member, `${at}.${name}`)]);
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
