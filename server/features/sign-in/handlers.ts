import type { Deps } from "../../kernel/deps.ts";
import { handle, type JobBinding } from "../../kernel/job-handler.ts";
import { mailSignIn } from "./jobs.ts";
import { mailWhatWasAsked } from "./mailing.ts";

export function handlers(deps: Deps): JobBinding[] {
  return [handle(mailSignIn, (asked) => mailWhatWasAsked(deps, asked))];
}
