/** The public face of the package `@signet/sdk`. */

export type * from "./api.ts";
export { Signet } from "./client.ts";
export { SignetConnectionError, SignetError } from "./errors.ts";
export type * from "./options.ts";
export type { List, Page } from "./pages.ts";
export { type VerifyWebhookInput, verifyWebhook, type WebhookFault, WebhookVerificationError } from "./webhooks.ts";
