import type { Deps } from "../../kernel/deps.ts";
import { handle, type JobBinding } from "../../kernel/job-handler.ts";
import { noteSize } from "./jobs.ts";
import { sampleStorage } from "./storage.ts";

export function handlers(deps: Deps): JobBinding[] {
  return [handle(noteSize, () => sampleStorage(deps))];
}
