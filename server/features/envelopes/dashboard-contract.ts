import { z } from "zod";
import { endpoint } from "../../kernel/endpoint.ts";
import { Cursor, limitOf, QueryBoolean, QueryText, Ts } from "../../kernel/wire.ts";
import { heldReasons, mailStatuses } from "../mail/contract.ts";
import { Envelope } from "./envelope-contract.ts";

/** What the dashboard alone needs of envelopes; outside the published document (contract §15). Isomorphic. */

const tag = "Dashboard";

export const EnvelopeChange = z.object({ id: z.string().meta({ description: "env_…" }) });
export type EnvelopeChange = z.infer<typeof EnvelopeChange>;

export const streamChanges = endpoint({
  method: "GET",
  path: "/auth/changes",
  id: "streamChanges",
  tag,
  summary: "Server-sent `envelope` with the id of each envelope that changed, of both modes",
  credential: "dashboard",
  permission: "envelope:read",
  responses: { 200: { kind: "events", schema: EnvelopeChange } },
  published: false,
});

export const TestMail = z.object({
  id: z.string(),
  envelope: z.string().nullable(),
  kind: z.string(),
  to: z.object({ email: z.string(), name: z.string().nullable() }),
  subject: z.string(),
  status: z.enum(mailStatuses),
  heldFor: z.enum(heldReasons).nullable(),
  createdAt: Ts,
  sentAt: Ts.nullable(),
  error: z.string().nullable(),
  text: z.string().nullable().meta({ description: "null once the mail was delivered" }),
  link: z.string().nullable(),
  code: z.string().nullable(),
});
export type TestMail = z.infer<typeof TestMail>;

export const listTestMails = endpoint({
  method: "GET",
  path: "/auth/mails",
  id: "listTestMails",
  tag,
  summary: "Mails of test-mode envelopes, newest first, with their links and codes",
  credential: "dashboard",
  permission: "envelope:send",
  query: z.object({
    envelope: QueryText(64).optional().meta({ description: "Of this test-mode envelope only" }),
    limit: limitOf(50),
    cursor: Cursor.optional(),
  }),
  responses: {
    200: {
      kind: "json",
      schema: z.object({ data: z.array(TestMail), hasMore: z.boolean(), nextCursor: z.string().nullable() }),
    },
  },
  errors: ["not-found"],
  published: false,
});

export const Contact = z.object({ name: z.string().nullable(), email: z.string() });
export type Contact = z.infer<typeof Contact>;

export const listContacts = endpoint({
  method: "GET",
  path: "/auth/contacts",
  id: "listContacts",
  tag,
  summary: "People of earlier envelopes of one mode, for completing names and addresses: at most ten, the newest first",
  credential: "dashboard",
  permission: "envelope:read",
  query: z.object({
    q: QueryText(200).optional().meta({ description: "Part of the name or the address" }),
    testMode: QueryBoolean.optional(),
  }),
  responses: { 200: { kind: "json", schema: z.object({ data: z.array(Contact) }) } },
  published: false,
});

export const retryEnvelope = endpoint({
  method: "POST",
  path: "/auth/envelopes/{id}/retry",
  id: "retryEnvelope",
  tag,
  summary: "Start the steps of this envelope again that failed for good",
  credential: "dashboard",
  permission: "org:manage",
  params: z.object({ id: z.string() }),
  responses: { 200: { kind: "json", schema: Envelope } },
  errors: ["conflict"],
  published: false,
});

export const endpoints = [streamChanges, listTestMails, listContacts, retryEnvelope];
