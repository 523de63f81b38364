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
import { entryOf } from "./list.ts";
import { runningOrHere } from "./with-appliance.ts";
import { orWrongSetting } from "./wrong-setting.ts";

export const setup: Command = {
  ...entryOf("setup"),
  usage: [
    "signet setup",
    "signet setup --answers FILE   YAML or JSON; applying it again changes nothing",
    "answers: settings (as in signet.json), owner (organization, email, name, locale, timeZone), skip (steps)",
  ],
  exitCodes: { 1: "a step is still open" },
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
    ...(done.link === null ? [] : [`The owner goes on at ${done.link}`, lifeOf(done.changed)]),
    ...restartOf(done.setup),
    "",
    stepsOf(done.setup),
  ];
  print(context, done, lines.join("\n"));
  return done.setup.complete ? 0 : 1;
}

/** The owner of the answers sets a password; without one the link is that of whoever comes first. */
const lifeOf = (changed: readonly string[]): string =>
  changed.includes("owner")
    ? "The link works once and for an hour; signet recover-owner --email ADDRESS prints another."
    : "The link works once and for 24 hours; signet first-link prints another.";

/** @throws UsageError naming what cannot be understood */
async function readAnswers(file: string): Promise<SetupAnswers> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") throw new UsageError(`${file}: there is no such file`);
    throw error;
  });
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
  restartNeeded
    ? ["Settings have changed: start Signet again to bring them into force (as a service: systemctl restart signet)."]
    : [];

/** What does it here; the console has a form for each. */
const commandsOf: Readonly<Partial<Record<string, string>>> = {
  "address.loopback": "signet config set host=0.0.0.0 port=443 baseUrl=https://NAME",
  "tls.loopback": "signet config set host=0.0.0.0, or trustedProxies=ADDRESS",
  "tls.self-signed": "signet tls install --certificate FILE --key FILE, or signet tls authority",
  "mail.files": "signet config set smtpUrl=smtp://HOST:587 mailFrom=ADDRESS; signet smtp test --to ADDRESS",
  "mail.sender": "signet config set mailFrom=ADDRESS; signet smtp test --to ADDRESS",
  "clock.doubted": "signet clock accept",
  "keys.over": "signet keys rotate --use seal",
  "backup.missing": "signet backup key --out FILE; signet config set backupDir=FOLDER backupRecipient=PUBLIC_PART",
  "summary.open": "signet setup --answers FILE, for all of it; skip: [STEP] in FILE leaves a step out",
};

function stepsOf({ steps }: SetupState): string {
  const all = steps.map(({ step, state, detail, action }) => [
    state,
    step,
    action === null ? detail : `${detail}. ${action}`,
  ]);
  const how = steps.flatMap(({ step, state, code }) => {
    const command = state === "open" ? commandsOf[code] : undefined;
    return command === undefined ? [] : [[step, command]];
  });
  return how.length === 0 ? table(all) : `${table(all)}\n\nThe commands for it:\n${table(how)}`;
}
