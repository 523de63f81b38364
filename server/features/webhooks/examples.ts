import type { Event, SentEventType } from "./contract.ts";

/** What is sent of each type, as examples for the reference and the dashboard. Isomorphic. */

type Envelope = NonNullable<Event["data"]["envelope"]>;

const at = (minute: number): string => `2026-03-02T09:${String(minute).padStart(2, "0")}:00.000Z`;

const recipients: Envelope["recipients"] = [
  {
    id: "rcp_4fQz81LmWn0Tc6VbYk2HsJ9d",
    role: "tenant",
    kind: "signer",
    status: "sent",
    locale: "en",
    name: "Ada Muster",
    email: "ada@example.com",
    phone: null,
    order: 1,
    delivery: "email",
    verification: "email_otp",
    redirectUrl: null,
    sentAt: at(1),
    lastSentAt: at(1),
    viewedAt: null,
    verifiedAt: null,
    completedAt: null,
    declinedAt: null,
    declineReason: null,
    deliveryError: null,
  },
];

/** In progress, and nobody has opened it. */
const sent: Envelope = {
  id: "env_0aB3dE5gH7jK9mN1pQ3sT5vX",
  status: "sent",
  seal: "not_started",
  recipients,
  externalId: "contract-4711",
  metadata: { department: "lettings" },
  testMode: false,
  expiresAt: "2026-04-01T21:59:00.000Z",
  reminders: { firstAfterDays: 3, everyDays: 7, max: 3 },
  viewerDocumentAccess: false,
  locale: "en",
  title: "Rental agreement, Bahnhofstrasse 1",
  message: null,
  template: "tpl_7Yc2WmR4tLq9ZsX1vB6nKd0F",
  templateVersion: 3,
  cc: [],
  source: "api",
  signingLink: null,
  createdBy: { type: "api_key", id: "key_5Rt8UjM2xNc4Lp7QaWs1ZeDv", name: "CRM", email: null },
  pageCount: 4,
  documentSha256: "9d1f0c5b7a3e42868e0b4c1d6f5a79b2c3d4e5f60718293a4b5c6d7e8f901a2b",
  sealedSha256: null,
  sealLevel: null,
  anchorSequence: null,
  voidReason: null,
  declinedBy: null,
  declinedReason: null,
  failure: null,
  createdAt: at(0),
  updatedAt: at(1),
  sentAt: at(1),
  completedAt: null,
  declinedAt: null,
  voidedAt: null,
  expiredAt: null,
  sealedAt: null,
};

/** The envelope after some of it has changed, that of its recipient too. */
function changed(change: Partial<Envelope>, person: Partial<Envelope["recipients"][number]> = {}): Envelope {
  return { ...sent, ...change, recipients: recipients.map((recipient) => ({ ...recipient, ...person })) };
}

const viewed = { status: "viewed", viewedAt: at(20), verifiedAt: at(19) } as const;
const signed = { ...viewed, status: "completed", completedAt: at(30) } as const;
const declined = {
  ...viewed,
  status: "declined",
  declinedAt: at(30),
  declineReason: "The rent is not right.",
} as const;
const canceled = { status: "canceled" } as const;
const before = { status: "pending", sentAt: null, lastSentAt: null } as const;

const rendering = changed(
  { status: "rendering", sentAt: null, pageCount: null, documentSha256: null, updatedAt: at(0) },
  before,
);
const completed = changed({ status: "completed", seal: "pending", completedAt: at(30), updatedAt: at(30) }, signed);

let last = 0;
function event(type: SentEventType, createdAt: string, data: Event["data"]): Event {
  last += 1;
  return { id: `evt_${String(last).padStart(24, "0")}`, type, createdAt, testMode: false, data };
}
const recipient = recipients[0]?.id ?? "";
const signingLink = "lnk_1Zx3Cv5Bn7Mq9We2Rt4Yu6Io";

export const eventExamples: Record<SentEventType, Event> = {
  "envelope.created": event("envelope.created", at(0), { envelope: rendering }),
  "envelope.ready": event("envelope.ready", at(1), { envelope: changed({}, before) }),
  "recipient.sent": event("recipient.sent", at(1), { envelope: sent, recipient }),
  "recipient.viewed": event("recipient.viewed", at(20), {
    envelope: changed({ updatedAt: at(20) }, viewed),
    recipient,
  }),
  "recipient.signed": event("recipient.signed", at(30), {
    envelope: changed({ updatedAt: at(30) }, signed),
    recipient,
  }),
  "recipient.declined": event("recipient.declined", at(30), {
    envelope: changed({ updatedAt: at(30) }, declined),
    recipient,
  }),
  "envelope.completed": event("envelope.completed", at(30), {
    envelope: completed,
    values: {
      variables: { rent: 1850 },
      recipients: { tenant: { city: "Bern", signature: { method: "draw", signedAt: at(30) } } },
    },
  }),
  "envelope.sealed": event("envelope.sealed", at(31), {
    envelope: {
      ...completed,
      seal: "sealed",
      sealedAt: at(31),
      sealedSha256: "1b7e6a90c2d34f58a1b0c9d8e7f6051423344556677889900aabbccddeeff011",
      sealLevel: "B-LTA",
      anchorSequence: 128,
      updatedAt: at(31),
    },
  }),
  "envelope.declined": event("envelope.declined", at(30), {
    envelope: changed(
      {
        status: "declined",
        declinedBy: recipient,
        declinedReason: declined.declineReason,
        declinedAt: at(30),
        updatedAt: at(30),
      },
      declined,
    ),
  }),
  "envelope.voided": event("envelope.voided", at(45), {
    envelope: changed(
      { status: "voided", voidReason: "Wrong address in clause 3", voidedAt: at(45), updatedAt: at(45) },
      canceled,
    ),
  }),
  "envelope.expired": event("envelope.expired", "2026-04-01T21:59:00.000Z", {
    envelope: changed(
      { status: "expired", expiredAt: "2026-04-01T21:59:00.000Z", updatedAt: "2026-04-01T21:59:00.000Z" },
      canceled,
    ),
  }),
  "signing_link.used": event("signing_link.used", at(0), {
    envelope: { ...rendering, source: "signing_link", signingLink, externalId: null },
    signingLink,
  }),
  "webhook.test": event("webhook.test", at(0), { envelope: null, endpoint: "whe_0123456789ABCDEFGHIJKLMN" }),
};
