import type { LocalCaller } from "../../kernel/caller.ts";
import type { Ts } from "../../kernel/clock.ts";
import type { JobRunner } from "../../kernel/job-runner.ts";
import type { LogTail } from "../../kernel/log-tail.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { operatorHeader } from "../../kernel/wire.ts";
import type { Activity } from "../backup/activity.ts";
import type { TlsKeeper } from "../tls/keeper.ts";

/** What the running process offers to the use cases of its administrators, besides Deps. */
export type Control = {
  startedAt: Ts;
  /** Where it answers, without a trailing slash. */
  url: string;
  tls: TlsKeeper;
  backups: Activity;
  jobs: Pick<JobRunner, "counts" | "retryDead" | "wake">;
  log: {
    tail: LogTail /** A command or a file that has all lines; null when they only go to a terminal. */;
    keptIn: string | null;
  };
};

/** Who calls on the admin socket, by their own word: whoever may open it may do everything anyway. */
export function operatorOf(request: Pick<RequestInfo, "header">): LocalCaller {
  const said = request.header(operatorHeader);
  const name = said === null ? null : said.replaceAll(/[^\x20-\x7e]/g, "").slice(0, 100) || null;
  return { kind: "local", actor: { type: "operator", id: null, name, email: null } };
}
