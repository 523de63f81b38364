import type { ViewerCaller } from "../../kernel/caller.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { hashSecret } from "../../kernel/ids.ts";
import { limitFailures, requireLeft } from "../../kernel/rate-limits.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { documentOf, markSeen, viewerOf, type Watched } from "../envelopes/service.ts";
import { organizationById } from "../identity/service.ts";
import type { ViewerEnvelope, ViewerExchange } from "./contract.ts";
import { presentViewerEnvelope, versionOf } from "./present.ts";
import { mintAccess, openLink, readToken } from "./tokens.ts";

/** Only failures count against an address, so that an office behind one address is not locked out (contract §13). */
const failedPerAddress = { name: "viewer-exchange-failed", points: 30, seconds: 60 };
const exchangesPerToken = { name: "viewer-exchange-token", points: 30, seconds: 60 };

/**
 * Lets the holder of a viewer's link in.
 * @throws AppError `token-invalid`, `link-expired`, `rate-limited`
 */
export async function exchangeToken(
  deps: Deps,
  text: string,
  { ip }: RequestInfo,
): Promise<{ result: ViewerExchange; headers: Record<string, string> }> {
  const failed = { limits: deps.limits, rule: failedPerAddress, ip };
  return await limitFailures(
    failed,
    ({ code }) => code !== "rate-limited",
    () => open(deps, text),
  );
}

async function open(deps: Deps, text: string): Promise<ViewerExchange> {
  const token = readToken(text, "svcv");
  if (token === undefined) throw new AppError("token-invalid");
  const sha256 = hashSecret(token);
  requireLeft(await deps.limits.take(exchangesPerToken, sha256));
  return await deps.db.tx(async (tx) => {
    const { viewer, envelope } = await openLink(tx, deps, sha256);
    return { ...(await mintAccess(tx, deps, viewer.id)), viewer: viewer.id, envelope: envelope.id };
  });
}

/** How the signing goes, for a viewer; the first look is audited. @throws AppError `token-invalid` */
export async function viewerEnvelope(
  deps: Deps,
  caller: ViewerCaller,
  visitor: Pick<RequestInfo, "ip" | "userAgent">,
): Promise<ViewerEnvelope> {
  const watched = await load(deps, caller);
  if (!(await markSeen(deps, watched.viewer, visitor))) throw new AppError("token-invalid");
  const { name } = await organizationById(deps.db.read, caller.organization);
  return presentViewerEnvelope(watched, { organization: name, logoUrl: null });
}

/**
 * The document as the viewer may have it.
 * @throws AppError `document-access-denied`, `document-not-ready`, `token-invalid`
 */
export async function viewerDocument(deps: Deps, caller: ViewerCaller) {
  const watched = await load(deps, caller);
  if (watched.envelope.viewer_document_access !== 1) throw new AppError("document-access-denied");
  return await documentOf(deps, watched, versionOf(watched.envelope) ?? "original");
}

async function load(deps: Deps, { viewer }: ViewerCaller): Promise<Watched> {
  const watched = await viewerOf(deps.db.read, viewer);
  if (!watched || watched.viewer.revoked_at !== null) throw new AppError("token-invalid");
  return watched;
}
