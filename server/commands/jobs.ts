import { listStuckWork, retryAllStuckWork, retryStuckWork } from "../features/appliance/work.ts";
import * as work from "../features/appliance/work-contract.ts";
import { type Command, type CommandContext, print, table, UsageError } from "./command.ts";
import { entryOf } from "./list.ts";
import { runningOrHere } from "./with-appliance.ts";

export const jobs: Command = {
  ...entryOf("jobs"),
  usage: ["signet jobs list", "signet jobs retry JOB_ID", "signet jobs retry --all"],
  run: (context) => {
    const [action, id, ...more] = context.positionals;
    if (action === "list" && id === undefined) return list(context);
    if (action === "retry" && context.options.all === true && id === undefined) return retryAll(context);
    if (action === "retry" && id !== undefined && more.length === 0) return retry(context, id);
    throw new UsageError("say `list`, or `retry` and the id of a job, or `retry --all`");
  },
};

const most = 500;

async function list(context: CommandContext): Promise<number> {
  const { data, total } = await runningOrHere(context, {
    running: (call) => call(work.listStuckWork, { query: { limit: most } }),
    here: ({ db }) => listStuckWork(db.read, most),
  });
  const rows = data.map(({ id, since, name, state, attempts, organization, envelope, recipient, cause }) => {
    const about = [organization?.name, envelope?.title, recipient].filter(Boolean).join(", ");
    return [id, since, state, name, `${attempts}×`, about, cause];
  });
  const heading = ["id", "since", "state", "work", "tries", "about", "cause"];
  const more = total > data.length ? `\n… and ${total - data.length} more` : "";
  print(context, { data, total }, data.length === 0 ? "Nothing is stuck." : `${table([heading, ...rows])}${more}`);
  return 0;
}

async function retry(context: CommandContext, id: string): Promise<number> {
  const done = await runningOrHere(context, {
    running: (call) => call(work.retryWork, { params: { id } }),
    here: (deps, actor) => retryStuckWork(deps, actor, id),
  });
  print(context, { ...done, status: "queued" }, `${done.name} is queued again.`);
  return 0;
}

async function retryAll(context: CommandContext): Promise<number> {
  const done = await runningOrHere(context, {
    running: (call) => call(work.retryAllWork, {}),
    here: retryAllStuckWork,
  });
  const left = done.left === 0 ? "" : ` For ${done.left} trying again cannot help: signet jobs list says why.`;
  print(context, done, `${done.retried} queued again.${left}`);
  return 0;
}
