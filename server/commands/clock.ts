import { acceptClock, readClock } from "../features/appliance/clock.ts";
import type { ClockState } from "../features/appliance/clock-contract.ts";
import * as contract from "../features/appliance/clock-contract.ts";
import { type Command, type CommandContext, print, table, UsageError } from "./command.ts";
import { entryOf } from "./list.ts";
import { runningOrHere } from "./with-appliance.ts";

export const clock: Command = {
  ...entryOf("clock"),
  usage: ["signet clock", "signet clock accept"],
  exitCodes: { 1: "the clock is in doubt" },
  run: (context) => {
    const [action, ...more] = context.positionals;
    if (action === undefined) return show(context);
    if (action === "accept" && more.length === 0) return accept(context);
    throw new UsageError("say nothing, or `accept`");
  },
};

async function show(context: CommandContext): Promise<number> {
  const state: ClockState = await runningOrHere(context, {
    running: (call) => call(contract.getClock, {}),
    here: readClock,
  });
  const { now, doubt, events } = state;
  const text = doubt
    ? `The machine says ${doubt.machine}, and it would have to be ${doubt.expected}: nothing is signed, sent or deleted.\n` +
      "Set the machine's clock right, or say `signet clock accept` when it is."
    : `It is ${now}, and the machine's clock is believed.`;
  const rows = events.map(({ kind, machineAt, expectedAt }) => [kind, machineAt, expectedAt]);
  const history = rows.length === 0 ? "" : `\n\n${table([["what", "machine", "expected"], ...rows])}`;
  print(context, state, `${text}${history}`);
  return doubt ? 1 : 0;
}

async function accept(context: CommandContext): Promise<number> {
  const { events } = await runningOrHere(context, {
    running: (call) => call(contract.acceptClock, {}),
    async here(deps, actor) {
      await acceptClock(deps, actor);
      return await readClock(deps);
    },
  });
  const at = events.find(({ kind }) => kind === "accepted")?.machineAt ?? null;
  print(context, { acceptedAt: at }, `${at} is the time from now on; a running server takes it up within seconds.`);
  return 0;
}
