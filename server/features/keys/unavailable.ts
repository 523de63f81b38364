import { AppError } from "../../kernel/errors.ts";

/** What keeps a key from being used, and what to do about it; the wire and `--json` name it. */
export const remedies = {
  "token-not-set": "set SIGNET_PKCS11_MODULE, SIGNET_PKCS11_TOKEN and SIGNET_PKCS11_PIN_FILE",
  "module-missing": "set SIGNET_PKCS11_MODULE to the library that came with the HSM, and install what it needs",
  "token-missing":
    "plug the token in or start its service, and compare SIGNET_PKCS11_TOKEN with the label of the token",
  "pin-file-unreadable":
    "put the PIN into the first line of SIGNET_PKCS11_PIN_FILE, readable by the user that runs Signet",
  "pin-wrong": "write the right PIN into SIGNET_PKCS11_PIN_FILE: until that file is written anew nobody tries again",
  "pin-locked": "have the security officer of the token reset the user PIN, then write it into SIGNET_PKCS11_PIN_FILE",
  "mechanism-missing": "choose another --kind, or switch the mechanism on in the settings of the token",
  "key-missing": "put back the token that holds the key, or put another one into use: signet keys rotate",
  "token-full": "delete keys in the token that nobody needs, or use a larger one",
  "token-failed": "look at the log of the HSM; what waits for the key tries again by itself",
} as const;
export type KeyTrouble = keyof typeof remedies;
const codes = Object.keys(remedies) as KeyTrouble[];
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
    super(`${reason}: ${remedies[code]}`, options);
    this.name = "KeyUnavailable";
    this.code = code;
    this.reason = reason;
  }
}

/** As the detail of a problem document: the code stands first, so that a command finds it again. */
export const detailOf = ({ code, message }: KeyUnavailable): string => `${code}: ${message}`;

/** @returns undefined for the detail of another problem */
export function unavailableOf(detail: string): KeyUnavailable | undefined {
  const code = codes.find((one) => detail.startsWith(`${one}: `));
  if (code === undefined) return undefined;
  return new KeyUnavailable(code, detail.slice(code.length + 2, -`: ${remedies[code]}`.length));
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
