import { createHash } from "node:crypto";
import type { SignerCaller } from "../../kernel/caller.ts";
import { canonicalize } from "../../kernel/canonical.ts";
import type { Reader, Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, invalid } from "../../kernel/errors.ts";
import type { ProblemError } from "../../kernel/problem.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { completeRecipient, fieldsOf, versionOf } from "../envelopes/service.ts";
import { type AcceptedConsent, acceptedText, builtInConsent, consentFor } from "./consent.ts";
import type { SigningResult, SubmitSigning } from "./contract.ts";
import { prefilledOf, valuesOfOthers } from "./fields.ts";
import { checkPicture } from "./pictures.ts";
import { signatureHash } from "./signatures.ts";
import {
  loadSigner,
  localeOf,
  recipientActor,
  redirectOf,
  requireTurn,
  requireVerified,
  type Signer,
} from "./signer.ts";
import * as store from "./store.ts";
import { readSubmission, type Submission } from "./submission.ts";
import { checkFit } from "./text-fit.ts";

/**
 * Takes a signature: consent, values and the recipient's completion in one transaction, or nothing of it.
 * @throws AppError `otp-required`, `document-changed`, `validation-failed`, and what `requireTurn` throws
 */
export async function submit(
  deps: Deps,
  caller: SignerCaller,
  input: SubmitSigning,
  request: RequestInfo,
): Promise<SigningResult> {
  const { submission, consent } = await check(
    deps,
    await allowed(deps, deps.db.read, caller, input),
    input,
    request.signal,
  );
  // Before the row that names it: a blob that nothing names does no harm.
  for (const { image } of [submission.signature, submission.initials].filter((one) => one !== null)) {
    if (image !== null) await deps.blobs.put(image);
  }
  return await deps.db.tx(async (tx) => {
    // Looked at again in here: of many at once only one finds the recipient unfinished, and none whose session has ended.
    const signer = await allowed(deps, tx, caller, input);
    const status = await complete(tx, deps, signer, { input, submission, consent, request });
    return {
      status: "completed",
      envelope: { id: caller.envelope, status },
      at: deps.clock.ts(),
      redirectUrl: redirectOf(signer, "signed"),
    };
  });
}

/** @throws AppError `token-invalid`, `otp-required`, `document-changed`, and what `requireTurn` throws */
async function allowed(deps: Deps, reader: Reader, caller: SignerCaller, input: SubmitSigning): Promise<Signer> {
  const signer = await loadSigner(reader, caller, deps.clock.ts());
  requireVerified(signer);
  requireTurn(signer, deps.clock.ts());
  if (!(await store.wasServed(reader, caller.recipient, input.documentSha256))) {
    throw new AppError("document-changed");
  }
  return signer;
}

async function check(
  deps: Deps,
  { record, recipient }: Signer,
  input: SubmitSigning,
  whileWaiting: AbortSignal,
): Promise<{ submission: Submission; consent: Agreed }> {
  const version = await versionOf(deps, deps.db.read, record.envelope);
  const fields = await fieldsOf(deps.db.read, record.envelope, version);
  const consent = acceptedText(consentFor(version.settings, localeOf(record.envelope, recipient)), input.consent);
  const errors: ProblemError[] = [];
  if (consent === undefined) {
    const detail = "This is not a statement that was offered. Load the session again.";
    errors.push({ pointer: "#/consent/version", code: "reference", detail });
  }
  const read = await readSubmission(
    {
      fields,
      recipient,
      prefilled: prefilledOf(record.envelope, recipient.role),
      attachments: await store.listAttachments(deps.db.read, recipient.id),
      methods: version.settings.signatureMethods,
      readPicture: (picture, limit) => checkPicture(deps, picture, limit, whileWaiting),
    },
    input,
  );
  if ("errors" in read) throw invalid([...read.errors, ...errors]);
  const own = fields.filter(({ role }) => role === recipient.role);
  const values = read.submission.valuesAt(deps.clock.ts(), {});
  errors.push(...(await checkFit(deps, own, values, record.envelope.locale)));
  if (consent === undefined || errors.length > 0) throw invalid(errors);
  return { submission: read.submission, consent };
}

/** What was accepted, and its text. */
type Agreed = AcceptedConsent & { text: string };
type Accepted = {
  input: SubmitSigning;
  submission: Submission;
  consent: Agreed;
  request: RequestInfo;
};

async function complete(
  tx: Tx,
  deps: Deps,
  { record, recipient, session }: Signer,
  { input, submission, consent: { text, ...consent }, request }: Accepted,
) {
  const { ip, userAgent } = request;
  const signedAt = deps.clock.ts();
  // Of the record that was read in here: who signs at the same time is in it, or comes after this signature.
  const values = submission.valuesAt(signedAt, valuesOfOthers(record.recipients, recipient.id));
  const at = { envelope: record.envelope.id, recipient: recipient.id };
  const { documentSha256 } = input;
  if (
    (await store.markSubmitted(tx, recipient.id, submission.attachments, signedAt)) !== submission.attachments.length
  ) {
    throw new AppError("conflict", { detail: "An uploaded file is gone. Upload it again." });
  }
  if (builtInConsent(consent.textSha256) === undefined)
    await store.keepConsentText(tx, { sha256: consent.textSha256, text });
  const signature = submission.signature?.stored ?? null;
  const initials = submission.initials?.stored ?? null;
  const { status, submission: number } = await completeRecipient(tx, deps, record, {
    recipient: recipient.id,
    values,
    consent: {
      type: "recipient.consented",
      actor: recipientActor(recipient),
      ip,
      userAgent,
      data: { recipient: recipient.id, ...consent, documentSha256 },
    },
    auditData: {
      fieldsSha256: createHash("sha256").update(canonicalize(values)).digest("hex"),
      signatureSha256: signatureHash(signature),
      documentSha256,
    },
    ip,
    userAgent,
  });
  await store.insertSubmission(tx, {
    ...at,
    number,
    session: session.id,
    at: signedAt,
    ip,
    user_agent: userAgent,
    locale: localeOf(record.envelope, recipient),
    time_zone: submission.timeZone,
    document_sha256: documentSha256,
    consent: JSON.stringify(consent),
    values: JSON.stringify(values),
    signature: signature === null ? null : JSON.stringify(signature),
    initials: initials === null ? null : JSON.stringify(initials),
  });
  return status;
}
