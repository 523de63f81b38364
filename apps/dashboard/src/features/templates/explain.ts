import type { OverlayItem } from "../../../../../server/features/templates/contract.ts";
import { publishErrors } from "../../../../../server/features/templates/publish-checks.ts";
import type { ProblemError } from "../../../../../server/kernel/problem.ts";
import type { PageSize } from "../../../../shared/pdf/document.ts";
import { type Draft, noPicture } from "./model.ts";

/** What an error of publishing or saving is about, found by its pointer into the draft (RFC 6901). */
export type Place =
  | { kind: "item"; item: OverlayItem }
  | { kind: "role"; name: string }
  | { kind: "roles" }
  | { kind: "variable"; name: string }
  | { kind: "settings" }
  | { kind: "file" }
  | { kind: "draft" };
/** `member`: which member of that place, as `min` or `options/0/value`; empty when it is about the whole. */
export type Explained = { place: Place; member: string; code: ProblemError["code"]; detail: string };

export function explain(errors: readonly ProblemError[], draft: Draft): Explained[] {
  return errors.map((error) => {
    const parts = partsOf("pointer" in error ? error.pointer : "#");
    const place = placeOf(parts, draft);
    const above = place.kind === "item" ? 3 : place.kind === "role" || place.kind === "variable" ? 2 : parts.length;
    return { place, member: parts.slice(above).join("/"), code: error.code, detail: error.detail };
  });
}

const partsOf = (pointer: string): string[] =>
  pointer
    .replace(/^#?\//, "")
    .split("/")
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));

function placeOf([first, second, third]: readonly string[], draft: Draft): Place {
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

/**
 * What keeps the draft from being published, found as the service finds it.
 * @param pages of the document; none while they are not known, then nothing is said about places on them
 * @param words the message for a picture that has not been chosen yet
 */
export function problemsOf(draft: Draft, pages: readonly PageSize[], words: { noPicture: string }): Explained[] {
  const known = pages.length > 0;
  const { file, items, roles, variables, settings } = draft;
  const content = { mode: "overlay" as const, file, items: [...items] };
  const definition = { content, roles: [...roles], variables: [...variables], settings };
  const errors = publishErrors(definition, known ? pages : null);
  const unchosen = items.filter((item) => item.type === "image" && "data" in item && item.data === noPicture);
  return [
    ...explain(errors, draft).filter(({ place }) => known || place.kind !== "file"),
    ...unchosen.map((item) => ({
      place: { kind: "item" as const, item },
      member: "data",
      code: "required" as const,
      detail: words.noPicture,
    })),
  ];
}

/** Problems of one item by the member that they are about; the first counts. */
export function problemsByMember(problems: readonly Explained[], id: string): Record<string, string> {
  const found = new Map<string, string>();
  for (const { place, member, detail } of problems) {
    if (place.kind === "item" && place.item.id === id && !found.has(member)) found.set(member, detail);
  }
  return Object.fromEntries(found);
}
