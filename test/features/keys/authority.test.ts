import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../../../server/cli.ts";
import { judgeSealedPdf } from "../../../server/commands/demo/judges.ts";
import { ownEvidence, verifyFile } from "../../../server/features/evidence/verify-file.ts";
import { ownRevocationList } from "../../../server/features/keys/revocation.ts";
import { sealSigner } from "../../../server/features/keys/service.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { sealedEnvelope } from "../evidence/bundle-support.ts";
import { movableClock, publishTemplate } from "../signing/flow.ts";

/** A new authority of our own while everything that was sealed under the one before goes on holding. */

const clock = movableClock(new Date().toISOString());
let folder: string;
let app: TestAppliance;
const file = (name: string) => path.join(folder, name);
const openssl = (args: string[]) =>
  // The verdict stands in the other stream.
  execFileSync("sh", ["-c", 'openssl "$@" 2>&1', "sh", ...args], { encoding: "utf8" });

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-authority-"));
  app = await startAppliance({ clock });
});
afterAll(async () => {
  await app?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function rotateAuthority(...args: string[]): Promise<number> {
  const silent = { stdout: () => undefined, stderr: () => undefined, interactive: false, onSignal: () => undefined };
  const env = { SIGNET_DATA_DIR: app.folder, SIGNET_LOG_LEVEL: "silent" };
  return await runCli(["keys", "rotate", "--use", "ca", ...args], env, { ...silent, stdin: (async function* () {})() });
}

const published = async () => await (await app.call("/.well-known/svc/certificates.pem", { key: null })).text();
const pems = (text: string) => text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g) ?? [];

test("the authority is replaced, seals of before and after hold, and both authorities publish and revoke", async () => {
  const template = await publishTemplate(app);
  const ids = [await sealedEnvelope(app, clock, template)];
  const [first = ""] = pems(await published());
  const before = await sealSigner(app.deps);
  expect(await rotateAuthority("--kind", "rsa-4096")).toBe(2);
  expect(await rotateAuthority()).toBe(0);
  const after = await sealSigner(app.deps);
  expect(after.certificateSha256).not.toBe(before.certificateSha256);
  ids.push(await sealedEnvelope(app, clock, template));

  const all = pems(await published());
  expect(all).toHaveLength(2);
  expect(all).toContain(first);
  await writeFile(file("both.pem"), all.join(""));
  // Each end-entity certificate chains to its own authority only, and its private key stayed the same.
  const [old = "", fresh = ""] = all[0] === first ? all : [all[1], all[0]];
  await writeFile(file("old.pem"), old);
  await writeFile(file("fresh.pem"), fresh);
  for (const [name, signer] of [["old", before] as const, ["fresh", after] as const]) {
    await writeFile(file("seal.der"), signer.certificates[0] ?? "");
    openssl(["x509", "-inform", "DER", "-in", file("seal.der"), "-out", file("seal.pem")]);
    const verify = (ca: string) => ["verify", "-no-CApath", "-CAfile", file(`${ca}.pem`), file("seal.pem")];
    expect(openssl(verify(name))).toContain("OK");
    expect(() => openssl(verify(name === "old" ? "fresh" : "old"))).toThrow();
  }

  for (const id of ids) {
    const response = await app.call(`/v1/envelopes/${id}/document?version=sealed`);
    const bytes = Buffer.from(await response.arrayBuffer());
    await writeFile(file("sealed.pdf"), bytes);
    expect((await judgeSealedPdf(file("sealed.pdf"), file("both.pem"))).filter(({ ok }) => !ok)).toEqual([]);
    const { source, pins } = await ownEvidence(app.deps);
    expect(await verifyFile(app.deps, bytes, source, pins)).toMatchObject({ verdict: "valid", problems: [] });
    const bundle = await app.call(`/v1/envelopes/${id}/evidence`);
    await writeFile(file("bundle.zip"), Buffer.from(await bundle.arrayBuffer()));
    const inside = execFileSync("unzip", ["-p", file("bundle.zip"), "*certificates.pem"]);
    expect(pems(inside.toString()).sort()).toEqual([...all].sort());
  }

  const authorities = (await app.deps.db.read.selectFrom("signing_keys").selectAll().execute()).filter(
    ({ purpose }) => purpose === "ca",
  );
  expect(authorities.map(({ retired_at: retired }) => retired === null).sort()).toEqual([false, true]);
  for (const { id, certificate } of authorities) {
    await writeFile(file("ca.der"), Buffer.from(certificate ?? "", "base64"));
    openssl(["x509", "-inform", "DER", "-in", file("ca.der"), "-out", file("ca.pem")]);
    await writeFile(file("ca.crl"), (await ownRevocationList(app.deps, id)) ?? "");
    expect(openssl(["crl", "-inform", "DER", "-in", file("ca.crl"), "-CAfile", file("ca.pem"), "-noout"])).toContain(
      "verify OK",
    );
  }
}, 60_000);
