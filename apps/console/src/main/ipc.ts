import { type IpcMainInvokeEvent, ipcMain } from "electron";
import { type Method, methodNames, methods, type Output, type Parsed, type Reply } from "../shared/ipc.ts";
import { isOwnPage } from "./origin.ts";

export type Handlers = { [M in Method]: (input: Parsed<M>) => Promise<Output<M>> };

/**
 * Registers every method of the contract, each behind the same three gates: who asks, what is asked, what is answered.
 * @param windowId of the web contents that may call; null while there is none
 */
export function registerHandlers(
  handlers: Handlers,
  windowId: () => number | null,
  logError: (error: unknown) => void,
) {
  for (const name of methodNames) {
    ipcMain.handle(name, (event, input: unknown) => answer(name, handlers, { event, windowId, input, logError }));
  }
}

type Call = {
  event: IpcMainInvokeEvent;
  windowId: () => number | null;
  input: unknown;
  logError: (error: unknown) => void;
};

async function answer<M extends Method>(
  name: M,
  handlers: Handlers,
  { event, windowId, input, logError }: Call,
): Promise<Reply<M>> {
  if (!isTrusted(event, windowId())) return { ok: false, code: "forbidden" };
  const { input: Input, output: Output } = methods[name];
  const parsed = Input.safeParse(input);
  if (!parsed.success) return { ok: false, code: "invalid-input" };
  try {
    // The schema of this very method parsed it, which the compiler cannot follow through the lookup.
    const value = await handlers[name](parsed.data as Parsed<M>);
    return { ok: true, value: Output.parse(value) as Output<M> };
  } catch (error) {
    logError(error);
    return { ok: false, code: "failed" };
  }
}

/** Only the top frame of our own window, and only while it shows our own page. */
function isTrusted(event: IpcMainInvokeEvent, windowId: number | null): boolean {
  const frame = event.senderFrame;
  return (
    windowId !== null &&
    event.sender.id === windowId &&
    frame !== null &&
    frame === event.sender.mainFrame &&
    isOwnPage(frame.url)
  );
}
