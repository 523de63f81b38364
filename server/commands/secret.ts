import { StringDecoder } from "node:string_decoder";
import { ReadStream } from "node:tty";
import { type CommandContext, readLine } from "./command.ts";

/** Somebody ended the question with Ctrl-C, or with Ctrl-D before a letter. */
export class SecretCancelled extends Error {
  override name = "SecretCancelled";
  readonly code = "CANCELLED";
  constructor() {
    super("nothing was entered: nothing was done");
  }
}

/**
 * A secret from standard input: its first line, without its end. At a terminal it is asked for and never shown.
 * @param what as it is asked for, "PIN" for example
 * @throws SecretCancelled
 */
export async function readSecret(
  { stdin, stderr }: Pick<CommandContext, "stdin" | "stderr">,
  what: string,
): Promise<string> {
  return isTerminal(stdin) ? await ask(stdin, stderr, what) : await readLine(stdin);
}

/** Whether a person types there. */
export const isTerminal = (stdin: CommandContext["stdin"]): stdin is ReadStream & CommandContext["stdin"] =>
  stdin instanceof ReadStream && stdin.isTTY;

/** Keys that mean something in raw mode, where the terminal does nothing by itself. */
const keys = {
  interrupt: "\u0003",
  end: "\u0004",
  backspaces: ["\b", "\u007f"],
  killLine: "\u0015",
  enters: ["\r", "\n"],
};

function ask(terminal: ReadStream, stderr: (text: string) => void, what: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const decoder = new StringDecoder("utf8");
    let typed: string[] = [];
    const leave = (settle: () => void) => {
      terminal.off("data", onData);
      terminal.off("end", onEnd);
      terminal.off("error", onError);
      process.off("exit", restore);
      restore();
      terminal.pause();
      stderr("\n");
      settle();
    };
    const restore = () => void terminal.setRawMode(false);
    const cancel = () => leave(() => reject(new SecretCancelled()));
    const onEnd = cancel;
    const onError = (error: Error) => leave(() => reject(error));
    const onData = (data: Buffer | string) => {
      for (const char of decoder.write(Buffer.from(data))) {
        if (char === keys.interrupt) return cancel();
        if (keys.enters.includes(char)) return leave(() => resolve(typed.join("")));
        if (char === keys.end) return typed.length === 0 ? cancel() : leave(() => resolve(typed.join("")));
        if (char === keys.killLine) typed = [];
        else if (keys.backspaces.includes(char)) typed.pop();
        else typed.push(char);
      }
    };
    // Signals and defects end the process by its exit, too: no shell is left without an echo.
    process.once("exit", restore);
    terminal.on("data", onData);
    terminal.once("end", onEnd);
    terminal.once("error", onError);
    terminal.setRawMode(true);
    // After the echo is off: what is typed at once at the sight of it must not be shown.
    stderr(`${what} (not shown): `);
    terminal.resume();
  });
}
