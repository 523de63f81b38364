import { readFileSync } from "node:fs";
import { NoAnswer, type Send } from "../features/mcp/api.ts";
import { type Command, type CommandContext, optional, UsageError } from "./command.ts";
import { entryOf } from "./list.ts";

/** Runs where an assistant runs, which may be another machine: it needs the address of a server and an API key, no data folder. */
export const mcp: Command = {
  ...entryOf("mcp"),
  usage: [
    "signet mcp [--url https://…] [--key-file FILE]",
    "The address and the key may stand in SIGNET_URL and SIGNET_API_KEY instead.",
    "An assistant starts it and speaks MCP with it on standard input and output: see docs/mcp.md.",
  ],
  async run(context) {
    const send = sender(addressOf(context), keyOf(context));
    const { serveOverPipe } = await import("../features/mcp/stdio.ts");
    const ended = new AbortController();
    context.onSignal(() => ended.abort());
    context.onReaderGone?.(() => ended.abort());
    await serveOverPipe(send, {
      input: context.stdin,
      output: context.stdout,
      report: (error) => context.stderr(`signet mcp: ${error.message}\n`),
      signal: ended.signal,
    });
    return 0;
  },
};

/** @returns without a trailing slash. @throws UsageError */
function addressOf(context: CommandContext): string {
  const given = optional(context, "url") ?? context.env.SIGNET_URL ?? context.config.baseUrl;
  const url = URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "")
    throw new UsageError(
      `${given} is not the address of a server: give it with --url or SIGNET_URL, as https://sign.example.com`,
    );
  const address = url.href.replace(/\/+$/, "");
  const own = /\/(v1|mcp)$/.exec(address)?.[0];
  if (own !== undefined)
    throw new UsageError(`SIGNET_URL is the address without ${own}: ${address.slice(0, -own.length)}`);
  return address;
}

/** The key stands in the environment or in a file: the arguments of a program are seen by everybody on its machine. */
function keyOf(context: CommandContext): string {
  const file = optional(context, "key-file");
  const key = (file === undefined ? (context.env.SIGNET_API_KEY ?? "") : readFileSync(file, "utf8")).trim();
  if (!/^svc_(live|test)_\w+$/.test(key))
    throw new UsageError("an API key is needed: set SIGNET_API_KEY, or name a file that holds one with --key-file");
  return key;
}

function sender(url: string, key: string): Send {
  return async (path, { headers, ...rest }) => {
    try {
      // A key must not follow to wherever a redirect points.
      return await fetch(`${url}${path}`, {
        method: rest.method,
        headers: { ...headers, authorization: `Bearer ${key}`, "user-agent": "signet-mcp" },
        redirect: "error",
        signal: rest.signal,
        ...(rest.body === undefined ? {} : { body: rest.body }),
      });
    } catch (cause) {
      if (rest.signal.aborted) throw cause;
      const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause : null;
      const why = reason === null ? String(cause) : `${reason.message}${adviceOn(reason)}`;
      throw new NoAnswer(`Signet cannot be reached at ${url}: ${why}`, { cause });
    }
  };
}

/** Node itself advises only what an administrator of the machine can do. */
function adviceOn(reason: Error): string {
  const code = "code" in reason ? String(reason.code) : "";
  const isUnknownAuthority = /^(SELF_SIGNED|DEPTH_ZERO|UNABLE_TO)/.test(code);
  return isUnknownAuthority ? ", or name the PEM file of its authority in NODE_EXTRA_CA_CERTS" : "";
}
