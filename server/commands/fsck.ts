import { open, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { type FsckProblem, type FsckReport, type FsckState, recordSteps } from "../features/evidence/findings.ts";
import { fsckCodes, fsckKinds, isFsckCode } from "../features/evidence/fsck/codes.ts";
import { fsck } from "../features/evidence/fsck/fsck.ts";
import { type Command, type CommandContext, countsOf, print } from "./command.ts";
import { fsckBar } from "./fsck-bar.ts";
import { entryOf } from "./list.ts";
import { withDeps } from "./with-deps.ts";

const saveEveryMs = 2000;

export const fsckCommand: Command = {
  ...entryOf("fsck"),
  usage: ["signet fsck", "signet fsck --resume   go on where one that was stopped stood"],
  exitCodes: { 130: "it was stopped, and --resume goes on" },
  async run(context) {
    const file = path.join(context.config.dataDir, "fsck-state.json");
    const from = context.options.resume === true ? await readState(file) : null;
    if (context.options.resume === true && from === null && !context.json)
      context.stderr("No check was stopped: this one begins anew.\n");
    const bar = context.interactive && !context.json ? fsckBar(context.stderr) : null;
    const stopped = new AbortController();
    context.onSignal((signal) => stopped.abort(new Stopped(signal)));
    const begun = performance.now();
    const before = from?.bytes ?? 0;
    let state: FsckState | null = from;
    let saved = begun;
    try {
      const report = await withDeps(context, (deps) =>
        fsck(deps, {
          from,
          signal: stopped.signal,
          ...(bar ? { onProgress: bar.draw } : {}),
          async onState(reached) {
            state = reached;
            if (!stopped.signal.aborted && performance.now() - saved < saveEveryMs) return;
            await writeState(file, reached);
            saved = performance.now();
          },
        }),
      );
      await rm(file, { force: true });
      bar?.clear();
      return tell(context, report, (state?.bytes ?? 0) - before, (performance.now() - begun) / 1000);
    } catch (error) {
      bar?.clear();
      if (!(error instanceof Stopped)) throw error;
      context.stderr("Stopped. Go on with: signet fsck --resume\n");
      return 130;
    }
  },
};

class Stopped extends Error {}

const Problem = z.object({
  code: z.string().refine(isFsckCode),
  kind: z.enum(fsckKinds),
  where: z.string(),
  message: z.string(),
});
const State = z.object({
  v: z.literal(3),
  at: z.string(),
  records: z.object({ step: z.enum([...recordSteps, "done"]), after: z.string() }),
  files: z.object({ done: z.boolean(), after: z.string() }),
  bytes: z.number(),
  report: z.object({
    ok: z.boolean(),
    checked: z.record(z.string(), z.number()),
    problems: z.array(Problem),
    notes: z.array(Problem),
  }),
});

/** @returns null when there is none that can be used */
async function readState(file: string): Promise<FsckState | null> {
  const text = await readFile(file, "utf8").catch(() => null);
  if (text === null) return null;
  try {
    return State.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

async function writeState(file: string, state: FsckState): Promise<void> {
  const draft = `${file}.tmp`;
  const handle = await open(draft, "w", 0o600);
  try {
    await handle.writeFile(JSON.stringify(state));
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}

function tell(context: CommandContext, report: FsckReport, bytes: number, seconds: number): number {
  const speed = Math.round(bytes / 1e6 / Math.max(seconds, 0.001));
  const read = { bytes, seconds: Math.round(seconds * 1000) / 1000, megabytesPerSecond: speed };
  const advised = (found: readonly FsckProblem[]) => found.map((one) => ({ ...one, todo: fsckCodes[one.code].todo }));
  const value = { ...report, problems: advised(report.problems), notes: advised(report.notes), read };
  print(context, value, describe(report, `${(bytes / 1e6).toFixed(1)} MB of files, ${speed} MB/s`));
  return report.ok ? 0 : 1;
}

function describe(report: FsckReport, read: string): string {
  return [
    `Checked ${countsOf(report.checked)} (${read}).`,
    report.ok ? "Everything is whole." : "This is wrong:",
    ...grouped(report.problems),
    ...(report.notes.length > 0 ? ["Worth knowing:"] : []),
    ...grouped(report.notes),
  ].join("\n");
}

/** What to do stands once below all findings of a code. */
function grouped(found: readonly FsckProblem[]): string[] {
  return [...Map.groupBy(found, ({ code }) => code)].flatMap(([code, all]) => [
    ...all.map(({ where, message }) => `  ${code}  ${where}: ${message}`),
    `      → ${fsckCodes[code].todo}`,
  ]);
}
