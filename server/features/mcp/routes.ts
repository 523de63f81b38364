import { z } from "zod";
import { type Binding, bind } from "../../kernel/binding.ts";
import { AppError } from "../../kernel/errors.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import type { Loopback } from "../../loopback.ts";
import type { Send } from "./api.ts";
import { jsonType, mcp } from "./contract.ts";

/** Messages whose answer may hold a document, which is whole in memory several times over for a moment. */
const Heavy = z.union([
  z.object({ method: z.literal("resources/read") }),
  z.object({
    method: z.literal("tools/call"),
    params: z.object({ name: z.enum(["download_document", "verify_document"]) }),
  }),
]);
const mostDocuments = 4;

export const bindings = (loopback: Pick<Loopback, "fetch">): Binding[] => {
  let documents = 0;
  /** @throws AppError `rate-limited` */
  async function inTurn<T>(message: unknown, work: () => Promise<T>): Promise<T> {
    if (!Heavy.safeParse(message).success) return await work();
    if (documents >= mostDocuments) {
      const detail = `At most ${mostDocuments} documents are fetched for assistants at a time: try again in a moment.`;
      throw new AppError("rate-limited", { detail, retryAfter: 2 });
    }
    documents += 1;
    try {
      return await work();
    } finally {
      documents -= 1;
    }
  }
  return [
    bind(mcp)({
      async handle(_deps, { caller, body, request }) {
        // A page of ours has a cookie, and no business here.
        if (caller.kind !== "api_key") throw new AppError("unauthorized");
        // The SDK is loaded when somebody first calls.
        const { answerMessage } = await import("./server.ts");
        const { header, signal } = request;
        const { answer, bytes } = await inTurn(body, async () => {
          const made = await answerMessage(asHolder(loopback, request), { header, message: body, signal });
          return { answer: made, bytes: Buffer.from(await made.arrayBuffer()) };
        });
        if (bytes.length === 0) return { status: 202 };
        const { status } = answer;
        const refused = status === 400 || status === 404 || status === 406;
        return { status: refused ? status : 200, bytes, contentType: jsonType };
      },
    }),
  ];
};

/** Calls the API with the key that came with the request, for the same client and under the same request id. */
function asHolder(loopback: Pick<Loopback, "fetch">, { header, ip, userAgent, requestId }: RequestInfo): Send {
  const own: Record<string, string> = { "x-request-id": requestId };
  for (const name of ["authorization", "x-api-key"]) {
    const value = header(name);
    if (value !== null) own[name] = value;
  }
  if (userAgent !== null) own["user-agent"] = userAgent;
  return (path, { method, headers, body, signal }) =>
    loopback.fetch({ method, path, headers: { ...headers, ...own }, body, ip, signal });
}
