/** The steps of an update. Each is written into the journal before it is done. */

export const phases = [
  "checking",
  "draining",
  "backing-up",
  "staging",
  "trying",
  "switching",
  "restarting",
  "committed",
  "taking-back",
  "returning",
  "done",
] as const;
export type Phase = (typeof phases)[number];

export const outcomes = ["applied", "taken-back", "returned"] as const;
/**
 * - `taken-back`: nothing of the new release was in force
 * - `returned`: it was, and program and database are those of before again
 */
export type Outcome = (typeof outcomes)[number];

/**
 * What is done about an update whose process ended in this phase.
 * - `take-back`: the old program runs, or will: clear away what was made
 * - `return`: the new program may have been started: program and database of before come back
 * - `finish`: the new program was found well: let people in
 */
export function recoveryOf(phase: Phase): "none" | "take-back" | "return" | "finish" {
  switch (phase) {
    case "checking":
    case "draining":
    case "backing-up":
    case "staging":
    case "trying":
    case "taking-back":
      return "take-back";
    case "switching":
    case "restarting":
    case "returning":
      return "return";
    case "committed":
      return "finish";
    case "done":
      return "none";
  }
}
