import type { Deps } from "../../kernel/deps.ts";
import { handle, type JobBinding } from "../../kernel/job-handler.ts";
import { forgetSignIns, mailSignIn } from "./jobs.ts";
import { mailWhatWasAsked } from "./mailing.ts";
import { purgeSignIn } from "./sessions.ts";

export function handlers(deps: Deps): JobBinding[] {
  return [
    handle(mailSignIn, (asked) => mailWhatWasAsked(deps, asked)),
    handle(forgetSignIns, async () => (tx) => purgeSignIn(tx, deps)),
  ];
}
