import { randomBytes } from "node:crypto";
import type { Handle, PKCS11, Template } from "pkcs11js";
import { KeyUnavailable } from "../unavailable.ts";
import {
  codeOf,
  explain,
  inTurn,
  type Library,
  lockedPin,
  logIn,
  missingToken,
  quietly,
  slotOf,
  stop,
} from "./library.ts";
import {
  attribute,
  classOf,
  derSignature,
  ec,
  ed,
  familyOf,
  flag,
  lost,
  publicKeyOf,
  rsa,
  type TokenKind,
  templates,
  toBeSigned,
} from "./values.ts";

/** Keys in a token that is reached through PKCS#11 (OASIS PKCS #11 v3.0). */

/** Gives out the PIN for one try. */
export type PinSource = {
  /** @throws KeyUnavailable when it cannot be read, or is the one that the token refused */
  take(): Promise<string>;
  /** The token did not accept it: nobody tries it again, for a few tries lock a token for good. */
  refused(): Promise<void>;
};

export type TokenState = { model: string; serial: string; slot: string; keys: number; missing: string[] };

/** The same calls with plain values, as they go from thread to thread. */
export type TokenCalls = {
  /** Whether the key can sign, without signing. @throws KeyUnavailable */
  find(keyId: string): Promise<void>;
  /** What a signature in a CMS or an anchor holds: PKCS#1 v1.5, DER-encoded ECDSA, or EdDSA. @throws KeyUnavailable */
  sign(keyId: string, kind: TokenKind, bytes: Uint8Array): Promise<Uint8Array>;
  /**
   * Makes a pair that never leaves the token.
   * @returns its `CKA_ID` in hex and its SubjectPublicKeyInfo. @throws KeyUnavailable
   */
  generate(kind: Exclude<TokenKind, "rsa-2048">, label: string): Promise<{ keyId: string; publicKey: Uint8Array }>;
  /** @throws KeyUnavailable */
  inspect(): Promise<TokenState>;
};

/** A token that was just found away is not asked again by everybody who waits for it. */
const restMs = 1000;

type Session = {
  handle: Handle;
  mechanisms: Set<number>;
  keys: Map<string, Handle>;
  model: string;
  serial: string;
  /** As the library numbers it, in hex. */
  slot: string;
};

/** Opens nothing yet: the first use loads the library and logs in. */
export function openToken({ module, label }: { module: string; label: string }, pins: PinSource): TokenCalls {
  let session: Session | undefined;
  let resting: { until: number; cause: KeyUnavailable } | undefined;

  async function use<T>(work: (api: PKCS11, session: Session) => T, anew = false): Promise<T> {
    return await inTurn(module, (library) => attempt(library, work, anew));
  }

  async function attempt<T>(library: Library, work: (api: PKCS11, session: Session) => T, anew: boolean): Promise<T> {
    if (!anew && resting && performance.now() < resting.until) throw resting.cause;
    let held = session;
    session = undefined;
    try {
      if (held) {
        try {
          const done = work(library.api, held);
          session = held;
          return done;
        } catch (error) {
          const code = codeOf(error);
          const away = code === undefined ? isMissingKey(error) : lost.has(code);
          if (!away) {
            session = held;
            throw error;
          }
          // A token that comes back after it was away shows its keys only to a library that starts anew.
          stop(library, held);
        }
      }
      held = await login(library);
      try {
        return work(library.api, held);
      } finally {
        // A key that is not in it says nothing against the session; what breaks it shows at the next use.
        session = held;
        resting = undefined;
      }
    } catch (error) {
      const cause = explain(error);
      if (session === undefined) resting = { until: performance.now() + restMs, cause };
      throw cause;
    }
  }

  async function login(library: Library): Promise<Session> {
    const { api } = library;
    const slot = slotOf(library, label);
    if (!slot) throw missingToken(module, label);
    const about = api.C_GetTokenInfo(slot);
    if ((about.flags & flag.pinLocked) !== 0) throw lockedPin(label);
    const pin = await pins.take();
    const handle = api.C_OpenSession(slot, flag.session | flag.readWrite);
    try {
      if (logIn(api, handle, { label, pin }) === "refused") {
        await pins.refused();
        throw new KeyUnavailable("pin-wrong", `the token ${JSON.stringify(label)} refused the PIN`);
      }
    } catch (error) {
      quietly(() => api.C_CloseSession(handle));
      throw error;
    }
    const mechanisms = new Set(api.C_GetMechanismList(slot));
    return {
      handle,
      mechanisms,
      keys: new Map(),
      model: about.model.trim(),
      serial: about.serialNumber.trim(),
      slot: slot.toString("hex"),
    };
  }

  function keyOf(api: PKCS11, open: Session, keyId: string): Handle {
    const known = open.keys.get(keyId);
    if (known) return known;
    const id = { type: attribute.id, value: Buffer.from(keyId, "hex") };
    const found = search(api, open, [{ type: attribute.class, value: classOf.private }, id]);
    const [key] = found;
    if (!key) throw new KeyUnavailable("key-missing", `the token ${JSON.stringify(label)} holds no key ${keyId}`);
    open.keys.set(keyId, key);
    return key;
  }

  return {
    find: (keyId) => use((api, open) => void keyOf(api, open, keyId)),
    sign: (keyId, kind, bytes) =>
      use((api, open) => {
        const family = familyOf(kind);
        need(open, family.sign, family.signName, label);
        api.C_SignInit(open.handle, { mechanism: family.sign }, keyOf(api, open, keyId));
        const raw = api.C_Sign(open.handle, toBeSigned(family, bytes), Buffer.alloc(1024));
        return family === ec ? derSignature(raw) : raw;
      }),
    generate: (kind, keyLabel) =>
      use((api, open) => {
        const family = familyOf(kind);
        need(open, family.generate, `the making of ${family.name} keys`, label);
        need(open, family.sign, family.signName, label);
        const id = randomBytes(16);
        const { publicTemplate, privateTemplate } = templates(kind, family, id, keyLabel);
        const pair = api.C_GenerateKeyPair(
          open.handle,
          { mechanism: family.generate },
          publicTemplate,
          privateTemplate,
        );
        const publicKey = publicKeyOf(api, open.handle, pair.publicKey, family);
        return { keyId: id.toString("hex"), publicKey: publicKey.export({ type: "spki", format: "der" }) };
      }),
    // An answer from a second ago would hide that the operator has just given the right PIN.
    inspect: () =>
      use(
        (api, open) => ({
          model: open.model,
          serial: open.serial,
          slot: open.slot,
          keys: search(api, open, [{ type: attribute.class, value: classOf.private }]).length,
          missing: [rsa, ec, ed].filter(({ sign }) => !open.mechanisms.has(sign)).map(({ signName }) => signName),
        }),
        true,
      ),
  };
}

function search(api: PKCS11, { handle }: Session, template: Template): Handle[] {
  api.C_FindObjectsInit(handle, template);
  try {
    const found: Handle[] = [];
    for (let batch = api.C_FindObjects(handle, 100); batch.length > 0; batch = api.C_FindObjects(handle, 100))
      found.push(...batch);
    return found;
  } finally {
    quietly(() => api.C_FindObjectsFinal(handle));
  }
}

function need({ mechanisms }: Session, mechanism: number, name: string, label: string): void {
  if (!mechanisms.has(mechanism))
    throw new KeyUnavailable("mechanism-missing", `the token ${JSON.stringify(label)} does not offer ${name}`);
}

const isMissingKey = (error: unknown) => error instanceof KeyUnavailable && error.code === "key-missing";
