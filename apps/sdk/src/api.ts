/**
 * Stands for the types that `scripts/build-sdk.ts` writes from the endpoint table: in the package, `api.d.ts` takes the place of this
 * file's declarations.
 */

export type ErrorCode = string;

export type ProblemError = { detail: string; code: string; pointer?: string; parameter?: string; header?: string };

export type WebhookEvent = { id: string; type: string; createdAt: string; testMode: boolean };

/** The groups of operations, by name. */
export type Resources = Readonly<Record<string, Readonly<Record<string, (...args: unknown[]) => unknown>>>>;
