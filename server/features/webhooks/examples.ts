import type { Event, SentEventType } from "./contract.ts";

/**
 * What is sent of each type: one envelope for two people through its life, and the other ways in which it could have ended. For the
 * description of the interface and the dashboard. Isomorphic.
 */

type Envelope = NonNullable<Event["data"]["envelope"]>;
type Recipient = Envelope["recipients"][number];

/** The moments of its life. */
const at = {
  created: "2026-11-21T09:10:00.000Z",
  ready: "2026-11-21T09:10:02.140Z",
  viewed: "2026-11-21T11:42:31.508Z",
  signed: "2026-11-21T11:47:05.263Z",
  declined: "2026-11-21T11:47:05.263Z",
  voided: "2026-11-22T08:03:44.017Z",
  completed: "2026-11-22T15:20:12.791Z",
  sealed: "2026-11-22T15:20:14.335Z",
  expired: "2026-12-21T09:10:00.000Z",
};

const tenant: Recipient = {
  id: "rcp_hhYL7PgoD87CYEeV6Gbr2f7u",
  role: "Tenant",
  kind: "signer",
  status: "pending",
  locale: "en",
  name: "Ada Muster",
  email: "ada@example.com",
  phone: null,
  order: 1,
  delivery: "email",
  verification: "email_otp",
  redirectUrl: null,
  sentAt: null,
  lastSentAt: null,
  viewedAt: null,
  verifiedAt: null,
  completedAt: null,
  declinedAt: null,
  declineReason: null,
  deliveryError: null,
};
const landlord: Recipient = {
  ...tenant,
  id: "rcp_SoS0KJFjJzBYcHOVn2QM0pNs",
  role: "Landlord",
  name: "Ben Beispiel",
  email: "ben@example.com",
  order: 2,
  verification: "none",
};

const created: Envelope = {
  id: "env_n0LOXLk38pVQP0pSGxzHpoiC",
  status: "rendering",
  seal: "not_started",
  recipients: [tenant, landlord],
  externalId: "contract-4711",
  metadata: { department: "lettings" },
  testMode: false,
  expiresAt: at.expired,
  reminders: null,
  viewerDocumentAccess: false,
  locale: "en",
  title: "Rental agreement, Bahnhofstrasse 1",
  message: null,
  template: "tpl_uAZJA6QgFvFnu7BJTyloAHLB",
  templateVersion: 1,
  cc: [],
  source: "api",
  signingLink: null,
  createdBy: { type: "api_key", id: "key_HLQSGo873Mb5C8STjgUbZztP", name: "CRM", email: "owner@example.com" },
  pageCount: null,
  documentSha256: null,
  sealedSha256: null,
  sealLevel: null,
  anchorSequence: null,
  voidReason: null,
  declinedBy: null,
  declinedReason: null,
  failure: null,
  createdAt: at.created,
  updatedAt: at.created,
  sentAt: null,
  completedAt: null,
  declinedAt: null,
  voidedAt: null,
  expiredAt: null,
  sealedAt: null,
};

const invited: Recipient = { ...tenant, status: "sent", sentAt: at.ready, lastSentAt: at.ready };
const sent: Envelope = {
  ...created,
  status: "sent",
  recipients: [invited, landlord],
  pageCount: 2,
  documentSha256: "d9b881c876dbb32a7b04100874bae396f666a75fc430ef110d52ffd028dd743b",
  updatedAt: at.ready,
  sentAt: at.ready,
};

const reading: Recipient = { ...invited, status: "viewed", viewedAt: at.viewed, verifiedAt: at.viewed };
const viewed: Envelope = { ...sent, recipients: [reading, landlord], updatedAt: at.viewed };
const finished: Recipient = { ...reading, status: "completed", completedAt: at.signed };
const signed: Envelope = { ...sent, recipients: [finished, landlord], updatedAt: at.signed };
const completed: Envelope = {
  ...signed,
  status: "completed",
  seal: "pending",
  recipients: [
    finished,
    {
      ...landlord,
      status: "completed",
      sentAt: at.signed,
      lastSentAt: at.signed,
      viewedAt: at.completed,
      completedAt: at.completed,
    },
  ],
  updatedAt: at.completed,
  completedAt: at.completed,
};
const sealed: Envelope = {
  ...completed,
  seal: "sealed",
  sealedSha256: "51ac0b3b8f4a0d7e6f2f7f3ab7d36c6d1c3f0f5b8b2f4a9d07c1e6d2a4b8e913",
  sealLevel: "B-LTA",
  updatedAt: at.sealed,
  sealedAt: at.sealed,
};

const declineReason = "The rent is too high.";
const canceled = (recipient: Recipient): Recipient => ({ ...recipient, status: "canceled" });
const declined: Envelope = {
  ...sent,
  status: "declined",
  recipients: [{ ...reading, status: "declined", declinedAt: at.declined, declineReason }, canceled(landlord)],
  declinedBy: tenant.id,
  declinedReason: declineReason,
  updatedAt: at.declined,
  declinedAt: at.declined,
};
const voided: Envelope = {
  ...signed,
  status: "voided",
  recipients: [finished, canceled(landlord)],
  voidReason: "Wrong address in clause 3",
  updatedAt: at.voided,
  voidedAt: at.voided,
};
const expired: Envelope = {
  ...sent,
  status: "expired",
  recipients: [canceled(invited), canceled(landlord)],
  updatedAt: at.expired,
  expiredAt: at.expired,
};

const signingLink = "lnk_Vb3nQ0sYt5KfZ8wLr2XcJ6Hd";
const fromLink: Envelope = {
  ...created,
  id: "env_4Tq8ZrVdW1mKs6YbLx0NfGp2",
  externalId: null,
  source: "signing_link",
  signingLink,
  createdBy: { type: "visitor", id: null, name: tenant.name, email: tenant.email },
};

const values: Event["data"]["values"] = {
  variables: { rent: 1850 },
  recipients: {
    Tenant: { city: "Zürich", months: 24, pets: true, signature: { method: "draw", signedAt: at.signed } },
    Landlord: { signature: { method: "type", signedAt: at.completed } },
  },
};

const event = (id: string, type: SentEventType, createdAt: string, data: Event["data"]): Event => ({
  id: `evt_${id}`,
  type,
  createdAt,
  testMode: false,
  data,
});
const recipient = tenant.id;

/** One of each type, as it is posted. */
export const eventExamples: Record<SentEventType, Event> = {
  "envelope.created": event("0pXb4VtYq7LmZc2RwJ9sKd5H", "envelope.created", at.created, { envelope: created }),
  "envelope.ready": event("1sKd8WnTf3QyBv6LxC0gPj4M", "envelope.ready", at.ready, { envelope: sent }),
  "recipient.sent": event("2vRh5ZmXc9JtGq1NyF7bLw3D", "recipient.sent", at.ready, { envelope: sent, recipient }),
  "recipient.viewed": event("3yTk2CpLd6SwHr8MzV4fQx0B", "recipient.viewed", at.viewed, { envelope: viewed, recipient }),
  "recipient.signed": event("4bVn9FsQg3XzKt5PaY1jRc7E", "recipient.signed", at.signed, { envelope: signed, recipient }),
  "recipient.declined": event("5eYq6JvTk0AcMw2RdB8mUf4G", "recipient.declined", at.declined, {
    envelope: declined,
    recipient,
  }),
  "envelope.completed": event("6hBt3MyWn7DfPz9UgE5pXi1K", "envelope.completed", at.completed, {
    envelope: completed,
    values,
  }),
  "envelope.sealed": event("7kEw0PbZq4GiSc6XjH2sAl8N", "envelope.sealed", at.sealed, { envelope: sealed }),
  "envelope.declined": event("8nHz7SeCt1JlVf3AmK9vDo5Q", "envelope.declined", at.declined, { envelope: declined }),
  "envelope.voided": event("9qKc4VhFw8MoYi0DpN6yGr2T", "envelope.voided", at.voided, { envelope: voided }),
  "envelope.expired": event("AtNf1YkIz5PrBl7GsQ3bJu9W", "envelope.expired", at.expired, { envelope: expired }),
  "signing_link.used": event("BwQi8BnLc2SuEo4JvT0eMx6Z", "signing_link.used", at.created, {
    envelope: fromLink,
    signingLink,
  }),
  "webhook.test": event("CzTl5EqOf9VxHr1MyW7hPa3C", "webhook.test", at.created, {
    envelope: null,
    endpoint: "whe_0123456789ABCDEFGHIJKLMN",
  }),
};
