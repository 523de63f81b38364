import { z } from "zod";
import { endpoint } from "../../kernel/endpoint.ts";
import { recordOf } from "../../kernel/record.ts";
import { Email, GivenLocale, Hex64, Line, Locale, pdf, SomeLines, Ts } from "../../kernel/wire.ts";
import { AttachmentValue, EnvelopeStatus, FieldValue, RecipientStatus } from "../envelopes/contract.ts";
import { attachmentTypes, Box, Field, FieldInput, PageBox, RecipientKind } from "../templates/contract.ts";

/** Signing sessions, what the signer sees, codes, submissions (contract §5). */

/** Faces that a typed signature may be set in; the documents are drawn with the same ones. */
export const signatureFonts = ["Caveat", "Dancing Script", "Great Vibes", "Homemade Apple"] as const;
export const signatureMethods = ["draw", "type", "upload"] as const;

export const maxSignatureBytes = 512 * 1024;
export const maxSignatureWidth = 2000;
export const maxSignatureHeight = 1000;
export const maxAttachmentBytes = 10 * 1024 * 1024;
export const maxAttachmentsBytes = 25 * 1024 * 1024;

const id = z.object({ id: z.string() });
const pngPrefix = "data:image/png;base64,";
/** The prefix and the base64 of the largest image. */
const maxSignatureText = pngPrefix.length + Math.ceil(maxSignatureBytes / 3) * 4;

const url = z
  .string()
  .max(2000)
  .refine((text) => URL.canParse(text), "Use a full URL.")
  .meta({ format: "uri" });

export const CreateSigningSession = z
  .strictObject({
    recipient: z.string(),
    embedOrigin: url
      .optional()
      .meta({ description: "Origin of the page that embeds signing: https, or http://localhost in test mode" }),
    redirectUrl: url.optional(),
    expiresInSeconds: z.int().min(60).max(3600).default(600),
  })
  .meta({ id: "CreateSigningSession" });
export type CreateSigningSession = z.infer<typeof CreateSigningSession>;

export const SigningSessionCreated = z
  .object({
    id: z.string(),
    envelope: z.string(),
    recipient: z.string(),
    token: z.string().meta({ description: "Shown once; good for one exchange" }),
    url: z.string(),
    embedOrigin: z.string().nullable(),
    redirectUrl: z.string().nullable(),
    expiresAt: Ts,
  })
  .meta({ id: "SigningSessionCreated" });
export type SigningSessionCreated = z.infer<typeof SigningSessionCreated>;

export const ExchangeToken = z.strictObject({ token: z.string().max(200) }).meta({ id: "ExchangeToken" });

export const otpChannels = ["email", "sms"] as const;
export const OtpState = z
  .object({
    required: z.boolean(),
    verified: z.boolean(),
    channel: z.enum(otpChannels).nullable(),
    destination: z.string().nullable().meta({ description: "Masked address", example: "a***@example.com" }),
    sent: z
      .object({ expiresAt: Ts, resendAt: Ts })
      .nullable()
      .meta({ description: "The last code of this session, while it can be entered or no other can be sent yet" }),
  })
  .meta({ id: "OtpState" });
export type OtpState = z.infer<typeof OtpState>;

export const SigningExchange = z
  .object({
    accessToken: z.string(),
    expiresAt: Ts,
    envelope: z.string(),
    recipient: z.string(),
    session: z.string(),
    embedOrigin: z.string().nullable(),
    locale: Locale,
    otp: OtpState,
  })
  .meta({ id: "SigningExchange" });
export type SigningExchange = z.infer<typeof SigningExchange>;

export const signingStates = ["otp_required", "ready", "waiting", "completed", "declined", "closed"] as const;
export const SigningState = z.enum(signingStates).meta({ id: "SigningState" });
export type SigningState = z.infer<typeof SigningState>;

export const SigningField = z
  .intersection(Field, z.object({ boxes: z.array(Box), value: FieldValue.nullable(), editable: z.boolean() }))
  .meta({ id: "SigningField" });
export type SigningField = z.infer<typeof SigningField>;

export const Attachment = AttachmentValue.extend({ field: z.string(), createdAt: Ts }).meta({ id: "Attachment" });
export type Attachment = z.infer<typeof Attachment>;

export const SigningView = z
  .object({
    state: SigningState,
    envelope: z.object({
      id: z.string(),
      title: z.string(),
      message: z.string().nullable(),
      status: EnvelopeStatus,
      testMode: z.boolean(),
      expiresAt: Ts.nullable(),
      sealed: z.boolean().meta({ description: "The document is the sealed one" }),
    }),
    sender: z.object({ organization: z.string(), name: z.string().nullable(), logoUrl: z.string().nullable() }),
    recipient: z.object({
      id: z.string(),
      role: z.string(),
      name: z.string(),
      email: z.string().meta({ description: "Masked until the code is verified", example: "a***@example.com" }),
      status: RecipientStatus,
      kind: RecipientKind,
      locale: Locale,
      order: z.int(),
    }),
    parties: z.array(z.object({ role: z.string(), name: z.string(), status: RecipientStatus, order: z.int() })),
    otp: OtpState,
    document: z
      .object({
        url: z.literal("/v1/signing/document"),
        sha256: Hex64,
        pageCount: z.int(),
        pages: z.array(PageBox),
      })
      .nullable()
      .meta({ description: "null until the code is verified" }),
    fields: z
      .array(SigningField)
      .meta({ description: "Empty until the code is verified; other people's finished values are not editable" }),
    signature: z.object({ methods: z.array(z.enum(signatureMethods)), fonts: z.array(z.string()) }),
    attachments: z.array(Attachment),
    consent: z.object({
      version: z.string(),
      locale: Locale,
      text: z.string(),
      textSha256: Hex64,
      english: z.object({ text: z.string(), textSha256: Hex64 }),
    }),
    allowDecline: z.boolean(),
    allowReassign: z.boolean(),
    redirectUrl: z.string().nullable(),
    accessTokenExpiresAt: Ts,
  })
  .meta({ id: "SigningView" });
export type SigningView = z.infer<typeof SigningView>;

export const RequestOtp = z.strictObject({ channel: z.enum(otpChannels).optional() }).meta({ id: "RequestOtp" });
export const OtpSent = z
  .object({
    channel: z.enum(otpChannels),
    destination: z.string(),
    codeLength: z.literal(6),
    expiresAt: Ts,
    resendAt: Ts,
  })
  .meta({ id: "OtpSent" });
export type OtpSent = z.infer<typeof OtpSent>;
export const VerifyOtp = z
  .strictObject({ code: z.string().regex(/^\d{6}$/, "The code has six digits.") })
  .meta({ id: "VerifyOtp", example: { code: "123456" } });
export const OtpVerified = z.object({ verified: z.literal(true), verifiedAt: Ts }).meta({ id: "OtpVerified" });
export type OtpVerified = z.infer<typeof OtpVerified>;

const SignatureImage = z
  .string()
  .max(maxSignatureText, "The image is larger than 512 KB.")
  .regex(/^data:image\/png;base64,/, "Send a PNG as `data:image/png;base64,…`.");
export const SignatureInput = z
  .discriminatedUnion("method", [
    z.strictObject({ method: z.literal("draw"), image: SignatureImage }),
    z.strictObject({ method: z.literal("upload"), image: SignatureImage }),
    z.strictObject({
      method: z.literal("type"),
      text: Line(100),
      font: z.enum(signatureFonts),
    }),
  ])
  .meta({ id: "SignatureInput" });
export type SignatureInput = z.infer<typeof SignatureInput>;

export const SubmitSigning = z
  .strictObject({
    documentSha256: Hex64.meta({ description: "The document that the signer was shown" }),
    fields: recordOf(z.string().max(64), z.union([FieldInput, z.array(z.string().max(64)).max(10)]))
      .refine((fields) => Object.keys(fields).length <= 500, "At most 500 fields.")
      .meta({ maxProperties: 500 }),
    signature: SignatureInput.optional(),
    initials: SignatureInput.optional(),
    consent: z.strictObject({ accepted: z.literal(true), version: z.string().max(100), locale: Locale }),
    timeZone: z.string().max(64).optional().meta({ description: "IANA name, for dates", example: "Europe/Zurich" }),
  })
  .meta({ id: "SubmitSigning" });
export type SubmitSigning = z.infer<typeof SubmitSigning>;

export const SigningResult = z
  .object({
    status: z.enum(["completed", "declined"]),
    envelope: z.object({ id: z.string(), status: EnvelopeStatus }),
    at: Ts,
    redirectUrl: z.string().nullable(),
  })
  .meta({ id: "SigningResult" });
export type SigningResult = z.infer<typeof SigningResult>;

export const DeclineSigning = z
  .strictObject({ reason: SomeLines(1000, "Give a reason.") })
  .meta({ id: "DeclineSigning" });

export const ReassignSigning = z
  .strictObject({
    name: Line(200),
    email: Email,
    locale: GivenLocale.optional(),
    reason: SomeLines(1000, "Give a reason."),
  })
  .meta({ id: "ReassignSigning" });
export type ReassignSigning = z.infer<typeof ReassignSigning>;
export const Reassigned = z.object({ status: z.literal("reassigned") }).meta({ id: "Reassigned" });

export const FitTexts = z
  .strictObject({
    fields: z
      .record(z.string().max(64), FieldInput)
      .refine((fields) => Object.keys(fields).length <= 500, "At most 500 fields."),
  })
  .meta({ id: "FitTexts", example: { fields: { company: "Muster und Söhne Immobilienverwaltung" } } });
export type FitTexts = z.infer<typeof FitTexts>;
export const TextsFitted = z
  .object({
    fields: z.record(
      z.string(),
      z.object({
        size: z.number().meta({ description: "Points that the text is set in, whole if it can be" }),
        fits: z.boolean().meta({ description: "Whole, at 6 points or more; a submission with others is refused" }),
        room: z.int().nullable().meta({ description: "How many of its characters fit, when not all do" }),
      }),
    ),
  })
  .meta({
    id: "TextsFitted",
    description: "Without fields that hold no text and those whose text needs no measuring: it fits at its size",
  });
export type TextsFitted = z.infer<typeof TextsFitted>;

const json = { kind: "json" as const, maxBytes: 1024 * 1024 };
/** Tokens and codes are short, and anybody may send them. */
const short = { kind: "json" as const, maxBytes: 4096 };
const tag = "Signing";

export const createSigningSession = endpoint({
  method: "POST",
  path: "/v1/envelopes/{id}/sessions",
  id: "createSigningSession",
  tag,
  summary: "Mint a short-lived, single-use signing session for a recipient",
  credential: "key",
  permission: "envelope:send",
  idempotent: true,
  params: id,
  body: { ...json, schema: CreateSigningSession },
  responses: { 201: { kind: "json", schema: SigningSessionCreated } },
  links: { exchangeSigningToken: { body: { token: "$response.body#/token" } } },
  errors: ["not-recipients-turn", "recipient-finished", "envelope-not-in-progress"],
});

export const getAttachment = endpoint({
  method: "GET",
  path: "/v1/envelopes/{id}/attachments/{attachment}",
  id: "getAttachment",
  tag,
  summary: "Download a file that a recipient attached",
  credential: "key",
  permission: "envelope:read",
  params: z.object({ id: z.string(), attachment: z.string() }),
  responses: { 200: { kind: "bytes", types: attachmentTypes } },
  errors: ["conflict"],
});

export const exchangeSigningToken = endpoint({
  method: "POST",
  path: "/v1/signing/exchange",
  id: "exchangeSigningToken",
  tag,
  summary: "Exchange the token of a link or an embedded session for an access token",
  credential: "public",
  body: { ...short, schema: ExchangeToken },
  responses: { 200: { kind: "json", schema: SigningExchange } },
  errors: ["token-invalid", "token-expired", "token-used", "rate-limited"],
});

export const requestFreshLink = endpoint({
  method: "POST",
  path: "/v1/signing/fresh-link",
  id: "requestFreshLink",
  tag,
  summary: "Mail a fresh link to the holder of an old or used one",
  credential: "public",
  rateLimit: { name: "signing-fresh-link", points: 30, seconds: 60 },
  body: { ...short, schema: ExchangeToken },
  responses: { 202: { kind: "empty", description: "Always, whether or not a mail goes out" } },
  errors: ["rate-limited"],
});

export const getSigningSession = endpoint({
  method: "GET",
  path: "/v1/signing/session",
  id: "getSigningSession",
  tag,
  summary: "What the signer sees",
  credential: "signer",
  responses: { 200: { kind: "json", schema: SigningView } },
});

export const getSigningDocument = endpoint({
  method: "GET",
  path: "/v1/signing/document",
  id: "getSigningDocument",
  tag,
  summary: "The document as it stands; once everybody signed, the sealed one",
  credential: "signer",
  responses: { 200: { kind: "bytes", types: [pdf] } },
  errors: ["otp-required", "not-recipients-turn", "envelope-not-in-progress", "document-not-ready", "conflict"],
});

export const requestSigningCode = endpoint({
  method: "POST",
  path: "/v1/signing/otp",
  id: "requestSigningCode",
  tag,
  summary: "Send a one-time code to the signer",
  credential: "signer",
  body: { ...short, schema: RequestOtp, optional: true },
  responses: { 202: { kind: "json", schema: OtpSent } },
  errors: [
    "conflict",
    "rate-limited",
    "feature-disabled",
    "plan-upgrade-required",
    "recipient-finished",
    "envelope-not-in-progress",
  ],
});

export const verifySigningCode = endpoint({
  method: "POST",
  path: "/v1/signing/otp/verify",
  id: "verifySigningCode",
  tag,
  summary: "Verify the one-time code",
  credential: "signer",
  body: { ...short, schema: VerifyOtp },
  responses: { 200: { kind: "json", schema: OtpVerified } },
  errors: [
    "otp-invalid",
    "otp-expired",
    "otp-exhausted",
    "conflict",
    "rate-limited",
    "recipient-finished",
    "envelope-not-in-progress",
  ],
});

export const HandedCode = z.object({
  recipient: z.string(),
  code: z.string().meta({ description: "Six digits, told once" }),
  expiresAt: Ts,
});
export type HandedCode = z.infer<typeof HandedCode>;

/** Of the dashboard alone: a person hands it over, so no key may ask for it. */
export const handOverSigningCode = endpoint({
  method: "POST",
  path: "/auth/envelopes/{id}/recipients/{recipient}/code",
  id: "handOverSigningCode",
  tag: "Dashboard",
  summary: "Make the code that is handed over to this recipient; the one before stops working",
  credential: "dashboard",
  permission: "envelope:send",
  params: z.object({ id: z.string(), recipient: z.string() }),
  responses: { 201: { kind: "json", schema: HandedCode } },
  errors: ["conflict", "rate-limited", "not-recipients-turn", "recipient-finished", "envelope-not-in-progress"],
  published: false,
});

export const uploadAttachment = endpoint({
  method: "POST",
  path: "/v1/signing/attachments",
  id: "uploadAttachment",
  tag,
  summary: "Upload a file for an attachment or image field",
  credential: "signer",
  body: {
    kind: "multipart",
    fields: z.strictObject({ field: z.string().min(1).max(64) }),
    // The file, and room for the boundaries and the part headers.
    maxBytes: maxAttachmentBytes + 64 * 1024,
  },
  responses: { 201: { kind: "json", schema: Attachment } },
  errors: [
    "otp-required",
    "payload-too-large",
    "unsupported-media-type",
    "attachment-rejected",
    "not-recipients-turn",
    "recipient-finished",
    "envelope-not-in-progress",
  ],
});

export const fitSigningTexts = endpoint({
  method: "POST",
  path: "/v1/signing/fit",
  id: "fitSigningTexts",
  tag,
  summary: "How texts would go into their fields in the document",
  credential: "signer",
  body: { kind: "json", schema: FitTexts, maxBytes: 128 * 1024 },
  responses: { 200: { kind: "json", schema: TextsFitted } },
  errors: ["otp-required", "rate-limited", "not-recipients-turn", "recipient-finished", "envelope-not-in-progress"],
});

export const submitSigning = endpoint({
  method: "POST",
  path: "/v1/signing/submit",
  id: "submitSigning",
  tag,
  summary: "Submit field values, signature and consent",
  credential: "signer",
  // A signature and initials of the largest size together.
  body: { kind: "json", schema: SubmitSigning, maxBytes: 2 * 1024 * 1024 },
  responses: { 200: { kind: "json", schema: SigningResult } },
  errors: [
    "otp-required",
    "not-recipients-turn",
    "recipient-finished",
    "envelope-not-in-progress",
    "conflict",
    "document-changed",
  ],
});

export const declineSigning = endpoint({
  method: "POST",
  path: "/v1/signing/decline",
  id: "declineSigning",
  tag,
  summary: "Decline to sign; ends the envelope",
  credential: "signer",
  body: { ...json, schema: DeclineSigning },
  responses: { 200: { kind: "json", schema: SigningResult } },
  errors: [
    "otp-required",
    "feature-disabled",
    "not-recipients-turn",
    "recipient-finished",
    "envelope-not-in-progress",
    "conflict",
  ],
});

export const reassignSigning = endpoint({
  method: "POST",
  path: "/v1/signing/reassign",
  id: "reassignSigning",
  tag,
  summary: "Pass the signing on to another person, where the template allows it",
  credential: "signer",
  body: { ...json, schema: ReassignSigning },
  responses: { 200: { kind: "json", schema: Reassigned } },
  errors: [
    "otp-required",
    "feature-disabled",
    "not-recipients-turn",
    "recipient-finished",
    "envelope-not-in-progress",
    "conflict",
  ],
});

export const endpoints = [
  createSigningSession,
  getAttachment,
  exchangeSigningToken,
  requestFreshLink,
  getSigningSession,
  getSigningDocument,
  requestSigningCode,
  verifySigningCode,
  handOverSigningCode,
  uploadAttachment,
  fitSigningTexts,
  submitSigning,
  declineSigning,
  reassignSigning,
];
