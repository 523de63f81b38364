import { type MailContent, securityNotices, viewerNews } from "../../server/features/mail/contract.ts";

/** A mail of each kind, as the server hands it to be written. */

export const title = "Lease";
/** Of envelopes. */
export const contents: MailContent[] = [
  {
    kind: "signing_request",
    sender: "A",
    title,
    message: "M",
    recipientName: "R",
    link: "https://x.example/",
    expiresAt: "2026-12-01T12:00:00.000Z",
  },
  { kind: "code", code: "123456", title, minutes: 10 },
  { kind: "code", code: "123456", title, minutes: 1 },
  {
    kind: "completed",
    title,
    link: "https://x.example/",
    sealedSha256: null,
    certificateSha256: null,
    filename: "x",
    sealFailed: false,
  },
  {
    kind: "completed",
    title,
    link: null,
    sealedSha256: null,
    certificateSha256: null,
    filename: "x",
    sealFailed: true,
  },
  { kind: "voided", title, reason: "because", sender: "A" },
  { kind: "declined", title, by: "B", reason: "no" },
  { kind: "viewer_invite", title, link: "https://x.example/", sender: "A" },
  { kind: "render_failed", title, message: "broken" },
  { kind: "stalled", title, message: "broken" },
  {
    kind: "reminder",
    sender: "A",
    title,
    message: null,
    recipientName: "R",
    link: "https://x.example/",
    expiresAt: null,
  },
  ...viewerNews.map((status) => ({ kind: "viewer_update" as const, title, link: "https://x.example/", status })),
];
/** To one person, of their account or organization. */
export const personal: MailContent[] = [
  { kind: "sign_in_code", code: "123456", minutes: 10 },
  { kind: "confirm_account", code: "123456", minutes: 1 },
  { kind: "magic_link", link: "https://x.example/", minutes: 10 },
  { kind: "password_reset", link: "https://x.example/", minutes: 60 },
  { kind: "account_exists", link: "https://x.example/" },
  ...securityNotices.map((notice) => ({
    kind: "security_notice" as const,
    notice,
    at: "2026-12-01T12:00:00.000Z",
  })),
  { kind: "anchor_witness", sequence: 7, checkpoint: "sign.example.com\n12\nAAAA\n" },
  ...(["owner", "admin"] as const).map((role) => ({
    kind: "member_promoted" as const,
    organizationName: "Example Ltd",
    name: "Ada",
    email: "ada@example.com",
    role,
    by: "Olive",
    at: "2026-12-01T12:00:00.000Z",
  })),
  ...[410, null].map((statusCode) => ({
    kind: "webhook_failing" as const,
    organizationName: "Example Ltd",
    url: "https://crm.example.com/hooks",
    since: "2026-12-01T12:00:00.000Z",
    statusCode,
    link: "https://x.example/",
  })),
  ...(["owner", "admin", "member"] as const).map((role) => ({
    kind: "invitation" as const,
    organizationName: "Example Ltd",
    invitedBy: "Olive",
    role,
    link: "https://x.example/",
  })),
];
export const context = { organization: "Example Ltd", address: "sam@example.com", attached: true };
