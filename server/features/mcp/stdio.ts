import { Readable, Writable } from "node:stream";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Send } from "./api.ts";
import { mcpServer } from "./server.ts";

/**
 * Serves one client over a pipe until it hangs up or `signal` aborts.
 * @param output takes each message with its line end
 * @param report hears what went wrong with single messages
 */
export async function serveOverPipe(
  send: Send,
  {
    input,
    output,
    report,
    signal,
  }: {
    input: AsyncIterable<Uint8Array | string>;
    output: (text: string) => void;
    report: (error: Error) => void;
    signal: AbortSignal;
  },
): Promise<void> {
  // Wrapped, one that waits for a line could not be destroyed, and would keep the process alive.
  const stdin = input instanceof Readable ? input : Readable.from(input, { objectMode: false });
  const stdout = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      output(chunk.toString());
      done();
    },
  });
  const closed = new Promise<void>((resolve) => stdin.once("close", resolve));
  const handle = serveStdio(() => mcpServer(send), {
    transport: new StdioServerTransport(stdin, stdout),
    maxSubscriptions: 0,
    onerror: report,
  });
  signal.addEventListener("abort", () => stdin.destroy(), { once: true });
  await closed;
  await handle.close();
}
