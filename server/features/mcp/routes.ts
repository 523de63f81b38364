import { type Binding, bind } from "../../kernel/binding.ts";
import { AppError } from "../../kernel/errors.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import type { Loopback } from "../../loopback.ts";
import type { Send } from "./api.ts";
import { jsonType, mcp } from "./contract.ts";

export const bindings = (loopback: Pick<Loopback, "fetch">): Binding[] => [
  bind(mcp)({
    async handle(_deps, { caller, body, request }) {
      // A page of ours has a cookie, and no business here.
      if (caller.kind !== "api_key") throw new AppError("unauthorized");
      // The SDK is loaded when somebody first calls.
      const { answerMessage } = await import("./server.ts");
      const { header, signal } = request;
      const answer = await answerMessage(asHolder(loopback, request), { header, message: body, signal });
      const bytes = Buffer.from(await answer.arrayBuffer());
      if (bytes.length === 0) return { status: 202 };
      const { status } = answer;
      const refused = status === 400 || status === 404 || status === 406;
      return { status: refused ? status : 200, bytes, contentType: jsonType };
    },
  }),
];

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
