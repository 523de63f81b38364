import type { Handle, PKCS11 } from "pkcs11js";
import { KeyUnavailable } from "../unavailable.ts";
import { trustedModule } from "./module-owner.ts";
import { flag, rv, user } from "./values.ts";

/**
 * A PKCS#11 library in this process: the only file that loads pkcs11js. Its calls block until the token has answered, so it
 * runs in the thread of `token-thread.ts` and nowhere else.
 */

/** One loaded library: it knows only one state for the whole process, so calls follow one another. */
export type Library = { api: PKCS11; mine: boolean; started: boolean; queue: Promise<unknown> };
const libraries = new Map<string, Promise<Library>>();

/** Does something with a library when everything before it is done. @throws KeyUnavailable when it cannot be loaded */
export async function inTurn<T>(module: string, work: (library: Library) => T | Promise<T>): Promise<T> {
  const library = await load(module);
  const turn = library.queue.then(() => work(library));
  library.queue = turn.catch(() => undefined);
  return await turn;
}

function load(module: string): Promise<Library> {
  let library = libraries.get(module);
  if (!library) {
    library = loadLibrary(module);
    libraries.set(module, library);
    // The next caller tries again.
    library.catch(() => libraries.delete(module));
  }
  return library;
}

async function loadLibrary(module: string): Promise<Library> {
  const loaded = await import("pkcs11js").catch((cause: unknown) => {
    throw new KeyUnavailable("module-missing", "this installation lacks the optional package pkcs11js", { cause });
  });
  const api = new loaded.default.PKCS11();
  try {
    api.load(trustedModule(module));
  } catch (cause) {
    if (cause instanceof KeyUnavailable) throw cause;
    throw new KeyUnavailable("module-missing", `the PKCS#11 library ${module} cannot be loaded`, { cause });
  }
  return { api, mine: false, started: false, queue: Promise.resolve() };
}

export function start(library: Library): void {
  if (library.started) return;
  try {
    library.api.C_Initialize({ flags: flag.osLocking });
    library.mine = true;
  } catch (error) {
    // Another thread of this process has it open.
    if (codeOf(error) !== rv.alreadyInitialized) throw error;
    library.mine = false;
  }
  library.started = true;
}

/** @param session the one that is open in it, if any */
export function stop(library: Library, session?: { handle: Handle }): void {
  if (session) quietly(() => library.api.C_CloseSession(session.handle));
  if (library.mine) quietly(() => library.api.C_Finalize());
  library.started = false;
}

/** The slot of a token, by the token's label; the library begins anew once when it does not see it. */
export function slotOf(library: Library, label: string): Handle | undefined {
  start(library);
  const found = labelled(library.api, label);
  if (found || !library.mine) return found;
  stop(library);
  start(library);
  return labelled(library.api, label);
}

function labelled(api: PKCS11, label: string): Handle | undefined {
  return api.C_GetSlotList(true).find((slot) => {
    try {
      return api.C_GetTokenInfo(slot).label.replaceAll("\0", "").trimEnd() === label;
    } catch {
      // One that is just being taken away.
      return false;
    }
  });
}

/**
 * One try of a PIN in an open session; another session of this process may have logged in already.
 * @throws KeyUnavailable when the PIN is locked; whatever else the library answers
 */
export function logIn(
  api: PKCS11,
  handle: Handle,
  { label, pin, anew = false }: { label: string; pin: string /** Also when somebody is logged in. */; anew?: boolean },
): "accepted" | "refused" {
  try {
    api.C_Login(handle, user, pin);
    return "accepted";
  } catch (error) {
    const code = codeOf(error);
    if (code === rv.alreadyLoggedIn) {
      if (!anew) return "accepted";
      api.C_Logout(handle);
      return logIn(api, handle, { label, pin });
    }
    if (code === rv.pinLocked) throw lockedPin(label);
    if (code !== undefined && rv.pinIncorrect.includes(code)) return "refused";
    throw error;
  }
}

export const missingToken = (module: string, label: string) =>
  new KeyUnavailable("token-missing", `there is no token ${JSON.stringify(label)} in ${module}`);

export const lockedPin = (label: string) =>
  new KeyUnavailable("pin-locked", `the PIN of the token ${JSON.stringify(label)} is locked`);

/** The CKR_ number of what the library answered. */
export function codeOf(error: unknown): number | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "number" ? error.code : undefined;
}

export function explain(error: unknown): KeyUnavailable {
  if (error instanceof KeyUnavailable) return error;
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (code !== undefined && rv.mechanismInvalid.includes(code))
    return new KeyUnavailable("mechanism-missing", `the token cannot do that: ${message}`, { cause: error });
  if (code === rv.deviceMemory)
    return new KeyUnavailable("token-full", `the token has no room for another key: ${message}`, { cause: error });
  if (code === 0xe0 || code === 0xe1 || code === 0x32)
    return new KeyUnavailable("token-missing", `the token is away: ${message}`, { cause: error });
  return new KeyUnavailable("token-failed", `the token failed: ${message}`, { cause: error });
}

/** Leaves things behind tidily, whatever state they are in. */
export function quietly(act: () => void): void {
  try {
    act();
  } catch {
    // It is gone already.
  }
}
