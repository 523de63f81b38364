import type { Deps } from "../../kernel/deps.ts";
import { handle, type JobBinding } from "../../kernel/job-handler.ts";
import { dropKept } from "./jobs.ts";
import { forgetKept } from "./kept.ts";

export function handlers(deps: Deps): JobBinding[] {
  return [
    handle(dropKept, async () => {
      await forgetKept(deps);
      return undefined;
    }),
  ];
}
