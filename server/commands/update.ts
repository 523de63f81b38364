import { installationOf } from "../features/update/installation.ts";
import { readJournal } from "../features/update/journal.ts";
import { type Command, type CommandContext, chosen, UsageError } from "./command.ts";
import { entryOf } from "./list.ts";

export const update: Command = {
  ...entryOf("update"),
  usage: [
    "signet update status             the version, and the update that is under way or was the last",
    "signet update history            every update that ended",
    "signet update verify FILE        check signatures and content; changes nothing",
    "signet update apply FILE         as root: back up, try, switch, and come back by itself if it does not serve",
    "signet update rollback           as root: back to the release before, with today's data where it knows them",
    "  --accept-loss NUMBER           otherwise with the database of before the update, if at most that much may be lost",
    "signet update resume             as root: take back, or finish, what was cut off",
    "--service UNIT|supervised        who starts the appliance again (default: signet.service, where systemd has it)",
    "--drain SECONDS                  how long work that is due may go on before it waits (default 60)",
    "--gate SECONDS                   how long the release may take until it serves, its migration aside (default 120)",
    "--reserve MEGABYTES              what has to stay free on the disk (default 512)",
  ],
  async run(context) {
    const [verb = "status", ...rest] = context.positionals;
    if (await isNothingBeforeStart(context, verb)) return 0;
    const { updateActs } = await import("./update-acts.ts");
    const act = chosen(updateActs, verb);
    if (!act) throw new UsageError("say status, history, verify, apply, rollback or resume");
    return await act(context, rest);
  },
};

/** The unit asks before each start, and nearly always there is nothing to resume: the start does not wait for more than this look. */
async function isNothingBeforeStart({ options, program }: CommandContext, verb: string): Promise<boolean> {
  if (verb !== "resume" || options["before-start"] !== true) return false;
  const installation = installationOf(program);
  const journal = installation && (await readJournal(installation.root));
  return installation !== null && (journal === null || journal.phase === "done");
}
