import type { SignerCaller } from "../../kernel/caller.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { ownMember } from "../../kernel/record.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { maskEmail } from "../../kernel/wire.ts";
import {
  actorOf,
  fieldsOf,
  filenameOf,
  markViewed,
  requireDocuments,
  type StoredDocument,
  versionOf,
} from "../envelopes/service.ts";
import { organizationById } from "../identity/service.ts";
import type { PlacedField } from "../templates/contract.ts";
import { consentFor } from "./consent.ts";
import { type SigningField, type SigningView, signatureFonts } from "./contract.ts";
import { finishedValues, initialValue, isReadOnly, prefilledOf, presentField } from "./fields.ts";
import { lastSent } from "./otp.ts";
import { otpStateOf, presentAttachment } from "./present.ts";
import { currentDocument, loadSigner, localeOf, requireVerified, type Signer } from "./signer.ts";
import { needsCode, signingState } from "./state.ts";
import * as store from "./store.ts";

/** Loads the signing page; the first successful load by a recipient whose turn it is counts as viewed. */
export async function signingView(deps: Deps, caller: SignerCaller, request: RequestInfo): Promise<SigningView> {
  const signer = await loadSigner(deps.db.read, caller, deps.clock.ts());
  if (signer.standing.recipient !== "sent") return await present(deps, signer);
  const { ip, userAgent } = request;
  await deps.db.tx(async (tx) => {
    // Passed on since, it would be the new person who is said to have looked, from the old one's address.
    const { record } = await loadSigner(tx, caller, deps.clock.ts());
    await markViewed(tx, deps, record, { recipient: caller.recipient, ip, userAgent });
  });
  return await present(deps, await loadSigner(deps.db.read, caller, deps.clock.ts()));
}

async function present(deps: Deps, signer: Signer): Promise<SigningView> {
  const { record, recipient, session, standing } = signer;
  const { envelope } = record;
  const state = signingState(standing, deps.clock.ts());
  const version = await versionOf(deps, deps.db.read, envelope);
  const organization = await organizationById(deps.db.read, envelope.organization);
  const creator = actorOf(envelope);
  const open = state === "ready" || state === "completed";
  const document = open ? currentDocument(record) : undefined;
  const attachments = open ? await store.listAttachments(deps.db.read, recipient.id) : [];
  if (session.access_expires_at === null) throw new AppError("token-invalid");
  return {
    state,
    envelope: {
      id: envelope.id,
      title: envelope.title,
      message: envelope.message,
      status: envelope.status,
      testMode: envelope.test_mode === 1,
      expiresAt: envelope.expires_at,
      sealed: envelope.seal === "sealed" && envelope.sealed_sha256 !== null,
    },
    sender: {
      organization: organization.name,
      name: creator.type === "user" ? creator.name : null,
      logoUrl: null,
    },
    recipient: {
      id: recipient.id,
      role: recipient.role,
      name: recipient.name,
      email: needsCode(standing) ? maskEmail(recipient.email) : recipient.email,
      status: recipient.status,
      kind: recipient.kind,
      locale: localeOf(envelope, recipient),
      order: recipient.turn,
    },
    parties: record.recipients.map(({ role, name, status, turn }) => ({ role, name, status, order: turn })),
    otp: otpStateOf(recipient, session, await lastSent(deps.db.read, session, deps.clock.now())),
    document:
      document === undefined
        ? null
        : { url: "/v1/signing/document", sha256: document, pageCount: version.pageCount, pages: version.pages },
    fields: open ? presentFields(signer, await fieldsOf(deps.db.read, envelope, version), state === "ready") : [],
    signature: { methods: version.settings.signatureMethods, fonts: [...signatureFonts] },
    attachments: attachments.map(presentAttachment),
    consent: consentFor(version.settings, localeOf(envelope, recipient)),
    allowDecline: version.settings.allowDecline,
    allowReassign: version.settings.allowReassign,
    redirectUrl: session.redirect_url ?? recipient.redirect_url,
    accessTokenExpiresAt: session.access_expires_at,
  };
}

/** The fields of this recipient, and what others who finished have filled in. */
function presentFields(
  { record, recipient }: Signer,
  fields: readonly PlacedField[],
  editing: boolean,
): SigningField[] {
  const prefilled = prefilledOf(record.envelope, recipient.role);
  const finished = new Map(record.recipients.map((one) => [one.role, finishedValues(one)]));
  return fields.flatMap((field): SigningField[] => {
    const values = finished.get(field.role);
    if (field.role === recipient.role && editing) {
      return [presentField(field, initialValue(field, recipient, prefilled), !isReadOnly(field))];
    }
    const value = values && ownMember(values, field.id);
    return value === undefined ? [] : [presentField(field, value, false)];
  });
}

/**
 * The document as it stands, and notes that this recipient was shown it.
 * @throws AppError `otp-required`, `envelope-not-in-progress`, `not-recipients-turn`, `document-not-ready`
 */
export async function signingDocument(deps: Deps, caller: SignerCaller): Promise<StoredDocument> {
  const signer = await loadSigner(deps.db.read, caller, deps.clock.ts());
  requireVerified(signer);
  const state = signingState(signer.standing, deps.clock.ts());
  if (state === "waiting") throw new AppError("not-recipients-turn");
  if (state !== "ready" && state !== "completed") throw new AppError("envelope-not-in-progress");
  requireDocuments(signer.record.envelope);
  const sha256 = currentDocument(signer.record);
  if (sha256 === undefined) throw new AppError("document-not-ready", { retryAfter: 5 });
  const bytes = await deps.blobs.open(sha256);
  if (!(await store.wasServed(deps.db.read, caller.recipient, sha256))) {
    await deps.db.tx(async (tx) => {
      // Passed on since, it would be the new person who is said to have been shown it.
      await loadSigner(tx, caller, deps.clock.ts());
      await store.insertServed(tx, caller.recipient, sha256, deps.clock.ts());
    });
  }
  return { bytes, sha256, filename: filenameOf(signer.record.envelope.title) };
}
