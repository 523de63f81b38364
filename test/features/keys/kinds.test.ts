import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { runCli } from "../../../server/cli.ts";
import { kindsOf } from "../../../server/features/keys/kinds.ts";
import { anchorSigner, sealSigner, timestampAuthority } from "../../../server/features/keys/service.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { makeToken, type SoftToken } from "../../harness/softhsm.ts";

/** Every kind of key that an operator can choose, in software and in a token: made, put into use, signing, judged by openssl. */

let folder: string;
let token: SoftToken;
let app: TestAppliance;
const file = (name: string) => path.join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-kinds-"));
  token = makeToken();
  app = await startAppliance({ env: token.env });
});
afterAll(async () => {
  await app?.stop();
  token?.close();
  await rm(folder, { recursive: true, force: true });
});

async function signet(...args: string[]): Promise<unknown> {
  let out = "";
  let err = "";
  const streams = {
    stdout: (text: string) => {
      out += text;
    },
    stderr: (text: string) => {
      err += text;
    },
    stdin: (async function* () {})(),
    interactive: false,
    onSignal: () => undefined,
  };
  const env = { SIGNET_DATA_DIR: app.folder, SIGNET_LOG_LEVEL: "silent", ...token.env };
  expect([await runCli(["keys", ...args, "--json"], env, streams), err]).toEqual([0, expect.any(String)]);
  return JSON.parse(out);
}

const uses = { seal: "seal", timestamp: "tsa", anchor: "anchor" } as const;
const rows = (["seal", "timestamp", "anchor"] as const).flatMap((use) =>
  kindsOf[use].flatMap((kind) => [[use, kind, "software"] as const, [use, kind, "pkcs11"] as const]),
);
const Made = z.object({ id: z.string(), kind: z.string(), storage: z.string() });

/** By the key in use, as the running server signs. */
async function signedBy(use: (typeof rows)[number][0], message: Uint8Array): Promise<Uint8Array> {
  if (use === "anchor") return await (await anchorSigner(app.deps)).sign(message);
  return await (use === "seal" ? await sealSigner(app.deps) : await timestampAuthority(app.deps)).sign(message);
}

test.each(rows)(
  "%s by %s in %s: made, put into use, signs, verifies",
  async (use, kind, storage) => {
    const where = storage === "pkcs11" ? ["--pkcs11"] : [];
    const made = Made.parse(await signet("generate", "--use", uses[use], "--kind", kind, ...where));
    expect(made).toMatchObject({ kind, storage });
    await signet("rotate", "--use", uses[use], "--key", made.id);
    const { signed } = z.object({ signed: z.array(Made) }).parse(await signet("test-sign", "--use", uses[use]));
    expect(signed).toEqual([made]);

    const row = await app.deps.db.read
      .selectFrom("signing_keys")
      .selectAll()
      .where("id", "=", made.id)
      .executeTakeFirstOrThrow();
    const message = Buffer.from(`by ${kind} in ${storage}`);
    await writeFile(file("key.der"), Buffer.from(row.public_key, "base64"));
    await writeFile(file("message"), message);
    await writeFile(file("signature"), await signedBy(use, message));
    const key = ["-pubin", "-inkey", file("key.der"), "-keyform", "DER", "-rawin"];
    const digest = use === "anchor" ? [] : ["-digest", "sha256"];
    const args = ["pkeyutl", "-verify", ...key, ...digest, "-in", file("message"), "-sigfile", file("signature")];
    expect(execFileSync("openssl", args, { encoding: "utf8" })).toContain("Signature Verified Successfully");
    const text = execFileSync("openssl", [
      "pkey",
      "-pubin",
      "-inform",
      "DER",
      "-in",
      file("key.der"),
      "-noout",
      "-text",
    ]);
    expect(text.toString()).toMatch(
      { "rsa-3072": /3072 bit/, "rsa-4096": /4096 bit/, "ec-p256": /prime256v1/, ed25519: /ED25519/ }[kind],
    );
  },
  30_000,
);
