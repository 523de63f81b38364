import type { LocalCaller } from "../../kernel/caller.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { operatorHeader } from "../../kernel/wire.ts";

/** The caller on the admin socket, by the name they give: anyone who can open the socket may do everything anyway. */
export function operatorOf(request: Pick<RequestInfo, "header">): LocalCaller {
  const said = request.header(operatorHeader);
  const name = said === null ? null : said.replaceAll(/[^\x20-\x7e]/g, "").slice(0, 100) || null;
  return { kind: "local", actor: { type: "operator", id: null, name, email: null } };
}
