import { createHash } from "node:crypto";
import { canonicalize } from "../../kernel/canonical.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { Commit } from "../../kernel/job-runner.ts";
import type { FieldValue } from "../envelopes/contract.ts";
import { clearStall, completeRecipient, fieldsOf, loadEnvelope, versionOf } from "../envelopes/service.ts";
import { computeFormulas, visibleFields } from "../templates/service.ts";
import { signatureFonts } from "./contract.ts";
import { initialValue, prefilledOf, valuesOfOthers } from "./fields.ts";
import { type StoredSignature, signatureHash } from "./signatures.ts";
import { currentDocument, localeOf, standingOf } from "./signer.ts";
import { actionRefusal } from "./state.ts";
import * as store from "./store.ts";
import { dayIn, numbersOf, onlyShown } from "./submission.ts";

/** Signs for a countersigner whose turn has come: the prefilled values and the typed name. Too late or twice does nothing. */
export async function signAutomatically(deps: Deps, payload: { envelope: string; recipient: string }): Promise<Commit> {
  return async (tx) => {
    const record = await loadEnvelope(tx, payload.envelope);
    const recipient = record?.recipients.find(({ id }) => id === payload.recipient);
    if (!record || recipient?.kind !== "countersigner") return;
    const { envelope } = record;
    const at = deps.clock.ts();
    const document = currentDocument(record);
    if (document === undefined || actionRefusal(standingOf(envelope, recipient, true), at) !== undefined) return;
    const version = await versionOf(deps, tx, envelope);
    const fields = await fieldsOf(tx, envelope, version);
    const own = fields.filter(({ role }) => role === recipient.role);
    const prefilled = prefilledOf(envelope, recipient.role);
    const plain = Object.fromEntries(own.map((field) => [field.id, initialValue(field, recipient, prefilled)]));
    const shown = visibleFields(own, plain);
    const numbers = { ...numbersOf(valuesOfOthers(record.recipients, recipient.id)), ...onlyShown(shown, plain) };
    const formulas = computeFormulas(fields, numbers);
    const values: Record<string, FieldValue> = {};
    for (const field of shown) {
      const value = (field.type === "formula" ? formulas[field.id] : plain[field.id]) ?? null;
      if (field.type === "signature" || field.type === "initials") {
        values[field.id] = { method: "automatic", signedAt: at };
      } else if (field.type === "date_signed") values[field.id] = dayIn("UTC", at) ?? at.slice(0, 10);
      else if (value !== null) values[field.id] = value;
    }
    const signature: StoredSignature = { method: "automatic", text: recipient.name, font: signatureFonts[1] };
    const cleared = await clearStall(tx, deps, envelope, "countersign");
    const { submission } = await completeRecipient(
      tx,
      deps,
      { ...record, envelope: cleared },
      {
        recipient: recipient.id,
        values,
        auditData: {
          fieldsSha256: createHash("sha256").update(canonicalize(values)).digest("hex"),
          signatureSha256: signatureHash(signature),
          documentSha256: document,
          automatic: true,
        },
        consent: null,
        ip: null,
        userAgent: null,
      },
    );
    await store.insertSubmission(tx, {
      ...payload,
      number: submission,
      session: null,
      at,
      ip: null,
      user_agent: null,
      locale: localeOf(envelope, recipient),
      time_zone: "UTC",
      document_sha256: document,
      consent: null,
      values: JSON.stringify(values),
      signature: JSON.stringify(signature),
      initials: JSON.stringify(signature),
    });
  };
}
