import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { certificatesIn } from "../features/evidence/pem.ts";
import { type FileReport, ownEvidence, remoteEvidence, verifyFile } from "../features/evidence/verify-file.ts";
import { AnchorKeys } from "../features/keys/contract.ts";
import type { Deps } from "../kernel/deps.ts";
import { type Outbound, openOutbound } from "../kernel/outbound.ts";
import { type Command, type CommandContext, optional, print, table, UsageError } from "./command.ts";
import { withDeps } from "./with-deps.ts";

export const verify: Command = {
  name: "verify",
  summary: "check a sealed PDF: its signature, time stamps and revisions, its place in the tree, the anchor",
  usage: [
    "signet verify FILE                       against this data folder, whose own keys are trusted",
    "signet verify FILE --server URL [--keys keys.json] [--trust ca.pem]   against another installation, keys pinned from outside",
    "exit code: 0 proven, 2 consistent but not anchored or not pinned, 1 anything wrong",
  ],
  options: { server: { type: "string" }, keys: { type: "string" }, trust: { type: "string" } },
  async run(context) {
    const [file] = context.positionals;
    if (!file) throw new UsageError("name the file");
    const bytes = await readFile(file);
    const server = optional(context, "server");
    const check = async (deps: Deps) => {
      if (server === undefined) {
        const { source, pins } = await ownEvidence(deps);
        return await verifyFile(deps, bytes, source, pins);
      }
      const source = await remoteEvidence(outboundTo(deps, server), server);
      return await verifyFile(deps, bytes, source, await pinsOf(context));
    };
    // Whoever checks another installation needs none of their own.
    const report = await withDeps(context, check, { createKey: server !== undefined });
    print(context, report, describe(file, report));
    return report.exitCode;
  },
};

/** Whoever runs the command names the server, so it may stand in their own network and speak plain HTTP. */
function outboundTo({ config }: Deps, server: string): Outbound {
  const url = URL.parse(server);
  if (!url) throw new UsageError("--server is no URL");
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const allow = [`verify=0.0.0.0/0:${port}`, `verify=[::/0]:${port}`];
  return openOutbound({ allow, proxy: config.outboundProxy, caFile: config.caFile });
}

/** What the caller trusts: the keys and certificates of files that came another way than the evidence. */
async function pinsOf(context: CommandContext): Promise<{ kids: string[]; certificates: string[] }> {
  const keys = optional(context, "keys");
  const trust = optional(context, "trust");
  const kids =
    keys === undefined ? [] : AnchorKeys.parse(JSON.parse(await readFile(keys, "utf8"))).keys.map(({ kid }) => kid);
  const certificates = trust === undefined ? [] : certificatesIn(await readFile(trust, "utf8"));
  return { kids, certificates: certificates.map((der) => createHash("sha256").update(der).digest("hex")) };
}

const sentences: Record<FileReport["verdict"], string> = {
  valid: "Proven: sealed here, unchanged since, and anchored under a trusted key.",
  unpinned: "Consistent, but the keys came from the server that is being checked: pin them with --keys and --trust.",
  "not-anchored": "The seal holds; no anchor covers it yet. Try again in some minutes.",
  invalid: "Not proven:",
};

/** The steps' names beside those of the PDF's own signature. */
const stepNames: Record<string, string> = { signature: "anchor signature", key: "anchor key" };

/** What the PDF itself carries: each seal and its time stamp. */
function sealRows({ seals }: FileReport): string[][] {
  return seals.signatures
    .filter(({ foreign }) => !foreign)
    .flatMap(({ field, problems, timestamp }) => [
      [problems.length === 0 ? "ok" : "WRONG", "seal", `PAdES signature “${field}”`],
      ...(timestamp
        ? [[timestamp.problems.length === 0 ? "ok" : "WRONG", "time stamp", "RFC 3161, over the signature"]]
        : []),
    ]);
}

function describe(file: string, report: FileReport): string {
  const steps = [
    ...sealRows(report),
    ...report.steps.map(({ ok, name, detail }) => [ok ? "ok" : "WRONG", stepNames[name] ?? name, detail]),
  ];
  const lines = [
    `${file}: ${report.size} bytes, SHA-256 ${report.sha256}`,
    ...(steps.length > 0 ? [table(steps)] : []),
  ];
  const foreign = report.seals.signatures
    .filter((one) => one.foreign)
    .map(({ field }) => `Note: “${field}” was signed by somebody else before the seal; it is not judged here.`);
  return [...lines, sentences[report.verdict], ...report.problems.map((problem) => `  ${problem}`), ...foreign].join(
    "\n",
  );
}
