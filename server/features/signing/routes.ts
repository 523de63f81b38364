import { type Binding, bind } from "../../kernel/binding.ts";
import { notFound } from "../../kernel/errors.ts";
import { pdf } from "../../kernel/wire.ts";
import { resendToRecipient } from "../envelopes/contract.ts";
import { ownedEnvelope } from "../envelopes/service.ts";
import { addAttachment, submittedAttachment } from "./attachments.ts";
import * as contract from "./contract.ts";
import { decline } from "./decline.ts";
import { exchangeToken, requestFreshLink } from "./exchange.ts";
import { handOverCode } from "./hand-over.ts";
import { mintSession } from "./mint.ts";
import { sendCode, verifyCode } from "./otp.ts";
import { reassign } from "./reassign.ts";
import { resend } from "./resend.ts";
import * as saved from "./saved-signature.ts";
import * as savedContract from "./saved-signature-contract.ts";
import { signingDocument, signingView } from "./session.ts";
import { submit } from "./submit.ts";
import { fitTexts } from "./text-fit.ts";

export const bindings: Binding[] = [
  bind(savedContract.getSavedSignature)({
    handle: async (deps, { caller }) => ({ status: 200, body: await saved.savedSignature(deps, caller.user) }),
  }),
  bind(savedContract.saveSignature)({
    handle: async (deps, { caller, body, request }) => ({
      status: 200,
      body: await saved.saveSignature(deps, caller.user, body, request),
    }),
  }),
  bind(savedContract.deleteSavedSignature)({
    async handle(deps, { caller }) {
      await saved.deleteSavedSignature(deps, caller.user);
      return { status: 204 };
    },
  }),
  bind(contract.createSigningSession)({
    load: (deps, { caller, params }) => ownedEnvelope(deps, params.id, caller),
    handle: async (deps, { caller, body, request }, record) => ({
      status: 201,
      body: await mintSession(deps, caller, record, body, request),
    }),
  }),
  // An operation of the envelope, done here: the links that it ends are kept here.
  bind(resendToRecipient)({
    async load(deps, { caller, params }) {
      const record = await ownedEnvelope(deps, params.id, caller);
      if (!record.recipients.some(({ id }) => id === params.recipient)) throw notFound("The recipient");
      return record;
    },
    async handle(deps, { caller: { actor }, params, request }, { envelope }) {
      const { ip, userAgent, remember } = request;
      const by = { actor, ip, userAgent };
      return { status: 200, body: await resend(deps, envelope.id, params.recipient, by, remember) };
    },
  }),
  bind(contract.getAttachment)({
    load: async (deps, { caller, params }) =>
      await submittedAttachment(deps, await ownedEnvelope(deps, params.id, caller), params.attachment),
    handle: async (_deps, _call, { row, bytes }) => ({
      status: 200,
      bytes,
      contentType: row.content_type,
      etag: row.sha256,
      disposition: "attachment",
      filename: row.filename,
    }),
  }),
  bind(contract.exchangeSigningToken)({
    handle: async (deps, { body, request }) => {
      const { result, headers } = await exchangeToken(deps, body.token, request);
      return { status: 200, body: result, headers };
    },
  }),
  bind(contract.requestFreshLink)({
    handle: async (deps, { body }) => {
      await requestFreshLink(deps, body.token);
      return { status: 202 };
    },
  }),
  bind(contract.getSigningSession)({
    handle: async (deps, { caller, request }) => ({ status: 200, body: await signingView(deps, caller, request) }),
  }),
  bind(contract.getSigningDocument)({
    handle: async (deps, { caller }) => {
      const { bytes, sha256, filename } = await signingDocument(deps, caller);
      return { status: 200, bytes, contentType: pdf, etag: sha256, disposition: "inline", filename };
    },
  }),
  bind(contract.requestSigningCode)({
    handle: async (deps, { caller, body, request }) => ({
      status: 202,
      body: await sendCode(deps, caller, body?.channel, request),
    }),
  }),
  bind(contract.verifySigningCode)({
    handle: async (deps, { caller, body, request }) => ({
      status: 200,
      body: await verifyCode(deps, caller, body.code, request),
    }),
  }),
  bind(contract.handOverSigningCode)({
    load: (deps, { caller, params }) => ownedEnvelope(deps, params.id, caller),
    handle: async (deps, { caller, params, request }, record) => ({
      status: 201,
      body: await handOverCode(deps, caller, record, params.recipient, request),
    }),
  }),
  bind(contract.uploadAttachment)({
    handle: async (deps, { caller, body, request }) => ({
      status: 201,
      body: await addAttachment(deps, caller, body, request),
    }),
  }),
  bind(contract.fitSigningTexts)({
    handle: async (deps, { caller, body, request }) => ({
      status: 200,
      body: await fitTexts(deps, caller, body, request),
    }),
  }),
  bind(contract.submitSigning)({
    handle: async (deps, { caller, body, request }) => ({
      status: 200,
      body: await submit(deps, caller, body, request),
    }),
  }),
  bind(contract.declineSigning)({
    handle: async (deps, { caller, body, request }) => ({
      status: 200,
      body: await decline(deps, caller, body.reason, request),
    }),
  }),
  bind(contract.reassignSigning)({
    handle: async (deps, { caller, body, request }) => {
      await reassign(deps, caller, body, request);
      return { status: 200, body: { status: "reassigned" } };
    },
  }),
];
