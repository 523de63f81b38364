import { explain, inTurn, lockedPin, logIn, missingToken, quietly, slotOf, start, stop } from "./library.ts";
import { flag } from "./values.ts";

/** The tokens of a PKCS#11 library, before any of them is the one of the settings. */

export type SlotInfo = {
  slot: string;
  label: string;
  model: string;
  serial: string;
  manufacturer: string;
  initialized: boolean;
};

const initializedFlag = 0x400;

/** The tokens that a library offers; logs in to none. @throws KeyUnavailable */
export async function listSlots(module: string): Promise<SlotInfo[]> {
  const looked = inTurn(module, (library) => {
    start(library);
    return library.api.C_GetSlotList(true).flatMap((slot): SlotInfo[] => {
      try {
        const about = library.api.C_GetTokenInfo(slot);
        const plain = (text: string) => text.replaceAll("\0", "").trim();
        return [
          {
            slot: slot.toString("hex"),
            label: plain(about.label),
            model: plain(about.model),
            serial: plain(about.serialNumber),
            manufacturer: plain(about.manufacturerID),
            initialized: (about.flags & initializedFlag) !== 0,
          },
        ];
      } catch {
        // One that is just being taken away.
        return [];
      }
    });
  });
  return await looked.catch((error: unknown) => {
    throw explain(error);
  });
}

/** How many tries the token still allows, as far as it tells (CK_TOKEN_INFO flags): it names no number. */
export type PinTries = "all" | "fewer" | "last" | "none";
export type PinTry = { accepted: boolean; tries: PinTries };

/**
 * Tries a PIN exactly once, also while the server is logged in with another one: its next call then logs in again.
 * @throws KeyUnavailable when the token is away or its PIN locked, which takes no try
 */
export async function tryPin(module: string, label: string, pin: string): Promise<PinTry> {
  const tried = inTurn(module, (library): PinTry => {
    const { api } = library;
    // A library that has run for long may know an old PIN only; whoever had a session in it begins another.
    stop(library);
    const slot = slotOf(library, label);
    if (!slot) throw missingToken(module, label);
    const tries = (): PinTries => {
      const { flags } = api.C_GetTokenInfo(slot);
      if ((flags & flag.pinLocked) !== 0) return "none";
      if ((flags & flag.pinFinalTry) !== 0) return "last";
      return (flags & flag.pinCountLow) !== 0 ? "fewer" : "all";
    };
    if (tries() === "none") throw lockedPin(label);
    const handle = api.C_OpenSession(slot, flag.session | flag.readWrite);
    try {
      const accepted = logIn(api, handle, { label, pin, anew: true }) === "accepted";
      return { accepted, tries: tries() };
    } finally {
      quietly(() => api.C_CloseSession(handle));
    }
  });
  return await tried.catch((error: unknown) => {
    throw explain(error);
  });
}
