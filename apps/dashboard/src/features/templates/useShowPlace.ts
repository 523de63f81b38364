import { useNavigate, useParams } from "@tanstack/react-router";
import type { Place } from "./explain.ts";

const tabOf = {
  item: "fields",
  role: "roles",
  roles: "roles",
  variable: "variables",
  settings: "settings",
  file: "fields",
  draft: "settings",
} as const satisfies Record<Place["kind"], string>;

/** Leads to what a problem is about: its tab, and of a field the field itself, wherever on the pages it lies. */
export function useShowPlace(onSelect: (id: string) => void): (place: Place) => void {
  const navigate = useNavigate();
  const { id: template } = useParams({ strict: false });
  return (place) => {
    if (template !== undefined) {
      void navigate({
        to: "/templates/$id",
        params: { id: template },
        search: (before) => ({ ...before, tab: tabOf[place.kind] }),
        replace: true,
        resetScroll: false,
      });
    }
    focusMistake(40);
    if (place.kind !== "item") return;
    const { id } = place.item;
    onSelect(id);
    document.querySelector(`[data-item="${CSS.escape(id)}"]`)?.scrollIntoView({ block: "center", behavior: "auto" });
  };
}

/** The input that is wrong takes the focus once it is there. @param frames how long to wait for it */
function focusMistake(frames: number): void {
  requestAnimationFrame(() => {
    const input = document.querySelector<HTMLElement>('.workspace-panel [aria-invalid="true"]');
    // What was there before is gone with the next drawing.
    if (frames < 37) input?.focus();
    if (frames > 0 && (!input || document.activeElement !== input)) focusMistake(frames - 1);
  });
}
