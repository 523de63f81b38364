import { useBlocker } from "@tanstack/react-router";
import { useCallback, useEffect, useRef } from "react";
import { translator } from "../../i18n.ts";
import { useConfirm } from "./Confirm.tsx";

/** What draws a page anew without leaving it. */
export type Redraw = "mode" | "language";

type Options = {
  /** What the unsaved work does not survive; another language, unless said otherwise. */
  lostBy?: readonly Redraw[];
  /** Saves what is open; only when that fails is the person asked. */
  save?: () => Promise<boolean>;
  /** Whether going from one search to the other on the same path leaves the work too. */
  leaves?: (current: Search, next: Search) => boolean;
};
type Search = Readonly<Record<string, unknown>>;
type Guard = { lostBy: readonly Redraw[]; mayLeave: () => Promise<boolean> };

const guards = new Set<Guard>();
const redraws: readonly Redraw[] = ["mode", "language"];
const byLanguage: readonly Redraw[] = ["language"];

/** Asks, when something is not saved, as leaving the page would. @returns whether it may be left */
export async function mayLeave(): Promise<boolean> {
  for (const guard of guards) if (!(await guard.mayLeave())) return false;
  return true;
}

/** Asks, when something is not saved that the change would lose. @returns whether the change may be made */
export async function mayRedraw(change: Redraw): Promise<boolean> {
  for (const guard of guards) {
    if (guard.lostBy.includes(change) && !(await guard.mayLeave())) return false;
  }
  return true;
}

/**
 * Asks before the page is left or drawn anew while something on it is not saved: within the dashboard by a dialog, else by the
 * browser's own question.
 */
export function useUnsaved(dirty: boolean, { lostBy = byLanguage, save, leaves }: Options = {}): void {
  const confirm = useConfirm();
  const saving = useRef(save);
  useEffect(() => {
    saving.current = save;
  });
  const mayLeave = useCallback(async () => {
    if (await saving.current?.()) return true;
    const t = translator("common");
    return await confirm({
      title: t("unsavedTitle"),
      text: t("unsavedText"),
      confirm: t("unsavedLeave"),
      cancel: t("unsavedStay"),
      danger: true,
    });
  }, [confirm]);
  const lost = lostBy.join();
  useEffect(() => {
    if (!dirty) return;
    const guard: Guard = { lostBy: redraws.filter((one) => lost.split(",").includes(one)), mayLeave };
    guards.add(guard);
    return () => void guards.delete(guard);
  }, [dirty, lost, mayLeave]);
  useBlocker({
    disabled: !dirty,
    enableBeforeUnload: dirty,
    shouldBlockFn: async ({ current, next }) => {
      if (current.pathname === next.pathname && !leaves?.(current.search, next.search)) return false;
      return !(await mayLeave());
    },
  });
}
