import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir, userInfo } from "node:os";
import path from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { runCli } from "../../../server/cli.ts";
import { AnchorKeys } from "../../../server/features/keys/contract.ts";
import { checkRecords } from "../../../server/features/keys/records.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { ok } from "../../harness/scenario.ts";
import { makeToken, type SoftToken } from "../../harness/softhsm.ts";

/** The signed record of the keys, as a reader with nothing but openssl and SHA-256 checks it. */

const Record = z.looseObject({
  seq: z.number(),
  act: z.string(),
  by: z.object({ account: z.string(), host: z.string(), name: z.string().nullable() }),
  keys: z.array(z.looseObject({ use: z.string(), state: z.string(), where: z.looseObject({ storage: z.string() }) })),
  prevHash: z.string(),
  hash: z.string(),
  kid: z.string().nullable(),
  signature: z.string().nullable(),
});
type Record = z.infer<typeof Record>;

let folder: string;
let token: SoftToken;
let app: TestAppliance;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-records-"));
  token = makeToken();
  app = await startAppliance({ env: token.env });
});
afterAll(async () => {
  await app?.stop();
  token?.close();
  await rm(folder, { recursive: true, force: true });
});

async function signet(...args: string[]): Promise<{ code: number; out: string }> {
  let out = "";
  const streams = {
    stdout: (text: string) => {
      out += text;
    },
    stderr: () => undefined,
    stdin: (async function* () {})(),
    interactive: false,
    onSignal: () => undefined,
  };
  const env = { SIGNET_DATA_DIR: app.folder, SIGNET_LOG_LEVEL: "silent", ...token.env };
  return { code: await runCli(["keys", ...args], env, streams), out };
}

async function records(): Promise<{ code: number; records: Record[]; problems: string[] }> {
  const { code, out } = await signet("record", "--json");
  return { code, ...z.object({ records: z.array(Record), problems: z.array(z.string()) }).parse(JSON.parse(out)) };
}

/** RFC 8785 for what records hold: names in order, no blanks. */
const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === "object" && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .sort()
            .map(([name, one]) => [name, sorted(one)]),
        )
      : value;

/** What openssl says of the signature under the published key. */
async function opensslVerifies(record: Record, text: string): Promise<boolean> {
  const { keys } = AnchorKeys.parse((await ok(app, 200, "/.well-known/svc/keys.json", { key: null })).body);
  const x = keys.find(({ kid }) => kid === record.kid)?.x ?? "";
  const der = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), Buffer.from(x, "base64url")]);
  const file = (name: string) => path.join(folder, name);
  await writeFile(file("key.der"), der);
  await writeFile(file("text"), text);
  await writeFile(file("sig"), Buffer.from(record.signature ?? "", "base64url"));
  const args = ["pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", file("key.der"), "-rawin"];
  try {
    execFileSync("openssl", [...args, "-in", file("text"), "-sigfile", file("sig")], { stdio: "pipe" });
    return true;
  } catch {
    return false;
  }
}

test("every act on the keys has its record: who, when, where; chained, signed and checked by openssl", async () => {
  await ok(app, 200, "/.well-known/svc/keys.json", { key: null });
  expect((await signet("generate", "--use", "seal", "--kind", "ec-p256", "--pkcs11", "--by", "Olive Owner")).code).toBe(
    0,
  );
  expect((await signet("rotate", "--use", "seal")).code).toBe(0);
  expect((await signet("rotate", "--use", "anchor", "--pkcs11")).code).toBe(0);
  // The anchor key is away: what is done meanwhile stands in the chain, unsigned.
  token.pullOut();
  expect((await signet("generate", "--use", "tsa", "--kind", "ec-p256")).code).toBe(0);
  token.putBack();
  await expect.poll(async () => (await signet("test-sign")).code, { timeout: 15_000 }).toBe(0);
  expect((await signet("rotate", "--use", "tsa")).code).toBe(0);

  const { code, records: all, problems } = await records();
  expect({ code, problems }).toEqual({ code: 0, problems: [] });
  expect(all.map(({ act }) => act)).toEqual([
    "first-keys",
    "generate",
    "rotate",
    "generate",
    "rotate",
    "generate",
    "rotate",
  ]);
  expect(all.map(({ signature }) => signature === null)).toEqual([false, false, false, false, false, true, false]);
  expect(all[1]).toMatchObject({
    by: { account: userInfo().username, host: hostname(), name: "Olive Owner" },
    keys: [{ use: "seal", state: "waiting", where: { storage: "pkcs11", label: "signet", model: "SoftHSM v2" } }],
  });
  expect(all[4]?.keys.map(({ use, state, where }) => [use, state, where.storage])).toEqual([
    ["anchor", "retired", "software"],
    ["anchor", "in-use", "pkcs11"],
  ]);
  let before = "0".repeat(64);
  for (const record of all) {
    const { hash, kid, signature, ...body } = record;
    const text = JSON.stringify(sorted(body));
    expect(createHash("sha256").update(text).digest("hex")).toBe(hash);
    expect(body.prevHash).toBe(before);
    before = hash;
    if (signature === null) expect(kid).toBeNull();
    else {
      expect(await opensslVerifies(record, text)).toBe(true);
      expect(await opensslVerifies(record, text.replace(record.act, "forged"))).toBe(false);
    }
  }
  const { out } = await signet("record");
  for (const { hash } of all) expect(out).toContain(hash);
  expect(out).toContain(`${userInfo().username} on ${hostname()} (Olive Owner)`);
});

test("the database refuses to change a record, and one that was changed all the same is found", async () => {
  const change = () =>
    app.deps.db.tx((tx) =>
      tx
        .updateTable("key_records")
        .set((row) => ({ body: sql`replace(${row.ref("body")}, 'Olive', 'Oscar')` }))
        .execute(),
    );
  await expect(change()).rejects.toThrow("key_records is append-only");
  await app.deps.db.tx((tx) => sql`drop trigger key_records_no_update`.execute(tx));
  await change();
  expect(await records()).toMatchObject({
    code: 1,
    problems: ["key record 2: its text does not have its hash", expect.stringContaining("key record 2: its signature")],
  });
});

test("a signature that was taken away is missed while the key was here, and text that is none is found", async () => {
  const second = (values: { kid: null; signature: null } | { body: string }) =>
    app.deps.db.tx((tx) => tx.updateTable("key_records").set(values).where("seq", "=", 2).execute());
  await second({ kid: null, signature: null });
  expect((await records()).problems).toEqual([
    "key record 2: its text does not have its hash",
    "key record 2: its signature is missing, and its key was here",
  ]);
  await second({ body: "Oscar" });
  expect(await checkRecords(app.deps.db.read)).toContain("key record 2: it has another number");
});
