import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react";
import { notify } from "../../shared/ui/kit/notify.tsx";

type Mode = {
  testMode: boolean;
  setTestMode: (testMode: boolean) => void;
  /** Shows in this tab the world that something belongs to, which is no choice for other tabs. */
  follow: (testMode: boolean) => void;
};

const Context = createContext<Mode | null>(null);
const key = "signet.testMode";

/** This tab's choice, else the last one of any tab; live where storage is forbidden. */
function stored(): boolean {
  try {
    return (sessionStorage.getItem(key) ?? localStorage.getItem(key)) === "1";
  } catch {
    return false;
  }
}

/** Keeps which of the two worlds the dashboard shows. A tab never changes because of another one. */
export function ModeProvider({ children }: { children: ReactNode }) {
  const [testMode, set] = useState(stored);
  const setTestMode = useCallback((next: boolean) => {
    set(next);
    try {
      sessionStorage.setItem(key, next ? "1" : "0");
      localStorage.setItem(key, next ? "1" : "0");
    } catch {
      // The choice then lasts as long as the page.
    }
  }, []);
  const follow = useCallback((next: boolean) => {
    set(next);
    try {
      sessionStorage.setItem(key, next ? "1" : "0");
    } catch {
      // It then lasts as long as the page.
    }
  }, []);
  const mode = useMemo(() => ({ testMode, setTestMode, follow }), [testMode, setTestMode, follow]);
  return <Context value={mode}>{children}</Context>;
}

/** Whether the dashboard shows test or live data. */
export function useMode(): Mode {
  const mode = useContext(Context);
  if (!mode) throw new Error("useMode needs a ModeProvider above it.");
  return mode;
}

/**
 * Brings the tab to the world of something with an id: a link may lead from one into the other, and what is real must not stand
 * below the band that says that it is not.
 * @param testMode undefined while it is not known
 * @param words tell the person which world the tab shows now
 * @returns whether the tab shows that world
 */
export function useModeOf(id: string, testMode: boolean | undefined, words: (testMode: boolean) => string): boolean {
  const mode = useMode();
  const differs = testMode !== undefined && testMode !== mode.testMode;
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever then chooses the other world leaves this page
  useEffect(() => {
    if (!differs) return;
    mode.follow(testMode);
    notify({ message: words(testMode) });
  }, [id, testMode]);
  return !differs;
}
