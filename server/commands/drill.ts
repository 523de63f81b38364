import { performDrill } from "../features/backup/acts.ts";
import type { DrillOpener } from "../features/backup/contract.ts";
import { beginDrill } from "../features/backup/service.ts";
import { operator, orEnd } from "./backup.ts";
import { openerOf, watched } from "./backup-opener.ts";
import { type Command, countsOf, optional, print } from "./command.ts";
import { entryOf } from "./list.ts";
import { withDeps } from "./with-deps.ts";

export const drill: Command = {
  ...entryOf("drill"),
  usage: [
    "signet drill [--id ID] [--scratch DIR] [--key FILE | --passphrase-stdin]",
    "without --key or --passphrase-stdin the appliance opens the backup itself, and what you keep away is not tried",
  ],
  async run(context) {
    const opener = await openerOf(context);
    const backup = optional(context, "id");
    const scratch = optional(context, "scratch");
    const ended = await withDeps(context, async (deps) => {
      const id = await deps.db.tx((tx) => beginDrill(tx, deps, operator(), backup ?? null));
      const done = await orEnd(deps, { kind: "drill", id }, () =>
        watched(context, { kind: "drill", id }, (work) => performDrill(deps, { id, backup, opener, scratch }, work)),
      );
      await deps.db.tx(done.commit);
      return done;
    });
    const { ok, id, cause, checked, openedBy } = ended;
    const text = ok
      ? `The drill passed. ${opened[openedBy]}\nChecked in the scratch: ${countsOf(checked)}.`
      : `The drill failed: ${cause}`;
    print(context, { id, ok, cause, checked, openedBy, keptKeyTried: openedBy !== "appliance" }, text);
    return ok ? 0 : 1;
  },
};

const opened: Record<DrillOpener, string> = {
  key: "The backup was opened by the key that was given, as on a machine that has nothing else.",
  passphrase: "The backup was opened by the passphrase that was given, as on a machine that has nothing else.",
  appliance:
    "The backup was opened by this appliance's own master key, which is lost with the machine. " +
    "What you keep away was not tried: signet drill --key FILE (or --passphrase-stdin) tries it.",
};
