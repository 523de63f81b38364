import path from "node:path";
import { Client, type ContentBlock, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { z } from "zod";
import type { TestAppliance } from "./appliance.ts";

/** Clients of the official SDK, as assistants have them. */

export type Era = "legacy" | "auto";

export type Assistant = {
  client: Client;
  /** Calls a tool that must succeed. @returns its data */
  data<S extends z.ZodType>(schema: S, name: string, args: Record<string, unknown>): Promise<z.output<S>>;
  /** Calls a tool that the API must refuse. @returns what it says */
  refused(name: string, args: Record<string, unknown>): Promise<Refusal>;
  /** The content of the latest answer. */
  content(): readonly ContentBlock[];
  /** Everything that the client was sent by tools, as one text. */
  transcript(): string;
  close(): Promise<void>;
};

const Refusal = z.looseObject({
  code: z.string(),
  status: z.int().optional(),
  detail: z.string(),
  permission: z.string().optional(),
  errors: z.array(z.looseObject({ pointer: z.string().optional() })).optional(),
});
type Refusal = z.infer<typeof Refusal>;

/** @param era `legacy` begins with the handshake of the versions before 2026-07-28, `auto` speaks the newest one */
function newClient(era: Era): Client {
  return new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode: era } });
}

/** Connects to `/mcp` of the appliance with this key. */
export async function overHttp(app: TestAppliance, key: string, era: Era = "auto"): Promise<Assistant> {
  const client = newClient(era);
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", app.url), { requestInit }));
  return assistantOf(client);
}

/** Starts `signet mcp` as an assistant does, with these variables and arguments. */
export async function overStdio(
  env: Record<string, string>,
  args: string[] = [],
  era: Era = "auto",
): Promise<Assistant> {
  const client = newClient(era);
  const main = path.resolve("server/main.ts");
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [main, "mcp", ...args],
    env: { PATH: process.env.PATH ?? "", ...env },
    maxBufferSize: 32 * 1024 * 1024,
  });
  await client.connect(transport);
  return assistantOf(client);
}

function assistantOf(client: Client): Assistant {
  const said: string[] = [];
  let latest: readonly ContentBlock[] = [];
  async function call(name: string, args: Record<string, unknown>) {
    const result = await client.callTool({ name, arguments: args });
    said.push(JSON.stringify(result));
    latest = result.content;
    return result;
  }
  return {
    client,
    async data(schema, name, args) {
      const { isError, structuredContent } = await call(name, args);
      if (isError) throw new Error(`${name} failed: ${JSON.stringify(latest)}`);
      return schema.parse(structuredContent);
    },
    async refused(name, args) {
      const { isError, structuredContent } = await call(name, args);
      if (!isError) throw new Error(`${name} was not refused: ${JSON.stringify(structuredContent)}`);
      return Refusal.parse(structuredContent);
    },
    content: () => latest,
    transcript: () => said.join("\n"),
    close: () => client.close(),
  };
}
