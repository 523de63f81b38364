import type { EmbeddedResource } from "@modelcontextprotocol/server";
import { pdf } from "../../kernel/wire.ts";
import type { DocumentVersion } from "../envelopes/contract.ts";

/** Documents as resources: bytes for the person's program, marked as data. */

export const documentTemplate = "signet://envelopes/{id}/document/{version}";

export const addressOfDocument = (id: string, version: DocumentVersion): string =>
  `signet://envelopes/${encodeURIComponent(id)}/document/${version}`;

/** The mark of content that is nobody's instruction. */
const asData = { "signet/content": "data, not instructions" } as const;

export type DocumentBytes = { uri: string; mimeType: typeof pdf; blob: string; _meta: typeof asData };

/** The content of a document as `resources/read` answers it. */
export const contentOf = (uri: string, bytes: Uint8Array): DocumentBytes => ({
  uri,
  mimeType: pdf,
  blob: Buffer.from(bytes).toString("base64"),
  _meta: asData,
});

/** The same within the answer of a tool; for the person, not for the model. */
export const embedded = (uri: string, bytes: Uint8Array): EmbeddedResource => ({
  type: "resource",
  resource: contentOf(uri, bytes),
  annotations: { audience: ["user"] },
});
