import type { Deps } from "../../kernel/deps.ts";
import { handle, type JobBinding } from "../../kernel/job-runner.ts";
import { inviteViewer, tellViewers } from "../envelopes/jobs.ts";
import { invite, tell } from "./mails.ts";

export function handlers(deps: Deps): JobBinding[] {
  return [
    handle(
      inviteViewer,
      async ({ viewer }) =>
        (tx) =>
          invite(tx, deps, viewer),
    ),
    handle(tellViewers, async (end) => (tx) => tell(tx, deps, end)),
  ];
}
