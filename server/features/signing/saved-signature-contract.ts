import { endpoint } from "../../kernel/endpoint.ts";
import { SignatureInput } from "./contract.ts";

/** The signature that a member keeps for the documents they sign themselves; outside the published document (contract §15). */

const common = { tag: "Dashboard", credential: "person", path: "/auth/profile/signature", published: false } as const;
/** The largest picture as base64, and what stands around it. */
const maxBytes = 1024 * 1024;

export const getSavedSignature = endpoint({
  ...common,
  method: "GET",
  id: "getSavedSignature",
  summary: "The person's own saved signature",
  responses: { 200: { kind: "json", schema: SignatureInput } },
  errors: ["not-found"],
});

export const saveSignature = endpoint({
  ...common,
  method: "PUT",
  id: "saveSignature",
  summary: "Save a signature to sign with; replaces the one before",
  body: { kind: "json", schema: SignatureInput, maxBytes },
  responses: { 200: { kind: "json", schema: SignatureInput } },
});

export const deleteSavedSignature = endpoint({
  ...common,
  method: "DELETE",
  id: "deleteSavedSignature",
  summary: "Forget the saved signature",
  responses: { 204: { kind: "empty" } },
});

export const savedSignatureEndpoints = [getSavedSignature, saveSignature, deleteSavedSignature] as const;
