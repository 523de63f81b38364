import { locales } from "../../locales/read.ts";
import type { CertificateData, CertificatePerson } from "../../workers/protocol.ts";

/** A certificate of completion as the server hands it to the worker. */

export const hash = (digit: string): string => digit.repeat(64);

export const person: CertificatePerson = {
  name: "Zoë Müller",
  email: "zoe@example.com",
  role: "Tenant",
  kind: "signer",
  order: 1,
  verification: "email_otp",
  verifiedAt: "2026-11-21T09:11:12.345Z",
  sentAt: "2026-11-21T09:00:12.000Z",
  viewedAt: "2026-11-21T09:11:15.000Z",
  consentedAt: "2026-11-21T09:12:10.000Z",
  completedAt: "2026-11-21T09:12:11.000Z",
  declinedAt: null,
  ip: "2001:db8::7334",
  userAgent: "Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0",
  signatureImage: null,
  signatureText: { text: "Zoë Müller", font: "Caveat" },
  consentLocale: "de-DE",
  consentSha256: hash("c"),
  attachments: [{ filename: "passport.pdf", sha256: hash("d"), size: 123_456 }],
};

export const certificateSample: CertificateData = {
  language: "en",
  words: locales().words("en", "certificate"),
  envelope: "env_4fKq81LmZ0pQ9aWbXcYdEeFf",
  title: "Residential lease",
  organization: "Example & Partners",
  template: "Lease",
  templateVersion: 7,
  testMode: false,
  createdAt: "2026-11-21T08:59:00.000Z",
  completedAt: "2026-11-21T10:01:00.000Z",
  revisions: [
    { after: null, sha256: hash("a") },
    { after: "Zoë Müller", sha256: hash("b") },
  ],
  people: [person],
  cc: [{ name: "Archive", email: "archive@example.com" }],
  viewers: [{ name: null, email: "auditor@example.com" }],
  audit: { length: 23, headHash: hash("e") },
  seal: {
    certificateSha256: hash("f"),
    keySha256: hash("9"),
    subject: "CN=Example seal",
    goal: "B-LTA",
    authority: "Built-in authority",
    internalTime: true,
    beganAt: "2026-11-21T10:01:01.000Z",
    made: null,
  },
  remarks: [{ code: "already-signed" }],
  verifyUrl: "https://sign.example.com/verify/env_4fKq81LmZ0pQ9aWbXcYdEeFf",
  pageSize: { width: 595.28, height: 841.89 },
};
