import { readAnchors, resumeHeldAnchors } from "../features/evidence/anchors/managed.ts";
import {
  listManagedAnchors,
  type ManagedAnchors,
  resumeAnchors,
} from "../features/evidence/anchors/managed-contract.ts";
import { actionFor } from "../features/health/service.ts";
import { type Command, type CommandContext, print, table, UsageError } from "./command.ts";
import { entryOf } from "./list.ts";
import { runningOrHere } from "./with-appliance.ts";

const shown = 10;

export const anchors: Command = {
  ...entryOf("anchors"),
  usage: [
    "signet anchors list",
    "signet anchors resume   you answer for it that the machine of before published none after the backup",
  ],
  run: (context) => {
    const [action = "list", ...more] = context.positionals;
    if (more.length > 0) throw new UsageError("that is one word too many");
    if (action === "list") return list(context);
    if (action === "resume") return resume(context);
    throw new UsageError("say `list` or `resume`");
  },
};

async function list(context: CommandContext): Promise<number> {
  const standing = await runningOrHere(context, {
    running: (call) => call(listManagedAnchors, { query: { limit: shown } }),
    here: (deps) => readAnchors(deps, shown),
  });
  const rows = standing.data.map(({ sequence, createdAt, treeSize, anchorHash, receipts }) => [
    `${sequence}`,
    createdAt,
    `${treeSize} seals`,
    anchorHash,
    receipts.map(({ witness }) => witness).join(", "),
  ]);
  const text = [rows.length === 0 ? "There is no anchor yet." : table(rows), ...describeHold(standing)].join("\n");
  print(context, standing, text);
  return standing.held === null ? 0 : 1;
}

function describeHold({ held, resumed, waiting }: ManagedAnchors): string[] {
  if (held === null)
    return resumed ? [`They go on since ${resumed.at}; they were held back since ${resumed.since}.`] : [];
  const cause = held.backup === null ? "a witness holds later ones" : `this data was restored from ${held.backup}`;
  const later = held.later === null ? [] : [`A witness holds anchor ${held.later}, which this data does not know.`];
  return [`None is signed since ${held.since}: ${cause}. ${waiting} seals wait.`, ...later, actionFor("anchors.later")];
}

async function resume(context: CommandContext): Promise<number> {
  const standing = await runningOrHere(context, {
    running: (call) => call(resumeAnchors, {}),
    here: resumeHeldAnchors,
  });
  print(context, standing, "Anchors go on.");
  return 0;
}
