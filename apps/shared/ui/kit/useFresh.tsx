import {
  type ComponentType,
  createContext,
  type ReactNode,
  Suspense,
  useCallback,
  useContext,
  useMemo,
  useRef,
  useState,
} from "react";
import { ProblemResponse } from "../../api/client.ts";

/** Why: the sign-in is too old for what was asked, or the session has ended. */
type Reason = "old" | "ended";
/** Asks the person to sign in again; resolves to whether that happened. */
type Ask = (reason: Reason) => Promise<boolean>;
const Context = createContext<Ask | null>(null);

type Dialog = ComponentType<{ opened: boolean; reason: Reason; onClose: (signedIn: boolean) => void }>;

/**
 * Gives the pages below it one dialog for signing in again.
 * @param dialog shows it; calls `onClose` with whether the person signed in
 */
export function FreshProvider({ dialog: Dialog, children }: { dialog: Dialog; children: ReactNode }) {
  const [opened, setOpened] = useState(false);
  const [used, setUsed] = useState(false);
  const [reason, setReason] = useState<Reason>("old");
  const waiting = useRef<{ promise: Promise<boolean>; resolve: (signedIn: boolean) => void } | null>(null);
  const ask = useCallback<Ask>((why) => {
    // Several refused calls share one dialog.
    if (waiting.current) return waiting.current.promise;
    let resolve: (signedIn: boolean) => void = () => {};
    const promise = new Promise<boolean>((done) => {
      resolve = done;
    });
    waiting.current = { promise, resolve };
    setReason(why);
    setUsed(true);
    setOpened(true);
    return promise;
  }, []);
  const close = useCallback((signedIn: boolean) => {
    setOpened(false);
    waiting.current?.resolve(signedIn);
    waiting.current = null;
  }, []);
  const content = useMemo(() => <Context value={ask}>{children}</Context>, [ask, children]);
  return (
    <>
      {content}
      {used && (
        <Suspense>
          <Dialog opened={opened} reason={reason} onClose={close} />
        </Suspense>
      )}
    </>
  );
}

/** Opens the dialog for signing in again. */
export function useSignInAgain(): Ask {
  const ask = useContext(Context);
  if (!ask) throw new Error("useFresh needs a FreshProvider above it.");
  return ask;
}

/**
 * Runs a call that the service may refuse because the sign-in is too old: then asks the person to sign in again and repeats it.
 * @example const fresh = useFresh(); await fresh(() => act.mutateAsync({ body }))
 */
export function useFresh(): <T>(call: () => Promise<T>) => Promise<T> {
  const signInAgain = useSignInAgain();
  return useCallback(
    async (call) => {
      try {
        return await call();
      } catch (error) {
        const stale = error instanceof ProblemResponse && error.problem.code === "fresh-sign-in-required";
        if (!stale || !(await signInAgain("old"))) throw error;
        return await call();
      }
    },
    [signInAgain],
  );
}
