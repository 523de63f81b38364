import type { Deps } from "../../kernel/deps.ts";
import { handle, type JobBinding } from "../../kernel/job-handler.ts";
import { makeKeys } from "./jobs.ts";
import { ensureKeys } from "./service.ts";

export function handlers(deps: Deps): JobBinding[] {
  return [
    handle(makeKeys, async () => {
      await ensureKeys(deps);
      return undefined;
    }),
  ];
}
