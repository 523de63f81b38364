import type { Deps } from "../../kernel/deps.ts";
import { handle, type JobBinding } from "../../kernel/job-handler.ts";
import { noteSize } from "./jobs.ts";
import { sampleStorage } from "./storage.ts";

export function handlers(deps: Deps): JobBinding[] {
  return [
    handle(noteSize, async () => {
      // A walk over a million files takes minutes: nobody who waits for the queue, to stop or to update, waits for it.
      sampleStorage(deps).catch((err: unknown) => deps.log.debug({ err }, "the size was not noted"));
      return undefined;
    }),
  ];
}
