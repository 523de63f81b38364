import type { EnvelopeRow, Watched } from "../envelopes/service.ts";
import type { ViewerEnvelope } from "./contract.ts";

/** What the viewer could have of the document, were it allowed. */
export function versionOf({
  seal,
  document_sha256: original,
  documents_deleted_at: deletedAt,
}: EnvelopeRow): ViewerEnvelope["document"]["version"] {
  if (deletedAt !== null) return null;
  if (seal === "sealed") return "sealed";
  return original === null ? null : "original";
}

export function presentViewerEnvelope(
  { envelope, recipients, viewer }: Watched,
  sender: ViewerEnvelope["sender"],
): ViewerEnvelope {
  const version = envelope.viewer_document_access === 1 ? versionOf(envelope) : null;
  return {
    envelope: {
      id: envelope.id,
      title: envelope.title,
      status: envelope.status,
      seal: envelope.seal,
      testMode: envelope.test_mode === 1,
      createdAt: envelope.created_at,
      sentAt: envelope.sent_at,
      completedAt: envelope.completed_at,
      expiresAt: envelope.expires_at,
    },
    sender,
    viewer: { id: viewer.id, name: viewer.name, email: viewer.email, locale: viewer.locale ?? envelope.locale },
    recipients: recipients.map(({ role, name, status, turn, completed_at: completedAt }) => ({
      role,
      name,
      status,
      order: turn,
      completedAt,
    })),
    document: { available: version !== null, version },
  };
}
