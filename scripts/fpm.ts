import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { below, date } from "./package-tree.ts";

/**
 * What electron-builder asks of fpm, by the tools that Debian has: a folder into a .deb with dpkg-deb, into a .rpm with rpmbuild.
 * It takes the options that electron-builder passes, and refuses others.
 */
const text = { type: "string" } as const;
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    s: { ...text, short: "s" },
    t: { ...text, short: "t" },
    d: { ...text, short: "d", multiple: true },
    force: { type: "boolean" },
    architecture: text,
    version: text,
    package: text,
    name: text,
    maintainer: text,
    vendor: text,
    url: text,
    license: text,
    category: text,
    description: text,
    conflicts: text,
    "after-install": text,
    "before-remove": text,
    "after-remove": text,
    "deb-priority": text,
    "deb-recommends": { ...text, multiple: true },
    "deb-compression": text,
    "rpm-summary": text,
    "rpm-os": text,
    "rpm-compression": text,
  },
});
const { t: target = "", package: file = "", name = "", version = "", architecture = "" } = options;
const folder = mkdtempSync(path.join(tmpdir(), "signet-fpm-"));
try {
  const tree = path.join(folder, "tree");
  for (const pair of positionals) {
    const [from = "", to = ""] = pair.split("=");
    const place = path.join(tree, to);
    mkdirSync(path.dirname(place), { recursive: true });
    if (from.endsWith("/")) cpSync(from, place, { recursive: true, verbatimSymlinks: true });
    else copyFileSync(from, place);
  }
  const epoch = Number(process.env.SOURCE_DATE_EPOCH ?? 0);
  if (target === "deb") writeDeb(tree, epoch);
  else if (target === "rpm") writeRpm(tree, epoch);
  else throw new Error(`fpm.ts makes deb and rpm, not ${target}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function writeDeb(tree: string, epoch: number): void {
  const control = path.join(tree, "DEBIAN");
  mkdirSync(control);
  const [summary = "", ...more] = (options.description ?? "").split("\n").map((line) => line.trim());
  const fields = [
    ["Package", name],
    ["Version", version],
    ["Section", options.category ?? "default"],
    ["Priority", options["deb-priority"] ?? "optional"],
    ["Architecture", architecture],
    ["Maintainer", options.maintainer],
    ["Vendor", options.vendor],
    ["Homepage", options.url],
    ["Depends", options.d?.join(", ")],
    ["Recommends", options["deb-recommends"]?.join(", ")],
    ["Conflicts", options.conflicts],
    ["Description", [summary, ...more.map((line) => ` ${line || "."}`)].join("\n")],
  ].flatMap(([key, value]) => (value === undefined || value === "" ? [] : [`${key}: ${value}\n`]));
  writeFileSync(path.join(control, "control"), fields.join(""), { mode: 0o644 });
  for (const [script, from] of scripts("postinst", "prerm", "postrm")) {
    copyFileSync(from, path.join(control, script));
    chmodSync(path.join(control, script), 0o755);
  }
  date(tree, epoch);
  const compression = options["deb-compression"] ?? "xz";
  run("dpkg-deb", ["--root-owner-group", `-Z${compression === "bzip2" ? "xz" : compression}`, "--build", tree, file]);
}

/** What runs behind the installation, before and behind the removal, under the package manager's names for it. */
function scripts(...names: readonly [string, string, string]): [string, string][] {
  const given = [options["after-install"], options["before-remove"], options["after-remove"]];
  return given.flatMap((from, index): [string, string][] => (from === undefined ? [] : [[names[index] ?? "", from]]));
}

function writeRpm(tree: string, epoch: number): void {
  date(tree, epoch);
  const listed = below(tree).map((one) => `"/${one.replaceAll("%", "%%")}"`);
  const lines = [
    `Name: ${name}`,
    `Version: ${version.replaceAll("-", "~")}`,
    "Release: 1",
    `Summary: ${options["rpm-summary"] ?? name}`,
    `License: ${options.license ?? "Proprietary"}`,
    ...(options.vendor ? [`Vendor: ${options.vendor}`] : []),
    ...(options.url ? [`URL: ${options.url}`] : []),
    ...(options.d ?? []).map((need) => `Requires: ${need}`),
    ...(options.conflicts ? [`Conflicts: ${options.conflicts}`] : []),
    "AutoReqProv: no",
    "%global debug_package %{nil}",
    "%global __os_install_post %{nil}",
    "%global _build_id_links none",
    "%global _buildhost signet",
    "%global use_source_date_epoch_as_buildtime 1",
    "%global clamp_mtime_to_source_date_epoch 1",
    `%description\n${options.description ?? name}`,
    `%install\nmkdir -p %{buildroot}\ncp -a '${tree}/.' %{buildroot}`,
    ...scripts("post", "preun", "postun").map(([section, from]) => `%${section} -f ${from}`),
    `%files\n%defattr(-,root,root,-)\n${listed.join("\n")}`,
  ];
  const spec = path.join(folder, "console.spec");
  writeFileSync(spec, `${lines.join("\n")}\n`);
  const top = path.join(folder, "rpm");
  run("rpmbuild", ["--quiet", "-bb", "--target", architecture, "--define", `_topdir ${top}`, spec]);
  const [made = ""] = readdirSync(path.join(top, "RPMS", architecture));
  copyFileSync(path.join(top, "RPMS", architecture, made), file);
}

function run(tool: string, args: readonly string[]): void {
  execFileSync(tool, args, { stdio: ["ignore", "ignore", "inherit"] });
}
