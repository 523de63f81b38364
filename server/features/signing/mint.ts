import type { OrganizationCaller } from "../../kernel/caller.ts";
import { toTs } from "../../kernel/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, invalid, notFound } from "../../kernel/errors.ts";
import { hashSecret, newId, newSecret } from "../../kernel/ids.ts";
import type { ProblemError } from "../../kernel/problem.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { appendAudit, loadEnvelope, type OwnedEnvelope } from "../envelopes/service.ts";
import type { CreateSigningSession, SigningSessionCreated } from "./contract.ts";
import { standingOf } from "./signer.ts";
import { actionRefusal } from "./state.ts";
import * as store from "./store.ts";

/**
 * Mints a single-use session for a recipient whose turn it is.
 * @throws AppError `validation-failed`, `not-recipients-turn`, `recipient-finished`, `envelope-not-in-progress`
 */
export async function mintSession(
  deps: Deps,
  caller: OrganizationCaller,
  owned: OwnedEnvelope,
  input: CreateSigningSession,
  request: RequestInfo,
): Promise<SigningSessionCreated> {
  const testMode = owned.envelope.test_mode === 1;
  const errors = [...checkOrigin(input.embedOrigin, testMode), ...checkRedirect(input.redirectUrl, testMode)];
  if (!signerOf(owned, input.recipient)) {
    const detail = "This is not a recipient who signs this envelope.";
    throw invalid([{ pointer: "#/recipient", code: "reference", detail }, ...errors]);
  }
  if (errors.length > 0) throw invalid(errors);
  const token = newSecret("svcs");
  const id = newId("ses");
  return await deps.db.tx(async (tx) => {
    const now = deps.clock.now();
    // As it is now: the turn may have ended since the caller looked.
    const record = await loadEnvelope(tx, owned.envelope.id);
    const recipient = record && signerOf(record, input.recipient);
    if (!record || !recipient) throw notFound("The recipient");
    const { envelope } = record;
    const refusal = actionRefusal(standingOf(envelope, recipient, false), toTs(now));
    if (refusal !== undefined) throw new AppError(refusal);
    const created: SigningSessionCreated = {
      id,
      envelope: envelope.id,
      recipient: recipient.id,
      token,
      url: `${deps.config.appUrl}/sign/${id}#${token}`,
      embedOrigin: input.embedOrigin === undefined ? null : new URL(input.embedOrigin).origin,
      redirectUrl: input.redirectUrl ?? recipient.redirect_url,
      expiresAt: toTs(now + input.expiresInSeconds * 1000),
    };
    await store.insertSession(tx, {
      id,
      organization: envelope.organization,
      test_mode: envelope.test_mode,
      envelope: envelope.id,
      recipient: recipient.id,
      source: "minted",
      verification: recipient.verification,
      embed_origin: created.embedOrigin,
      redirect_url: created.redirectUrl,
      created_at: toTs(now),
      opened_at: null,
      access_sha256: null,
      access_expires_at: null,
      access_ends_at: null,
      verified_at: null,
      ended_at: null,
    });
    await store.insertToken(tx, {
      sha256: hashSecret(token),
      kind: "session",
      envelope: envelope.id,
      recipient: recipient.id,
      session: id,
      reason: "minted",
      created_at: toTs(now),
      expires_at: created.expiresAt,
      used_at: null,
      revoked_at: null,
      bearer_session: null,
    });
    await appendAudit(tx, deps, envelope.id, [
      {
        type: "recipient.session_created",
        actor: caller.actor,
        ip: request.ip,
        userAgent: request.userAgent,
        data: { recipient: recipient.id, session: id, embedOrigin: created.embedOrigin },
      },
    ]);
    await request.remember?.(tx, { status: 201, body: created });
    return created;
  });
}

function signerOf({ recipients }: Pick<OwnedEnvelope, "recipients">, id: string) {
  return recipients.find((one) => one.id === id && one.kind === "signer");
}

/** A name or an address. The URL standard would let `*`, `;` and `,` through, which mean something in a policy header. */
const plainHost = /^(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])$/;

/** https, or http on this very machine while testing; no user name or password. */
function allowed(url: URL, testMode: boolean): boolean {
  if (url.username !== "" || url.password !== "" || !plainHost.test(url.hostname)) return false;
  return url.protocol === "https:" || (testMode && url.protocol === "http:" && url.hostname === "localhost");
}

function checkOrigin(text: string | undefined, testMode: boolean): ProblemError[] {
  if (text === undefined) return [];
  const url = new URL(text);
  const bare = url.pathname === "/" && url.search === "" && url.hash === "" && !/[?#]$/.test(text);
  if (bare && allowed(url, testMode)) return [];
  const detail = "Use an https origin, for example https://app.example.com; http://localhost is for test mode only.";
  return [{ pointer: "#/embedOrigin", code: "format", detail }];
}

function checkRedirect(text: string | undefined, testMode: boolean): ProblemError[] {
  if (text === undefined || allowed(new URL(text), testMode)) return [];
  const detail = "Use an https URL without user name and password; http://localhost is for test mode only.";
  return [{ pointer: "#/redirectUrl", code: "format", detail }];
}
