import { execFile, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { copyFile, link, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { readLock, root } from "../../scripts/package-modules.ts";
import { releaseFiles } from "../../scripts/package-tree.ts";
import { billOfMaterials, nodeRuntime, type Product, thirdPartyLicences } from "../../scripts/sbom.ts";
import { isAccepted } from "../../scripts/sbom-licence.ts";
import { nativeParts } from "../../scripts/sbom-native.ts";

const run = promisify(execFile);
let files: string[];
let packages: ReturnType<typeof releaseFiles>["packages"];
let product: Product;
beforeAll(() => {
  const release = releaseFiles();
  files = release.files.map(({ to }) => to);
  packages = release.packages;
  const runtime = nodeRuntime(path.join(root, "node_modules/node/bin/node"));
  product = { name: "signet-server", version: "1.2.3", epoch: 1_800_000_000, packages, runtime };
});

test("a release holds what runs: Node, the server, its threads, its pages and its fonts", () => {
  expect(files).toEqual(
    expect.arrayContaining([
      "bin/node",
      "server/main.ts",
      "server/kernel/blob-check-thread.ts",
      "server/features/keys/pkcs11/token-thread.ts",
      "workers/parsing-tasks.ts",
      "workers/sealing-tasks.ts",
      "workers/typst/certificate.typ",
      "workers/typst/fonts.conf",
      "node_modules/sqlite3/build/Release/node_sqlite3.node",
      "node_modules/pkcs11js/build/Release/pkcs11.node",
      "node_modules/@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf",
    ]),
  );
  expect(files.filter((name) => name.startsWith("dist/apps/")).length).toBeGreaterThan(5);
});

test("every module that the command line and the threads begin with finds what it imports", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-release-"));
  try {
    for (const { from, to } of releaseFiles().files) {
      await mkdir(path.dirname(path.join(folder, to)), { recursive: true });
      const target = path.join(folder, to);
      await link(path.join(root, from), target).catch(() => copyFile(path.join(root, from), target));
    }
    await writeFile(path.join(folder, "package.json"), '{"version":"1.2.3","type":"module"}');
    const begun = ["server/cli.ts", "workers/parsing-tasks.ts", "workers/sealing-tasks.ts"];
    const load = `${begun.map((file) => `await import("./${file}");`).join(" ")} console.log("loaded")`;
    await writeFile(path.join(folder, "load.mjs"), load);
    const { stdout } = await run(path.join(folder, "bin/node"), [path.join(folder, "load.mjs")]);
    expect(stdout).toContain("loaded");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("a release holds nothing that only builds, tests or explains", () => {
  const own = files.filter((name) => !name.startsWith("node_modules/"));
  expect(
    own.filter((name) => !/^(bin\/node$|server\/|workers\/|locales\/|apps\/shared\/|dist\/apps\/)/.test(name)),
  ).toEqual([]);
  const idle = /\.(map|d\.[cm]?ts|gyp|gypi|o|a|cc|cpp|tgz)$|\.test\.|\/\.[^/]+$|(^|\/)\.env/;
  expect(files.filter((name) => idle.test(name))).toEqual([]);
  // Node strips no types below node_modules, so nothing there can be run that needs it.
  expect(files.filter((name) => /^node_modules\/.*\.[cm]?tsx?$/.test(name))).toEqual([]);
  const lock = readLock();
  expect(packages.filter(({ folder }) => lock.packages[folder]?.dev).map(({ folder }) => folder)).toEqual([]);
  const names = packages.map(({ name }) => name);
  for (const tool of [
    "typescript",
    "vite",
    "vitest",
    "electron",
    "electron-builder",
    "node-gyp",
    "playwright",
    "playwright-core",
  ])
    expect(names).not.toContain(tool);
});

test("what is compiled speaks to Node by Node-API alone, which every later Node keeps", () => {
  const addons = files.filter((name) => name.endsWith(".node"));
  expect(addons.length).toBeGreaterThanOrEqual(3);
  for (const name of addons) {
    const bytes = readFileSync(path.join(root, name));
    expect(bytes.includes("napi_"), name).toBe(true);
    for (const foreign of ["_ZN2v8", "_ZN4node", "uv_default_loop"]) expect(bytes.includes(foreign), name).toBe(false);
  }
});

const Component = z.object({
  "bom-ref": z.string(),
  name: z.string().min(1),
  version: z.string().regex(/^\d+\.\d+/),
  purl: z.string().startsWith("pkg:"),
  licenses: z
    .array(z.union([z.object({ license: z.object({}).loose() }), z.object({ expression: z.string() })]))
    .min(1),
  hashes: z.array(z.object({ alg: z.enum(["SHA-256", "SHA-512"]), content: z.string().regex(/^[0-9a-f]{64,128}$/) })),
});
const Host = z.object({
  purl: z.string(),
  components: z.array(z.object({ name: z.string(), version: z.string().optional(), purl: z.string() })).optional(),
});
const Bom = z.object({
  bomFormat: z.literal("CycloneDX"),
  specVersion: z.literal("1.6"),
  serialNumber: z.string().regex(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
  metadata: z.object({ timestamp: z.literal("2027-01-15T08:00:00.000Z") }),
  components: z.array(Component),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
});

test("the bill of materials names every part once, with version, licence, hash and what it needs", () => {
  const written = JSON.stringify(billOfMaterials(product));
  const bom = Bom.parse(JSON.parse(written));
  const refs = bom.components.map((component) => component["bom-ref"]);
  expect(new Set(refs).size).toBe(refs.length);
  const listed = new Set(refs);
  for (const { name, version } of packages) expect(listed).toContain(`pkg:npm/${name.replace("@", "%40")}@${version}`);
  // Bundled into the pages, so shipped, though no folder of it is.
  expect(bom.components.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["node", "react-router", "pdfjs-dist"]),
  );
  for (const { ref, dependsOn } of bom.dependencies) {
    if (!ref.startsWith("pkg:generic/signet-server")) expect(listed).toContain(ref);
    for (const one of dependsOn) expect(listed).toContain(one);
  }
  expect(JSON.stringify(billOfMaterials(product))).toBe(written);
});

test("what is compiled into packages is named with the versions that it says itself", () => {
  const { components } = z.object({ components: z.array(Host) }).parse(billOfMaterials(product));
  const inside = (name: string) => components.find((one) => one.purl.includes(name))?.components ?? [];
  const script =
    'new (require("sqlite3").Database)(":memory:").get("select sqlite_version() v", (_, row) => console.log(row.v))';
  const version = execFileSync(process.execPath, ["-e", script], { cwd: root, encoding: "utf8" }).trim();
  expect(inside("npm/sqlite3@")).toEqual([expect.objectContaining({ name: "sqlite", version })]);
  const crates = inside("typst-ts-node-compiler-");
  const assets = crates.find(({ name }) => name === "typst-assets");
  expect(crates.length).toBeGreaterThan(100);
  expect(assets?.purl).toBe(`pkg:cargo/typst-assets@${assets?.version}`);
  expect(crates.map(({ name }) => name)).toEqual(expect.arrayContaining(["typst", "rustls", "ring", "krilla"]));
  expect(inside("npm/pdfjs-dist@").map(({ name }) => name)).toEqual(["pdfium-jbig2", "openjpeg", "qcms"]);
  const text = thirdPartyLicences(product);
  expect(text).toContain(`\nsqlite ${version}, in sqlite3: public domain\n`);
  expect(text).toContain("Universite catholique de Louvain");
  expect(text).toContain(`\ntypst-assets ${assets?.version}\n`);
  // Every program of the release was looked into.
  const addons = packages.filter(({ folder }) =>
    files.some((one) => one.startsWith(`${folder}/`) && one.endsWith(".node")),
  );
  for (const one of addons) expect(() => nativeParts(one)).not.toThrow();
  expect(() => nativeParts({ name: "unheard-of", folder: "node_modules/sqlite3" })).toThrow("look at what is compiled");
});

test("every part's licence is known, and its text is there", () => {
  const text = thirdPartyLicences(product);
  for (const { name, version } of packages) expect(text).toContain(`\n${name} ${version}: `);
  expect(text).toContain(`Node.js ${process.versions.node}`);
  expect(text).toContain("SIL OPEN FONT LICENSE");
  const [first] = packages;
  if (!first) throw new Error("there are no packages");
  expect(() =>
    thirdPartyLicences({ ...product, packages: [{ ...first, version: "0.0.1", license: "AGPL-3.0-only" }] }),
  ).toThrow("does not accept");
});

test.each([
  ["MIT", true],
  ["MIT AND OFL-1.1", true],
  ["(BSD-3-Clause OR GPL-2.0)", true],
  ["GPL-2.0 OR MIT AND Apache-2.0", true],
  ["(GPL-2.0 OR MIT) AND GPL-3.0", false],
  ["GPL-3.0-only", false],
  ["MIT AND", false],
  ["(MIT", false],
  ["MIT MIT", false],
  ["SEE LICENSE IN LICENSE.md", false],
  ["UNLICENSED", false],
  ["", false],
])("the licence %j is accepted: %s", (expression, answer) => {
  expect(isAccepted(expression)).toBe(answer);
});

test("the checkout's Node is the one that is pinned and shipped", () => {
  const said = execFileSync(path.join(root, "node_modules/node/bin/node"), ["--version"], { encoding: "utf8" }).trim();
  expect(said).toBe(`v${readLock().packages["node_modules/node"]?.version}`);
});
