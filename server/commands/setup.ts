import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import { applySetup, readSetup } from "../features/appliance/setup.ts";
import {
  applySetup as applyEndpoint,
  getSetup,
  SetupAnswers,
  type SetupState,
} from "../features/appliance/setup-contract.ts";
import { type Command, type CommandContext, optional, print, table, UsageError } from "./command.ts";
import { runningOrHere } from "./with-appliance.ts";
import { orWrongSetting } from "./wrong-setting.ts";

export const setup: Command = {
  name: "setup",
  summary: "say what is set up and what is still open, or set up what a file of answers says",
  usage: [
    "signet setup",
    "signet setup --answers FILE   YAML or JSON; applying it again changes nothing",
    "answers: settings (as in signet.json), owner (organization, email, name, locale, timeZone), skip (steps)",
  ],
  exitCodes: { 1: "a step is still open" },
  options: { answers: { type: "string" } },
  async run(context) {
    const file = optional(context, "answers");
    return file === undefined ? await show(context) : await apply(context, file);
  },
};

async function show(context: CommandContext): Promise<number> {
  const state = await runningOrHere(context, {
    running: (call) => call(getSetup, {}),
    here: async (deps) => readSetup(deps),
    createKey: true,
  });
  print(context, state, [...restartOf(state), stepsOf(state)].join("\n"));
  return state.complete ? 0 : 1;
}

async function apply(context: CommandContext, file: string): Promise<number> {
  const answers = await readAnswers(file);
  const done = await orWrongSetting(() =>
    runningOrHere(context, {
      running: (call) => call(applyEndpoint, { body: answers }),
      here: (deps, actor) => applySetup(deps, actor, answers),
      createKey: true,
    }),
  );
  const lines = [
    done.changed.length === 0 ? "Everything in the answers was there already." : `Done: ${done.changed.join(", ")}.`,
    ...(done.link === null ? [] : [`The owner goes on at ${done.link}`]),
    ...restartOf(done.setup),
    "",
    stepsOf(done.setup),
  ];
  print(context, done, lines.join("\n"));
  return done.setup.complete ? 0 : 1;
}

/** @throws UsageError naming what cannot be understood */
async function readAnswers(file: string): Promise<SetupAnswers> {
  const text = await readFile(file, "utf8");
  let value: unknown;
  try {
    // JSON is YAML too.
    value = parse(text);
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = SetupAnswers.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new UsageError(`${file}: ${issue?.path.join(".") || "answers"}: ${issue?.message ?? "not understood"}`);
}

/** The steps are judged as if it had been done. */
const restartOf = ({ restartNeeded }: SetupState): string[] =>
  restartNeeded ? ["Settings have changed: start Signet again to bring them into force."] : [];

const stepsOf = ({ steps }: SetupState): string =>
  table(
    steps.map(({ step, state, detail, action }) => [state, step, action === null ? detail : `${detail}. ${action}`]),
  );
