import { z } from "zod";
import { endpoint } from "../../kernel/endpoint.ts";
import { Locale, pdf, Ts } from "../../kernel/wire.ts";
import { EnvelopeStatus, RecipientStatus, SealStatus } from "../envelopes/contract.ts";
import { ExchangeToken } from "../signing/contract.ts";

/** What somebody sees who was let in to follow an envelope (contract §7). Isomorphic. */

export const ViewerExchange = z
  .object({ accessToken: z.string(), expiresAt: Ts, viewer: z.string(), envelope: z.string() })
  .meta({ id: "ViewerExchange" });
export type ViewerExchange = z.infer<typeof ViewerExchange>;

export const ViewerEnvelope = z
  .object({
    envelope: z.object({
      id: z.string(),
      title: z.string(),
      status: EnvelopeStatus,
      seal: SealStatus,
      testMode: z.boolean(),
      createdAt: Ts,
      sentAt: Ts.nullable(),
      completedAt: Ts.nullable(),
      expiresAt: Ts.nullable(),
    }),
    sender: z.object({ organization: z.string(), logoUrl: z.string().nullable() }),
    viewer: z.object({ id: z.string(), name: z.string().nullable(), email: z.string(), locale: Locale }),
    recipients: z.array(
      z.object({
        role: z.string(),
        name: z.string(),
        status: RecipientStatus,
        order: z.int(),
        completedAt: Ts.nullable(),
      }),
    ),
    document: z.object({
      available: z.boolean().meta({ description: "Whether this viewer can have it now" }),
      version: z.enum(["original", "sealed"]).nullable(),
    }),
  })
  .meta({ id: "ViewerEnvelope" });
export type ViewerEnvelope = z.infer<typeof ViewerEnvelope>;

export const ViewerUpdate = z.object({ at: Ts }).meta({ id: "ViewerUpdate" });
export type ViewerUpdate = z.infer<typeof ViewerUpdate>;

const tag = "Viewers";

export const exchangeViewerToken = endpoint({
  method: "POST",
  path: "/v1/viewer/exchange",
  id: "exchangeViewerToken",
  tag,
  summary: "Exchange the token of a viewer's link for a short-lived access token",
  credential: "public",
  body: { kind: "json", schema: ExchangeToken, maxBytes: 4096 },
  responses: { 200: { kind: "json", schema: ViewerExchange } },
  errors: ["token-invalid", "link-expired", "rate-limited"],
});

export const getViewerEnvelope = endpoint({
  method: "GET",
  path: "/v1/viewer/envelope",
  id: "getViewerEnvelope",
  tag,
  summary: "How the signing goes; the first open is recorded in the audit trail",
  credential: "viewer",
  responses: { 200: { kind: "json", schema: ViewerEnvelope } },
});

export const getViewerDocument = endpoint({
  method: "GET",
  path: "/v1/viewer/document",
  id: "getViewerDocument",
  tag,
  summary: "The document, where the sender lets viewers see it: the sealed one once it is sealed",
  credential: "viewer",
  responses: { 200: { kind: "bytes", types: [pdf] } },
  errors: ["document-access-denied", "document-not-ready", "conflict"],
});

export const streamViewer = endpoint({
  method: "GET",
  path: "/v1/viewer/stream",
  id: "streamViewer",
  tag,
  summary: "Server-sent `update` when the envelope changed; the access token stands in the query",
  credential: "viewer",
  query: z.object({ access_token: z.string().max(200).optional().meta({ description: "Access token (`svcva_…`)" }) }),
  responses: {
    200: {
      kind: "events",
      schema: ViewerUpdate,
      description: "`event: update` with the time of the change; `event: expired` ends the stream with the access",
    },
  },
});

export const endpoints = [exchangeViewerToken, getViewerEnvelope, getViewerDocument, streamViewer];
