import type { OverlayItem } from "../../../../../server/features/templates/contract.ts";
import type { ProblemError } from "../../../../../server/kernel/problem.ts";
import type { Draft } from "./model.ts";

/** What an error of publishing or saving is about, found by its pointer into the draft (RFC 6901). */
export type Place =
  | { kind: "item"; item: OverlayItem }
  | { kind: "role"; name: string }
  | { kind: "roles" }
  | { kind: "variable"; name: string }
  | { kind: "settings" }
  | { kind: "file" }
  | { kind: "draft" };
export type Explained = { place: Place; detail: string };

export function explain(errors: readonly ProblemError[], draft: Draft): Explained[] {
  return errors.map((error) => ({
    place: placeOf("pointer" in error ? error.pointer : "#", draft),
    detail: error.detail,
  }));
}

function placeOf(pointer: string, draft: Draft): Place {
  const [first, second, third] = pointer
    .replace(/^#?\//, "")
    .split("/")
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
  if (first === "content" && second === "file") return { kind: "file" };
  if (first === "content" && second === "items") {
    const item = draft.items[Number(third)];
    if (item) return { kind: "item", item };
  }
  if (first === "roles") {
    const role = second === undefined ? undefined : draft.roles[Number(second)];
    return role ? { kind: "role", name: role.name } : { kind: "roles" };
  }
  if (first === "variables") {
    const variable = draft.variables[Number(second)];
    if (variable) return { kind: "variable", name: variable.name };
  }
  return first === "settings" ? { kind: "settings" } : { kind: "draft" };
}
