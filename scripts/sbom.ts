import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { closureOf, type NpmPackage, readLock, root } from "./package-modules.ts";
import { identifiers, isAccepted } from "./sbom-licence.ts";
import { type NativePart, nativeParts } from "./sbom-native.ts";

/** What others wrote in a release: as CycloneDX 1.6, and as one text with every licence. */

const Manifest = z.object({ author: z.unknown().optional(), license: z.unknown().optional() });

/** What is shipped as one: its own runtime, and the packages that it is made of. */
export type Product = {
  name: "signet-server" | "signet-console";
  version: string;
  /** Seconds since the epoch. */
  epoch: number;
  packages: readonly NpmPackage[];
  runtime: Runtime;
};
export type Runtime = {
  name: "node" | "electron";
  version: string;
  licence: Record<string, string>;
  /** The program that is shipped; null where the packer brings it. */
  file: string | null;
};

/** @param file the Node binary that is shipped */
export const nodeRuntime = (file: string): Runtime => ({
  name: "node",
  version: process.versions.node,
  licence: { name: "Node.js licence and those of what it contains" },
  file,
});

/** Everything that is shipped: what lies in node_modules, and what the server's pages were bundled from. */
function shipped({ name, packages }: Pick<Product, "name" | "packages">): NpmPackage[] {
  const own = name === "signet-server" ? (readLock().packages[""]?.dependencies ?? {}) : {};
  const names = Object.keys(own).filter((one) => one !== "node");
  const all = [...packages, ...closureOf(names)];
  return [...new Map(all.map((one) => [purlOf(one), one])).values()].sort((a, b) => (purlOf(a) < purlOf(b) ? -1 : 1));
}

const purlOf = ({ name, version }: { name: string; version: string }) =>
  `pkg:npm/${name.replace("@", "%40")}@${version}`;

/** The SPDX expression that a package declares. @throws Error when there is none that is known and accepted */
function licenceOf({ name, version, folder, license }: NpmPackage): string {
  const declared = license ?? manifestOf(folder).license;
  if (typeof declared !== "string")
    throw new Error(`${name}@${version} names no licence: look at it before it is shipped`);
  if (!isAccepted(declared))
    throw new Error(`${name}@${version} has the licence ${declared}, which scripts/sbom-licence.ts does not accept`);
  return declared;
}

const manifestOf = (folder: string) =>
  Manifest.parse(JSON.parse(readFileSync(path.join(root, folder, "package.json"), "utf8")));

export function billOfMaterials(product: Product): Record<string, unknown> {
  const { name, version, epoch, packages, runtime } = product;
  const installed = new Set(name === "signet-server" ? packages.map(purlOf) : []);
  const all = shipped(product);
  const self = `pkg:generic/${name}@${version}`;
  const purl = `pkg:generic/${runtime.name}@${runtime.version}`;
  const hash = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");
  const components = [
    {
      type: "application",
      "bom-ref": purl,
      name: runtime.name,
      version: runtime.version,
      purl,
      licenses: [{ license: runtime.licence }],
      ...(runtime.file === null ? {} : { hashes: [{ alg: "SHA-256", content: hash(runtime.file) }] }),
    },
    ...all.map((one) => component(one, installed.has(purlOf(one)))),
  ];
  const known = new Map([...packages, ...all].map((one) => [one.folder, purlOf(one)]));
  const dependsOn = (one: NpmPackage) => [...new Set(one.needs.flatMap((folder) => known.get(folder) ?? []))].sort();
  const dependencies = [
    { ref: self, dependsOn: components.map(({ purl }) => purl) },
    ...all.map((one) => ({ ref: purlOf(one), dependsOn: dependsOn(one) })),
  ];
  const body = {
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: { type: "application", "bom-ref": self, name, version, purl: self },
    },
    components,
    dependencies,
    // What is found inside compiled files may not be all.
    compositions: [
      { aggregate: "incomplete", assemblies: all.filter((one) => nativeParts(one).length > 0).map(purlOf) },
    ],
  };
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(body))}`,
    version: 1,
    ...body,
  };
}

function component(one: NpmPackage, installed: boolean) {
  const [group, name] = one.name.startsWith("@") ? one.name.split("/") : [undefined, one.name];
  const licence = licenceOf(one);
  const single = identifiers(licence).length === 1 && !/[()\s]/.test(licence);
  return {
    type: "library",
    "bom-ref": purlOf(one),
    ...(group === undefined ? {} : { group }),
    name: name ?? one.name,
    version: one.version,
    purl: purlOf(one),
    scope: "required",
    licenses: single ? [{ license: { id: licence } }] : [{ expression: licence }],
    ...(one.integrity?.startsWith("sha512-")
      ? { hashes: [{ alg: "SHA-512", content: Buffer.from(one.integrity.slice(7), "base64").toString("hex") }] }
      : {}),
    properties: [{ name: "signet:shipped-in", value: installed ? "node_modules" : "pages" }],
    ...inside(one),
  };
}

/** What is compiled into it, as parts of this part. */
function inside(one: NpmPackage) {
  const parts = nativeParts(one);
  if (parts.length === 0) return {};
  return {
    components: parts.map(({ name, version, purl, licence }) => ({
      type: "library",
      "bom-ref": `${purlOf(one)}#${purl}`,
      name,
      ...(version === null ? {} : { version }),
      purl,
      scope: "required",
      ...(licence === null
        ? {}
        : { licenses: [{ license: isAccepted(licence) ? { id: licence } : { name: licence } }] }),
    })),
  };
}

/** A UUID (RFC 9562, version 8) that says which content it names: two builds of the same carry the same. */
function uuidOf(content: string): string {
  const bytes = createHash("sha256").update(content).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Every package with its licence, and every text of these, one after the other. */
export function thirdPartyLicences(product: Pick<Product, "name" | "packages" | "runtime">): string {
  const { runtime } = product;
  const folder = runtime.name === "node" ? `node-${process.platform}-${process.arch}` : "electron";
  const text = readFileSync(path.join(root, "node_modules", folder, "LICENSE"), "utf8");
  const parts = shipped(product).map((one) => {
    const texts = licenceTexts(one.folder);
    const missing = `The package ships no text of it. It names ${JSON.stringify(manifestOf(one.folder).author ?? "nobody")} as its author.`;
    const own = section(
      `${one.name} ${one.version}: ${licenceOf(one)}`,
      texts.length === 0 ? missing : texts.join("\n\n"),
    );
    return own + nativeLicences(one);
  });
  const opening = "Signet contains the work of others, under these licences.\n\n";
  return `${opening}${section(`${runtime.name === "node" ? "Node.js" : "Electron"} ${runtime.version}`, text)}${parts.join("")}`;
}

/** What is compiled into a package: each with its text, and in one list those whose text the package does not bring. */
function nativeLicences(one: NpmPackage): string {
  const parts = nativeParts(one);
  const titleOf = ({ name, version }: NativePart) => (version === null ? name : `${name} ${version}`);
  const known = parts.flatMap((part) => {
    if (part.licence === null) return [];
    const texts = part.texts.map((file) => readFileSync(path.join(root, one.folder, file), "utf8"));
    const without = "Its authors have dedicated it to the public domain.";
    return section(`${titleOf(part)}, in ${one.name}: ${part.licence}`, texts.join("\n\n") || without);
  });
  const others = parts.filter(({ licence }) => licence === null).map(titleOf);
  const list = `The package is made of these as well, under licences of their own, whose texts it does not bring:\n\n${others.join("\n")}`;
  return known.join("") + (others.length === 0 ? "" : section(`Compiled into ${one.name} ${one.version}`, list));
}

const section = (title: string, text: string) =>
  `${"=".repeat(78)}\n${title}\n${"=".repeat(78)}\n\n${text.replaceAll("\r\n", "\n").trim()}\n\n`;

function licenceTexts(folder: string): string[] {
  const at = path.join(root, folder);
  const names = readdirSync(at).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name));
  return names.sort().map((name) => readFileSync(path.join(at, name), "utf8"));
}
