import type { Callers, Credential } from "./caller.ts";
import { AppError } from "./errors.ts";
import type { RequestInfo } from "./request.ts";
import { shownOrganizationHeader } from "./wire.ts";

/**
 * A page says which organization it shows. Its session, which it shares with every other tab, may work in another one by now:
 * then nothing that this page asks for may be done there.
 * @throws AppError `conflict`, with the organization of the session in the same header
 */
export function requireShownOrganization(request: Pick<RequestInfo, "header">, caller: Callers[Credential]): void {
  if (caller?.kind !== "user" && caller?.kind !== "person") return;
  const shown = request.header(shownOrganizationHeader);
  if (shown === null || shown === caller.organization) return;
  throw new AppError("conflict", {
    detail: "You work in another organization now, as you chose in another window. Nothing was done here.",
    headers: { [shownOrganizationHeader]: caller.organization ?? "none" },
  });
}
