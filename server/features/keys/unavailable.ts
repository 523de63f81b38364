import type Catalogue from "../../../locales/en/findings.json";
import { english } from "../../kernel/english.ts";
import { AppError } from "../../kernel/errors.ts";

/** What keeps a key from being used; the wire and `--json` name it, and `keyTrouble` of the catalogue says what to do about it. */
export const keyTroubles = [
  "token-not-set",
  "module-missing",
  "token-missing",
  "pin-file-unreadable",
  "pin-wrong",
  "pin-locked",
  "mechanism-missing",
  "key-missing",
  "token-full",
  "token-failed",
] as const satisfies readonly (keyof (typeof Catalogue)["keyTrouble"])[];
export type KeyTrouble = (typeof keyTroubles)[number];

const remedyFor = (code: KeyTrouble): string => english<typeof Catalogue>("findings")(`keyTrouble.${code}`);

/** As it goes from thread to thread. */
export type Trouble = { code: KeyTrouble; message: string };

/**
 * A key cannot be used now: its token is away, locked, or lacks something. What wanted to sign waits and tries again; none
 * of this is a failure of the document. The message says what to do.
 */
export class KeyUnavailable extends Error {
  readonly code: KeyTrouble;
  /** What happened, without what to do about it. */
  readonly reason: string;
  constructor(code: KeyTrouble, reason: string, options?: ErrorOptions) {
    super(`${reason}: ${remedyFor(code)}`, options);
    this.name = "KeyUnavailable";
    this.code = code;
    this.reason = reason;
  }
}

/** As the detail of a problem document: the code stands first, so that a command finds it again. */
export const detailOf = ({ code, message }: KeyUnavailable): string => `${code}: ${message}`;

/** @returns undefined for the detail of another problem */
export function unavailableOf(detail: string): KeyUnavailable | undefined {
  const code = keyTroubles.find((one) => detail.startsWith(`${one}: `));
  if (code === undefined) return undefined;
  return new KeyUnavailable(code, detail.slice(code.length + 2, -`: ${remedyFor(code)}`.length));
}

/** Whatever an error is not, it is a token that failed. */
export function troubleOf(error: unknown): Trouble {
  return error instanceof KeyUnavailable
    ? { code: error.code, message: error.reason }
    : { code: "token-failed", message: String(error) };
}

/** @throws AppError `service-unavailable` instead of KeyUnavailable */
export async function usable<T>(work: Promise<T>): Promise<T> {
  return await work.catch((error: unknown) => {
    if (!(error instanceof KeyUnavailable)) throw error;
    throw new AppError("service-unavailable", { detail: detailOf(error), cause: error });
  });
}
