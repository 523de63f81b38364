import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Pins } from "../features/evidence/bundle/check.ts";
import { ZipError } from "../features/evidence/bundle/zip.ts";
import type { Step } from "../features/evidence/verify.ts";
import {
  evidenceWords,
  type FileReport,
  ownEvidence,
  remoteEvidence,
  verifyBundle,
  verifyFile,
} from "../features/evidence/verify-file.ts";
import { AnchorKeys } from "../features/keys/contract.ts";
import { systemClock } from "../kernel/clock.ts";
import type { Deps } from "../kernel/deps.ts";
import { jsonIn } from "../kernel/json-text.ts";
import { type Outbound, openOutbound } from "../kernel/outbound.ts";
import { certificatesIn } from "../kernel/pem.ts";
import { openPool } from "../kernel/pool.ts";
import { type Command, type CommandContext, optional, print, table, UsageError } from "./command.ts";
import { entryOf } from "./list.ts";
import { withDeps } from "./with-deps.ts";

export const verify: Command = {
  ...entryOf("verify"),
  usage: [
    "signet verify FILE…                      against this data folder, whose own keys are trusted",
    "signet verify FILE… --server URL [--keys keys.json] [--trust ca.pem] [--trust-timestamps tsa.pem]   against another installation, keys pinned from outside",
    "signet verify FILE… --bundle evidence.zip [--keys keys.json] [--trust ca.pem] [--trust-timestamps tsa.pem]   without any server; FILE may be the bundle itself",
    "--trust is for the authorities of seals, --trust-timestamps for those that vouch for time stamps alone",
    "--json prints one object a file: file, verdict, exitCode, causes, problems, sha256, size, certificateOf, unproven, steps, seals, testMode, evidence",
    "verdicts: valid (0) · unpinned, test, incomplete, not-anchored, no-document (2) · unknown, invalid, unreadable (1); docs/verification.md explains each cause",
    "exit code: 0 all proven, 2 some consistent but not proven, 1 anything wrong",
  ],
  exitCodes: { 2: "the files are consistent, and not pinned to a key that you trust" },
  async run(context) {
    const files = context.positionals;
    if (files.length === 0) throw new UsageError("name the file");
    const server = optional(context, "server");
    if (server !== undefined && optional(context, "bundle") !== undefined)
      throw new UsageError("a bundle needs no --server");
    const checker = openChecker(context, server);
    try {
      const codes: number[] = [];
      for (const file of files) codes.push(await checkOne(context, file, checker));
      return codes.includes(1) ? 1 : codes.includes(2) ? 2 : 0;
    } finally {
      await checker.close();
    }
  },
};

const isZip = (bytes: Uint8Array): boolean => bytes[0] === 0x50 && bytes[1] === 0x4b;

/** @returns the exit code of this file */
async function checkOne(context: CommandContext, file: string, checker: Checker): Promise<number> {
  const bundle = optional(context, "bundle");
  try {
    const bytes = await readFile(file);
    const report = isZip(bytes)
      ? await checker.bundle(bytes)
      : bundle === undefined
        ? await checker.file(bytes)
        : await checker.bundle(await readGiven("bundle", bundle), bytes);
    print(context, { file, ...report }, describe(file, report));
    return report.exitCode;
  } catch (error) {
    const cause = unreadable(error);
    if (cause === null) throw error;
    const report = { file, verdict: "unreadable", exitCode: 1, causes: [cause.code], problems: [cause.detail] };
    print(context, report, `${file}: cannot be checked: ${cause.detail}`);
    return 1;
  }
}

/** Of one of many files: the others are checked all the same. */
function unreadable(error: unknown): { code: string; detail: string } | null {
  if (error instanceof ZipError)
    return {
      code: `archive-${error.fault}`,
      detail: `no evidence bundle: ${evidenceWords()(`archive.${error.fault}`)}`,
    };
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "ENOENT") return { code: "no-such-file", detail: "there is no such file" };
  if (code === "EISDIR") return { code: "is-a-folder", detail: "it is a folder" };
  return code === "EACCES" ? { code: "not-allowed", detail: "it may not be read" } : null;
}

type Checker = {
  file(bytes: Uint8Array): Promise<FileReport>;
  bundle(archive: Uint8Array, held?: Uint8Array): Promise<FileReport>;
  close(): Promise<void>;
};

/** What the checks need is opened when the first file asks for it, and once. */
function openChecker(context: CommandContext, server: string | undefined): Checker {
  let pool: ReturnType<typeof openPool> | null = null;
  let pins: Promise<Pins> | null = null;
  return {
    async file(bytes) {
      const check = async (deps: Deps) => {
        if (server === undefined) {
          const own = await ownEvidence(deps);
          return await verifyFile(deps, bytes, own.source, own.pins);
        }
        const source = await remoteEvidence(outboundTo(deps, server), server);
        return await verifyFile(deps, bytes, source, await pinsOf(context));
      };
      // Whoever checks another installation needs none of their own.
      return await withDeps(context, check, { createKey: server !== undefined });
    },
    async bundle(archive, held) {
      pool ??= openPool({ threads: 1 });
      pins ??= offlinePins(context);
      return await verifyBundle({ pool, clock: systemClock }, archive, await pins, held);
    },
    close: async () => await pool?.close(),
  };
}

/** Opens no data folder but one that is there already: whoever checks a bundle need not have an installation. */
async function offlinePins(context: CommandContext): Promise<Pins> {
  const given = ["keys", "trust", "trust-timestamps"].some((name) => optional(context, name) !== undefined);
  const installed = !given && existsSync(path.join(context.config.dataDir, "signet.db"));
  return installed ? await withDeps(context, async (deps) => (await ownEvidence(deps)).pins) : await pinsOf(context);
}

/** Whoever runs the command names the server, so it may stand in their own network and speak plain HTTP. */
function outboundTo({ config }: Deps, server: string): Outbound {
  const url = URL.parse(server);
  if (!url) throw new UsageError("--server is no URL");
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const allow = [`verify=0.0.0.0/0:${port}`, `verify=[::/0]:${port}`];
  return openOutbound({ allow, proxy: config.outboundProxy, caFile: config.caFile });
}

/** What the caller trusts: the keys and certificates of files that came another way than the evidence. */
async function pinsOf(context: CommandContext): Promise<Pins> {
  const file = optional(context, "keys");
  const keys = file === undefined ? [] : await keysIn(file);
  const printsOf = async (option: string) => {
    const pem = optional(context, option);
    const certificates = pem === undefined ? [] : certificatesIn((await readGiven(option, pem)).toString("utf8"));
    return certificates.map((der) => createHash("sha256").update(der).digest("hex"));
  };
  return { kids: [], keys, certificates: await printsOf("trust"), timestamps: await printsOf("trust-timestamps") };
}

async function keysIn(file: string) {
  const parsed = AnchorKeys.safeParse(jsonIn((await readGiven("keys", file)).toString("utf8")));
  if (!parsed.success) throw new UsageError(`--keys: ${file} holds no anchor keys`);
  return parsed.data.keys;
}

/** @throws UsageError when it cannot be read: that is no fault of the files that are checked */
async function readGiven(option: string, file: string): Promise<Buffer> {
  return await readFile(file).catch((error: unknown) => {
    throw new UsageError(
      `--${option}: ${file} cannot be read (${error instanceof Error ? error.message : String(error)})`,
    );
  });
}

const sentences: Record<FileReport["verdict"], string> = {
  valid: "Proven: sealed here, unchanged since, and anchored under a trusted key.",
  unpinned:
    "Consistent, but keys or authorities came with the evidence that is being checked: pin them with --keys, --trust and --trust-timestamps.",
  test: "TEST: all of it holds, and it was made in test mode. It binds nobody and does not prove who signed.",
  incomplete: "The document is proven, but not all that lies beside it: see what is marked with -.",
  "not-anchored": "The seal holds; no anchor covers it yet. Try again in some minutes.",
  "no-document": "The evidence holds, but the document was deleted: name the copy that you hold, with --bundle.",
  unknown: "Not known: nobody sealed exactly these bytes here.",
  invalid: "Not proven:",
};

/** The steps' names beside those of the PDF's own signature. */
const stepNames: Partial<Record<Step["name"], string>> = {
  signature: "anchor signature",
  key: "anchor key",
  token: "anchor time stamp",
  "seal-timestamp": "seal time stamp",
  "document-timestamp": "document timestamp",
};

const mark = (ok: boolean | null): string => (ok === null ? "-" : ok ? "ok" : "WRONG");

function describe(file: string, report: FileReport): string {
  const about = report.sha256 === null ? "no document" : `${report.size} bytes, SHA-256 ${report.sha256}`;
  const steps = report.steps.map(({ ok, name, detail }) => [mark(ok), stepNames[name] ?? name, detail]);
  const problems = report.problems.map((problem) => `  ${problem}`);
  return [`${file}: ${about}`, table(steps), ...certifies(report), sentences[report.verdict], ...problems].join("\n");
}

/** A certificate is told from the document that it certifies before anything is said of it. */
function certifies({ certificateOf, exitCode }: FileReport): string[] {
  if (certificateOf === null || exitCode === 1) return [];
  const { envelope, documentSha256 } = certificateOf;
  return [`Certificate of completion of envelope ${envelope}; the document has the SHA-256 ${documentSha256}.`];
}
