import { execFileSync } from "node:child_process";
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { makeManifest, packUpdate, signManifest } from "../../scripts/make-update.ts";
import { type Format, writeFormat, writePayload } from "../../scripts/package-formats.ts";
import { checksums, date, type Release, writeRelease } from "../../scripts/package-tree.ts";

/** Releases of the server: the present one, some that change the schema, some that cannot start; as packages and as signed updates. */

const epoch = 1_780_000_000;

export type Packages = {
  first: string;
  next: string;
  broken: string;
  /** Signed updates that follow `next`. */
  update: string;
  brokenUpdate: string;
  /** The present release in the other formats. */
  rpm: string;
  tar: string;
};

export async function makePackages(folder: string): Promise<Packages> {
  const keys = releaseKeys();
  const plain: Release = { folder: path.join(folder, "plain"), version: "1.0.0", epoch };
  writeRelease(plain);
  const first = changed(plain, path.join(folder, "first"), "1.0.0", (at) =>
    writeFileSync(path.join(at, "release-keys.json"), keys.pinned),
  );
  rmSync(plain.folder, { recursive: true });
  const next = changed(first, path.join(folder, "next"), "1.1.0", (at) => addMigration(at, "9001_appliance_test"));
  const broken = changed(next, path.join(folder, "broken"), "1.2.0", (at) => {
    addMigration(at, "9002_appliance_test");
    doesNotStart(at);
  });
  const update = changed(next, path.join(folder, "update"), "1.3.0", (at) => addMigration(at, "9003_appliance_test"));
  const brokenUpdate = changed(update, path.join(folder, "broken-update"), "1.4.0", (at) => {
    addMigration(at, "9004_appliance_test");
    doesNotStart(at);
  });
  const pack = (format: Format, release: Release) => {
    const payload = path.join(folder, `payload-${release.version}`);
    writePayload(release, payload);
    const file = writeFormat(format, release, payload, folder, { fast: true });
    rmSync(payload, { recursive: true });
    return file;
  };
  const sign = async (release: Release) => {
    const manifest = await makeManifest({ release: release.folder, createdAt: new Date().toISOString() });
    const out = path.join(folder, `signet-${release.version}.tar.gz`);
    const signatures = keys.secret.map((pem) => signManifest(manifest, createPrivateKey(pem)));
    await packUpdate(release.folder, manifest, signatures, out);
    return out;
  };
  const made = {
    first: pack("deb", first),
    next: pack("deb", next),
    broken: pack("deb", broken),
    rpm: pack("rpm", first),
    tar: pack("tar.gz", first),
    update: await sign(update),
    brokenUpdate: await sign(brokenUpdate),
  };
  for (const release of [first, next, broken, update, brokenUpdate]) rmSync(release.folder, { recursive: true });
  return made;
}

/** Of the two who sign a release. */
function releaseKeys(): { secret: string[]; pinned: string } {
  const pairs = [1, 2].map(() => generateKeyPairSync("ed25519"));
  const keys = pairs.map(({ publicKey }) => ({ publicKeyPem: publicKey.export({ type: "spki", format: "pem" }) }));
  return {
    secret: pairs.map(({ privateKey }) => privateKey.export({ type: "pkcs8", format: "pem" }).toString()),
    pinned: JSON.stringify({ threshold: 2, keys }),
  };
}

function doesNotStart(folder: string): void {
  replace(folder, "server/commands/serve.ts", "await serviceManager?.ready();", "process.exit(1);");
}

function changed(from: Release, folder: string, version: string, change: (folder: string) => void): Release {
  // Names for the same files: what is changed is written anew.
  execFileSync("cp", ["-al", from.folder, folder]);
  if (version !== from.version)
    replace(folder, "package.json", `"version": "${from.version}"`, `"version": "${version}"`);
  change(folder);
  rmSync(path.join(folder, "SHA256SUMS"));
  writeFileSync(path.join(folder, "SHA256SUMS"), checksums(folder));
  date(folder, epoch);
  return { ...from, folder, version };
}

function addMigration(folder: string, table: string): void {
  const name = table.replaceAll("_", "-");
  const lines = [
    'import { sql } from "kysely";',
    `export const up = (db) => sql\`CREATE TABLE "${table}" (id TEXT)\`.execute(db);`,
  ];
  writeFileSync(path.join(folder, `server/migrations/${name}.ts`), `${lines.join("\n")}\n`);
  const entry = `  { name: "${name}", up: (await import("./${name}.ts")).up },\n];`;
  replace(folder, "server/migrations/list.ts", /\n\];\s*$/, `\n${entry}\n`);
}

function replace(folder: string, name: string, what: string | RegExp, by: string): void {
  const file = path.join(folder, name);
  const before = readFileSync(file, "utf8");
  const after = before.replace(what, () => by);
  if (after === before) throw new Error(`${name} has no ${what} any more: this test must follow`);
  rmSync(file);
  writeFileSync(file, after, { mode: 0o644 });
}
