import { z } from "zod";
import { Actor, Hex64, type Json, listOf, Ts } from "../../kernel/wire.ts";

/** Shapes of the audit trail and of events (contract §4 and §8). Isomorphic. */

/** What webhooks are told of; `acceptance.created` is reserved and never emitted. */
export const eventTypes = [
  "envelope.created",
  "envelope.ready",
  "recipient.sent",
  "recipient.viewed",
  "recipient.signed",
  "recipient.declined",
  "envelope.completed",
  "envelope.sealed",
  "envelope.declined",
  "envelope.voided",
  "envelope.expired",
  "signing_link.used",
  "webhook.test",
  "acceptance.created",
] as const;
export const EventType = z.enum(eventTypes).meta({ id: "EventType" });
export type EventType = z.infer<typeof EventType>;

export const AuditType = z
  .enum([
    ...eventTypes,
    "envelope.seal_failed",
    "envelope.seal_extended",
    "envelope.downloaded",
    "envelope.documents_deleted",
    "recipient.reassigned",
    "recipient.locked",
    "recipient.resent",
    "recipient.reminded",
    "recipient.session_created",
    "recipient.session_opened",
    "recipient.otp_sent",
    "recipient.otp_verified",
    "recipient.otp_failed",
    "recipient.consented",
    "recipient.attachment_added",
    "recipient.delivery_failed",
    "viewer.added",
    "viewer.viewed",
    "viewer.revoked",
    "cc.notified",
  ])
  .meta({ id: "AuditType" });
export type AuditType = z.infer<typeof AuditType>;

export const AuditEntry = z
  .object({
    v: z.literal(1),
    envelope: z.string(),
    seq: z.int().meta({ description: "1, 2, 3 … without gaps" }),
    id: z.string().meta({ description: "Also the id of the event, when the entry is one" }),
    type: AuditType,
    at: Ts,
    actor: Actor,
    ip: z.string().nullable(),
    userAgent: z.string().nullable(),
    data: z.record(z.string(), z.unknown()),
    prevHash: Hex64,
    hash: Hex64,
  })
  .meta({
    id: "AuditEntry",
    description:
      "`hash` is the SHA-256 of the RFC 8785 text of the entry without `hash`; `prevHash` of the first entry is 64 zeros",
  });
export type AuditEntry = Omit<z.infer<typeof AuditEntry>, "data"> & { data: Readonly<Record<string, Json>> };

export const AuditVerification = z
  .object({
    valid: z.boolean(),
    algorithm: z.literal("sha256-jcs-v1"),
    length: z.int(),
    headHash: Hex64,
    brokenAtSeq: z.int().nullable(),
    checkedAt: Ts,
  })
  .meta({ id: "AuditVerification" });
export type AuditVerification = z.infer<typeof AuditVerification>;

export const AuditTrail = listOf("AuditTrail", AuditEntry)
  .extend({ envelope: z.string(), verification: AuditVerification })
  .meta({ id: "AuditTrail" });
