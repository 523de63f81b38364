import { z } from "zod";

/** A code and what it means: HTTP status, title, and the sentence used when nobody has a better one. */
type ProblemKind = { status: number; title: string; detail: string };

/** Every error the service can answer with (contract §1). The set is closed: a new code is a change of the contract. */
export const problemKinds = {
  "malformed-request": { status: 400, title: "Malformed request", detail: "The request body could not be read." },
  "invalid-idempotency-key": {
    status: 400,
    title: "Invalid Idempotency-Key",
    detail: "Idempotency-Key must be 1 to 255 printable ASCII characters.",
  },
  "invalid-signature": { status: 400, title: "Invalid signature", detail: "The signature header does not verify." },
  unauthorized: {
    status: 401,
    title: "Unauthorized",
    detail: "A valid API key is required: send it as `Authorization: Bearer <key>` or `x-api-key: <key>`.",
  },
  "token-invalid": { status: 401, title: "Token invalid", detail: "This token is not known." },
  "token-expired": { status: 401, title: "Token expired", detail: "This token has expired." },
  "token-used": { status: 401, title: "Token used", detail: "This token was already used." },
  "payment-required": {
    status: 402,
    title: "Payment required",
    detail: "The included envelopes of this period are used up.",
  },
  forbidden: { status: 403, title: "Forbidden", detail: "The credential does not allow this operation." },
  "plan-upgrade-required": {
    status: 403,
    title: "Plan upgrade required",
    detail: "The plan of the organization does not include this feature.",
  },
  "feature-disabled": { status: 403, title: "Feature disabled", detail: "This feature is switched off here." },
  "csrf-rejected": {
    status: 403,
    title: "Cross-site request rejected",
    detail: "The Origin header is missing or names another site.",
  },
  "otp-required": { status: 403, title: "Code required", detail: "Enter the one-time code first." },
  "fresh-sign-in-required": {
    status: 403,
    title: "Fresh sign-in required",
    detail: "Sign in again: this needs a sign-in less than 15 minutes old.",
  },
  "sso-required": {
    status: 403,
    title: "Company sign-in required",
    detail: "Sign in with your company's identity provider.",
  },
  "document-access-denied": {
    status: 403,
    title: "Document access denied",
    detail: "The sender has not allowed viewers to see the document.",
  },
  "not-found": {
    status: 404,
    title: "Not found",
    detail: "There is nothing at this address, or not for this credential.",
  },
  "method-not-allowed": {
    status: 405,
    title: "Method not allowed",
    detail: "This address does not support that method.",
  },
  "not-acceptable": {
    status: 406,
    title: "Not acceptable",
    detail: "The answer is not available in the accepted types.",
  },
  "idempotency-in-progress": {
    status: 409,
    title: "Request in progress",
    detail: "The first request with this Idempotency-Key is still running. Try again in a moment.",
  },
  conflict: { status: 409, title: "Conflict", detail: "The request conflicts with the present state." },
  "envelope-not-in-progress": {
    status: 409,
    title: "Envelope not in progress",
    detail: "The envelope is completed, declined, voided or expired.",
  },
  "not-recipients-turn": {
    status: 409,
    title: "Not this recipient's turn",
    detail: "It is not this recipient's turn.",
  },
  "recipient-finished": { status: 409, title: "Recipient finished", detail: "This recipient has already finished." },
  "document-not-ready": { status: 409, title: "Document not ready", detail: "The document is not ready yet." },
  "template-in-use": {
    status: 409,
    title: "Template in use",
    detail: "An envelope or a signing link used this template, so it cannot be deleted.",
  },
  "draft-missing": { status: 409, title: "No draft", detail: "The template has no draft to publish." },
  "no-published-version": {
    status: 409,
    title: "No published version",
    detail: "The template has no published version. Publish its draft first.",
  },
  "link-paused": { status: 409, title: "Link paused", detail: "This signing link is paused." },
  "link-unavailable": {
    status: 409,
    title: "Link unavailable",
    detail: "This signing link cannot be used at present.",
  },
  "endpoint-disabled": { status: 409, title: "Endpoint paused", detail: "The webhook endpoint is paused." },
  "mode-mismatch": { status: 409, title: "Mode mismatch", detail: "Test and live resources cannot be combined." },
  "sso-test-required": {
    status: 409,
    title: "SSO test required",
    detail: "Complete a test sign-in within the last 24 hours first.",
  },
  "last-owner": { status: 409, title: "Last owner", detail: "An organization keeps at least one owner." },
  "link-expired": { status: 410, title: "Link expired", detail: "This link has expired." },
  "precondition-failed": {
    status: 412,
    title: "Precondition failed",
    detail: "The resource was changed in the meantime. Load it again.",
  },
  "request-timeout": {
    status: 408,
    title: "Request timeout",
    detail: "The request did not arrive in time. Send it again, without a pause.",
  },
  "payload-too-large": { status: 413, title: "Payload too large", detail: "The request body is too large." },
  "unsupported-media-type": {
    status: 415,
    title: "Unsupported media type",
    detail: "The content type of the request body is not accepted here.",
  },
  "range-not-satisfiable": {
    status: 416,
    title: "Range not satisfiable",
    detail: "The file is shorter than the range that was asked for.",
  },
  "expectation-failed": {
    status: 417,
    title: "Expectation failed",
    detail: "The only value of Expect that is known here is `100-continue`.",
  },
  "validation-failed": { status: 422, title: "Validation failed", detail: "The request has invalid members." },
  "idempotency-key-reused": {
    status: 422,
    title: "Idempotency-Key reused",
    detail: "This Idempotency-Key was already used with a different request.",
  },
  "invalid-document": { status: 422, title: "Invalid document", detail: "The document cannot be used." },
  "render-failed": { status: 422, title: "Rendering failed", detail: "The document could not be rendered." },
  "otp-invalid": { status: 422, title: "Wrong code", detail: "The code is wrong." },
  "otp-expired": { status: 422, title: "Code expired", detail: "The code has expired. Request a new one." },
  "otp-exhausted": {
    status: 422,
    title: "Too many attempts",
    detail: "The code was tried too often. Request a new one.",
  },
  "attachment-rejected": { status: 422, title: "Attachment rejected", detail: "The attachment cannot be accepted." },
  "url-not-allowed": { status: 422, title: "URL not allowed", detail: "This URL cannot be called from here." },
  "invalid-saml-metadata": { status: 422, title: "Invalid SAML metadata", detail: "The SAML metadata cannot be used." },
  "document-changed": {
    status: 422,
    title: "Document changed",
    detail: "This is not a document that was shown to the recipient. Load it again.",
  },
  "rate-limited": { status: 429, title: "Too many requests", detail: "Too many requests. Try again later." },
  "headers-too-large": {
    status: 431,
    title: "Headers too large",
    detail: "The headers of the request are larger than 16 KB together.",
  },
  "internal-error": {
    status: 500,
    title: "Internal error",
    detail: "Something went wrong on our side. The request id helps the administrator to find the cause.",
  },
  "upstream-error": {
    status: 502,
    title: "Upstream error",
    detail: "A service that this needs did not answer properly.",
  },
  "service-unavailable": {
    status: 503,
    title: "Service unavailable",
    detail: "The service is busy or stopping. Try again.",
  },
  "billing-not-configured": {
    status: 503,
    title: "Billing not configured",
    detail: "No payment provider is configured on this appliance.",
  },
} as const satisfies Record<string, ProblemKind>;

export type ErrorCode = keyof typeof problemKinds;
export const errorCodes = Object.keys(problemKinds) as [ErrorCode, ...ErrorCode[]];

export const problemErrorCodes = [
  "required",
  "unknown",
  "type",
  "format",
  "pattern",
  "enum",
  "min",
  "max",
  "duplicate",
  "reference",
  "conflict",
] as const;
export type ProblemErrorCode = (typeof problemErrorCodes)[number];

const problemErrorCommon = { detail: z.string(), code: z.enum(problemErrorCodes) };
export const ProblemError = z
  .union([
    z.object({
      ...problemErrorCommon,
      pointer: z.string().meta({ description: "RFC 6901 in URI-fragment form; `#` is the whole body" }),
    }),
    z.object({ ...problemErrorCommon, parameter: z.string() }),
    z.object({ ...problemErrorCommon, header: z.string() }),
  ])
  .meta({ id: "ProblemError" });
export type ProblemError = z.infer<typeof ProblemError>;

/** RFC 9457 problem document as this service sends it (contract §1). */
export const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.enum(errorCodes),
    instance: z.string().meta({ description: "The route template, never the path with its tokens" }),
    requestId: z.string(),
    errors: z.array(ProblemError).optional(),
    upgradeUrl: z.string().optional(),
    permission: z.string().optional(),
    attemptsRemaining: z.int().optional(),
    retryAfter: z.number().optional(),
  })
  .meta({ id: "Problem" });
export type Problem = z.infer<typeof Problem>;

/**
 * Builds a JSON Pointer in URI-fragment form (RFC 6901 §6).
 * @example pointer(["recipients", 0, "email"]) === "#/recipients/0/email"
 */
export function pointer(path: readonly (string | number)[]): string {
  return `#${path.map((part) => `/${encodeURIComponent(String(part).replaceAll("~", "~0").replaceAll("/", "~1"))}`).join("")}`;
}
