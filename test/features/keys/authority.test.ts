import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { runCli } from "../../../server/cli.ts";
import { judgeSealedPdf } from "../../../server/commands/demo/judges.ts";
import { ownEvidence, verifyFile } from "../../../server/features/evidence/verify-file.ts";
import { rotateAuthority as rotateAuthorityOf } from "../../../server/features/keys/authority.ts";
import { ownRevocationList } from "../../../server/features/keys/revocation.ts";
import { sealSigner, timestampAuthority } from "../../../server/features/keys/service.ts";
import { parseRevocationList } from "../../../workers/seal/crl.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { sealedEnvelope } from "../../harness/bundles.ts";
import { movableClock } from "../../harness/clock.ts";
import { publishTemplate } from "../../harness/scenario.ts";

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

/** What a certificate names for validators outside, as openssl reads it. */
function named(der: Uint8Array): { issuer: string; list: string; keyIdentifier: string } {
  const text = execFileSync("openssl", ["x509", "-inform", "DER", "-noout", "-text"], { input: der }).toString();
  return {
    issuer: /CA Issuers - URI:(\S+)/.exec(text)?.[1] ?? "",
    list: /X509v3 CRL Distribution Points:\s+Full Name:\s+URI:(\S+)/.exec(text)?.[1] ?? "",
    keyIdentifier: (/X509v3 Authority Key Identifier:\s+(?:keyid:)?([0-9A-F:]+)/.exec(text)?.[1] ?? "")
      .replaceAll(":", "")
      .toLowerCase(),
  };
}

test("certificates name where their authority and its list are served, and both are, of every authority, under any base URL", async () => {
  const own = movableClock(new Date().toISOString());
  const env = { SIGNET_BASE_URL: "https://sign.example.com/" };
  const data = await mkdtemp(path.join(folder, "data-"));
  let on = await startAppliance({ clock: own, env, folder: data });
  onTestFinished(() => on.stop());
  const certificatesOf = async () => [await sealSigner(on.deps), await timestampAuthority(on.deps)];
  // Where it listens: nobody resolves the name that it says it has.
  const servedAt = (place: string) => fetch(`http://127.0.0.1:${on.deps.config.port}${place}`);
  const signers = await certificatesOf();
  await rotateAuthorityOf(on.deps);
  signers.push(...(await certificatesOf()));
  const below = "https://sign.example.com/.well-known/svc/authorities/";
  expect(new Set(signers.map(({ certificates: [leaf] }) => named(leaf ?? new Uint8Array()).issuer)).size).toBe(2);

  const expectServed = async () => {
    for (const { certificates } of signers) {
      const [leaf = new Uint8Array(), ca = new Uint8Array()] = certificates;
      const { issuer, list, keyIdentifier } = named(leaf);
      expect(keyIdentifier).toMatch(/^[0-9a-f]{40}$/);
      expect([issuer, list]).toEqual([
        `${below}${keyIdentifier}/certificate.cer`,
        `${below}${keyIdentifier}/revocation-list.crl`,
      ]);
      expect(named(ca)).toMatchObject({ issuer: "", list: "" });
      const fetched = await servedAt(new URL(issuer).pathname);
      expect(fetched.headers.get("content-type")).toBe("application/pkix-cert");
      expect(fetched.headers.get("ratelimit-limit")).toBe("240");
      expect(Buffer.from(await fetched.arrayBuffer()).equals(ca)).toBe(true);
      const answer = await servedAt(new URL(list).pathname);
      expect(answer.headers.get("content-type")).toBe("application/pkix-crl");
      const crl = Buffer.from(await answer.arrayBuffer());
      const { thisUpdate, nextUpdate } = parseRevocationList(crl);
      expect(Date.parse(thisUpdate)).toBeLessThanOrEqual(own.now());
      expect(own.now() - Date.parse(thisUpdate)).toBeLessThan(10 * 60_000);
      expect(Date.parse(nextUpdate ?? "")).toBeGreaterThan(own.now() + 29 * 86_400_000);
      // As a validator does it that fetched both.
      await writeFile(file("fetched.pem"), new X509Certificate(ca).toString());
      await writeFile(file("leaf.pem"), new X509Certificate(leaf).toString());
      openssl(
        ["crl", "-inform", "DER", "-out", file("fetched.crl.pem")].concat(["-in", await kept("fetched.crl", crl)]),
      );
      const at = ["-attime", String(Math.floor(own.now() / 1000))];
      const trusted = ["-no-CApath", "-CAfile", file("fetched.pem"), "-CRLfile", file("fetched.crl.pem")];
      expect(openssl(["verify", ...at, "-crl_check", ...trusted, file("leaf.pem")])).toContain("OK");
    }
  };
  await expectServed();
  // Issued anew long before the one that somebody fetched ends.
  own.advance(40 * 86_400_000);
  await expectServed();
  const unknown = `/.well-known/svc/authorities/${"0".repeat(40)}`;
  for (const name of ["certificate.cer", "revocation-list.crl"])
    expect((await servedAt(`${unknown}/${name}`)).status).toBe(404);
  // The base URL changes: what was issued keeps its addresses, which are served by path.
  await on.stop();
  const moved = { SIGNET_BASE_URL: "https://other.example.com" };
  on = await startAppliance({ clock: own, folder: data, env: moved, owner: "second@example.com" });
  await expectServed();
}, 60_000);

test("certificates made before the appliance had an address are issued anew for the same keys once it has one", async () => {
  const data = await mkdtemp(path.join(folder, "data-"));
  const first = await startAppliance({ folder: data });
  const signersOf = async (on: TestAppliance) => [await sealSigner(on.deps), await timestampAuthority(on.deps)];
  const issuerOf = ({ certificates: [leaf] }: { certificates: Uint8Array[] }) => named(leaf ?? new Uint8Array()).issuer;
  const keyOf = ({ certificates: [leaf] }: { certificates: Uint8Array[] }) =>
    new X509Certificate(leaf ?? new Uint8Array()).publicKey.export({ type: "spki", format: "pem" });
  const before = await signersOf(first);
  for (const signer of before) expect(issuerOf(signer)).toMatch(/^http:\/\/127\.0\.0\.1:/);
  await first.stop();

  const env = { SIGNET_BASE_URL: "https://sign.example.com" };
  let on = await startAppliance({ folder: data, env, owner: "second@example.com" });
  onTestFinished(() => on.stop());
  const after = await signersOf(on);
  for (const signer of after) expect(issuerOf(signer)).toMatch(/^https:\/\/sign\.example\.com\/\.well-known\/svc\//);
  expect(after.map(keyOf)).toEqual(before.map(keyOf));

  // A command without the service's settings, or the next start, changes nothing any more.
  await on.stop();
  on = await startAppliance({ folder: data, owner: "third@example.com" });
  expect(await signersOf(on)).toMatchObject(after.map(({ certificateSha256 }) => ({ certificateSha256 })));
}, 60_000);

async function kept(name: string, bytes: Uint8Array): Promise<string> {
  await writeFile(file(name), bytes);
  return file(name);
}
