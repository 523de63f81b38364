import { performDrill } from "../features/backup/acts.ts";
import { beginDrill } from "../features/backup/service.ts";
import { operator, orEnd } from "./backup.ts";
import { openerOf, openerOptions, watched } from "./backup-opener.ts";
import { type Command, optional, print } from "./command.ts";
import { withDeps } from "./with-deps.ts";

export const drill: Command = {
  name: "drill",
  summary: "restore a backup into a scratch folder, walk every chain and hash there, record the result",
  usage: ["signet drill [--id ID] [--scratch DIR] [--key FILE | --passphrase-stdin]"],
  options: { ...openerOptions, id: { type: "string" }, scratch: { type: "string" } },
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
    const { ok, id, cause, checked } = ended;
    const counts = Object.entries(checked).map(([what, count]) => `${count} ${what}`);
    const text = ok ? `The drill passed. Checked in the scratch: ${counts.join(", ")}.` : `The drill failed: ${cause}`;
    print(context, { id, ok, cause, checked }, text);
    return ok ? 0 : 1;
  },
};
