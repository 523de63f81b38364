import { fsck } from "../features/evidence/fsck.ts";
import { type Command, print } from "./command.ts";
import { withDeps } from "./with-deps.ts";

export const fsckCommand: Command = {
  name: "fsck",
  summary: "check every chain, document, leaf and anchor on this data folder",
  usage: ["signet fsck"],
  options: {},
  async run(context) {
    const watched = context.interactive && !context.json;
    const report = await withDeps(context, (deps) =>
      fsck(deps, watched ? (line) => context.stderr(`\r\x1b[2K${line}`) : undefined),
    );
    if (watched) context.stderr("\r\x1b[2K");
    print(context, report, describe(report));
    return report.ok ? 0 : 1;
  },
};

function describe(report: Awaited<ReturnType<typeof fsck>>): string {
  const counts = Object.entries(report.checked).map(([what, count]) => `${count} ${what}`);
  const head = `Checked ${counts.join(", ")}.`;
  if (report.ok) return `${head}\nEverything is whole.`;
  return `${head}\n${report.problems.map(({ kind, where, message }) => `  ${kind}  ${where}: ${message}`).join("\n")}`;
}
