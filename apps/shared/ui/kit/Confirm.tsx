import {
  createContext,
  lazy,
  type ReactNode,
  Suspense,
  useCallback,
  useContext,
  useEffect,
  useRef,
  useState,
} from "react";

export type ConfirmOptions = {
  title: string;
  text: ReactNode;
  /** Label of the button that does it: the verb, not "OK". */
  confirm: string;
  /** Label of the other one; "Cancel" when absent. */
  cancel?: string;
  /** What is asked for cannot be undone. */
  danger?: boolean;
};

type Ask = (options: ConfirmOptions) => Promise<boolean>;
const Context = createContext<Ask | null>(null);
const load = () => import("./ConfirmDialog.tsx");
// Most visits never see it, so it is not part of the first load.
const ConfirmDialog = lazy(async () => ({ default: (await load()).ConfirmDialog }));
/** Long after the start: a page that stays open over an update of the appliance must not ask for a file that is gone. */
const fetchAheadMs = 3000;

/** Gives the pages below it one dialog that asks before something is done. */
export function ConfirmProvider({ children }: { children: ReactNode }) {
  const [options, setOptions] = useState<ConfirmOptions | null>(null);
  const [opened, setOpened] = useState(false);
  const answer = useRef<(agreed: boolean) => void>(() => {});

  const ask = useCallback<Ask>((asked) => {
    // A second question takes the place of the first, which counts as declined.
    answer.current(false);
    setOptions(asked);
    setOpened(true);
    return new Promise((resolve) => {
      answer.current = resolve;
    });
  }, []);

  useEffect(() => {
    const timer = setTimeout(() => void load().catch(() => undefined), fetchAheadMs);
    return () => clearTimeout(timer);
  }, []);

  const close = (agreed: boolean) => {
    setOpened(false);
    answer.current(agreed);
    answer.current = () => {};
  };

  return (
    <Context value={ask}>
      {children}
      {options && (
        <Suspense>
          <ConfirmDialog options={options} opened={opened} onClose={close} />
        </Suspense>
      )}
    </Context>
  );
}

/** Asks the person in a dialog; resolves to false when it is closed or declined. */
export function useConfirm(): Ask {
  const ask = useContext(Context);
  if (!ask) throw new Error("useConfirm needs a ConfirmProvider above it.");
  return ask;
}
