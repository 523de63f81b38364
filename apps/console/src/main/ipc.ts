import { type IpcMainInvokeEvent, ipcMain } from "electron";
import { LocalProblem, NoAppliance } from "../../../../server/local-client.ts";
import { methods, type Refusal, type Reply } from "../shared/ipc.ts";
import { isOwnPage } from "./origin.ts";

/** What each method does, by its name; the input has passed the method's schema. */
export type Handlers = ReadonlyMap<string, (input: unknown) => Promise<unknown>>;

/**
 * Registers every method of the contract, each behind the same three gates: who asks, what is asked, what is answered.
 * @param windowId of the web contents that may call; null while there is none
 */
export function registerHandlers(
  handlers: Handlers,
  windowId: () => number | null,
  logError: (error: unknown) => void,
): void {
  for (const [name, spec] of Object.entries(methods)) {
    const handler = handlers.get(name);
    if (!handler) throw new Error(`${name} has no handler`);
    ipcMain.handle(name, async (event, input: unknown): Promise<Reply<unknown>> => {
      if (!isTrusted(event, windowId())) return { ok: false, code: "forbidden" };
      const parsed = spec.input.safeParse(input);
      if (!parsed.success) return { ok: false, code: "invalid-input" };
      try {
        return { ok: true, value: spec.output.parse(await handler(parsed.data)) };
      } catch (error) {
        return refusalOf(error, logError);
      }
    });
  }
}

const reasons = {
  stopped: "stopped",
  forbidden: "not-allowed",
  broken: "broken",
  "other-version": "other-version",
} as const;

/** What the page is told of an error; what nobody expected is logged. */
export function refusalOf(error: unknown, logError: (error: unknown) => void): Refusal {
  if (error instanceof LocalProblem) return { ok: false, code: "problem", problem: error.problem };
  if (error instanceof NoAppliance) return { ok: false, code: reasons[error.reason] };
  // A stream that was cut while it was read: the appliance went away.
  if (error instanceof Error && "code" in error && error.code === "ECONNRESET") return { ok: false, code: "broken" };
  logError(error);
  return { ok: false, code: "failed" };
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
