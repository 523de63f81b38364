import { type ExecFileSyncOptionsWithBufferEncoding, execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { judgeSealedPdf } from "../../server/commands/demo/judges.ts";
import type { SealedFiles } from "./sealed-files.ts";

/** Validators from other ecosystems. Each gets all files at once and answers with what it does not like, one line each. */

export type Judge = (sealed: SealedFiles, tools: string) => Promise<string[]>;

const here = import.meta.dirname;
const quiet: ExecFileSyncOptionsWithBufferEncoding = {
  stdio: ["ignore", "pipe", "inherit"],
  maxBuffer: 256 * 1024 * 1024,
};
const linesOf = (text: Buffer): unknown[] =>
  text
    .toString()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line): unknown => JSON.parse(line));

const DssLine = z.object({
  file: z.string(),
  failure: z.string().nullable(),
  signatures: z.array(
    z.object({
      indication: z.string(),
      subIndication: z.string().nullable(),
      level: z.string(),
      errors: z.array(z.string()),
      warnings: z.array(z.string()),
    }),
  ),
});

/** EU DSS, offline. */
const dss: Judge = async ({ files, roots }, tools) => {
  const project = path.join(tools, "dss");
  cpSync(path.join(here, "dss"), project, { recursive: true });
  const built = ["-q", "-B", "compile", "dependency:build-classpath", "-Dmdep.outputFile=classpath.txt"];
  execFileSync("mvn", built, { ...quiet, cwd: project });
  const classpath = `target/classes:${readFileSync(path.join(project, "classpath.txt"), "utf8").trim()}`;
  const out = execFileSync("java", ["-Xss16m", "-cp", classpath, "Main", "--trust", roots, listed(files, tools)], {
    ...quiet,
    cwd: project,
  });
  return complaints(
    files,
    linesOf(out).map((line) => DssLine.parse(line)),
    ({ failure, signatures }) => {
      if (failure !== null) return [failure];
      if (signatures.length !== 1) return [`${signatures.length} signatures`];
      return signatures.flatMap(({ indication, subIndication, level, errors, warnings }) => [
        ...(indication === "TOTAL_PASSED" ? [] : [`${indication} ${subIndication ?? ""}`]),
        ...(level === "PAdES-BASELINE-LTA" ? [] : [level]),
        ...errors,
        ...warnings,
      ]);
    },
  );
};

const Judged = z.object({
  indication: z.string(),
  subIndication: z.string().nullable(),
  modifications: z.string().nullable(),
});
const HankoLine = z.object({
  file: z.string(),
  failure: z.string().nullable(),
  signatures: z.array(z.object({ now: Judged, later: Judged })),
});

/** pyHanko, offline: now, and simulated for 2045. */
const pyhanko: Judge = async ({ files, roots }, tools) => {
  const environment = path.join(tools, "pyhanko");
  const python = path.join(environment, "bin/python");
  if (!existsSync(python)) execFileSync("python3", ["-m", "venv", environment], quiet);
  const packages = ["pyhanko==0.38.0", "pyhanko-certvalidator==0.33.0"];
  execFileSync(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...packages], quiet);
  const out = execFileSync(python, [path.join(here, "pyhanko/judge.py"), roots, listed(files, tools)], quiet);
  return complaints(
    files,
    linesOf(out).map((line) => HankoLine.parse(line)),
    ({ failure, signatures }) => {
      if (failure !== null) return [failure];
      if (signatures.length !== 1) return [`${signatures.length} signatures`];
      return signatures.flatMap(({ now, later }) =>
        Object.entries({ now, "in 2045": later }).flatMap(([when, { indication, subIndication, modifications }]) => [
          ...(indication === "PASSED" ? [] : [`${when}: ${indication} ${subIndication ?? ""}`]),
          ...(modifications === "LTA_UPDATES" ? [] : [`${when}: modifications ${modifications}`]),
        ]),
      );
    },
  );
};

/** openssl cms and openssl ts, and beside them what reads the file for them. */
const openssl: Judge = async ({ files, roots }) => {
  const found: string[] = [];
  for (const file of files)
    for (const { judge, ok, detail } of await judgeSealedPdf(file, roots))
      if (!ok && judge.startsWith("openssl")) found.push(`${path.basename(file)}: ${judge}: ${detail}`);
  return found;
};

export const judges: Readonly<Record<string, Judge>> = { dss, pyhanko, openssl };

/** All paths in one file: there may be more of them than a command line takes. */
function listed(files: readonly string[], tools: string): string {
  mkdirSync(tools, { recursive: true });
  const list = path.join(tools, "files.txt");
  writeFileSync(list, `${files.join("\n")}\n`);
  return `@${list}`;
}

/** A file that a judge says nothing of is a complaint, too. */
function complaints<L extends { file: string }>(
  files: readonly string[],
  lines: readonly L[],
  of: (line: L) => string[],
): string[] {
  return files.flatMap((file) => {
    const line = lines.find((one) => one.file === file);
    return (line ? of(line) : ["not judged"]).map((complaint) => `${path.basename(file)}: ${complaint}`);
  });
}
