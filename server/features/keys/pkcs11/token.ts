import { createPublicKey, type KeyObject } from "node:crypto";
import { Worker } from "node:worker_threads";
import { z } from "zod";
import { KeyUnavailable, type Trouble, troubleOf } from "../unavailable.ts";
import { type PinMemory, pinSource } from "./pins.ts";
import type { PinSource, TokenState } from "./pkcs11.ts";
import type { PinTry, SlotInfo } from "./slots.ts";
import type { TokenKind } from "./values.ts";

/** A token as the rest of the house sees it: its library runs in a thread of its own, so that no call holds up the server. */

export type TokenSettings = { module: string; label: string; pinFile: string };

export type Token = {
  /** Whether the key can sign, without signing. @throws KeyUnavailable */
  find(keyId: string): Promise<void>;
  /** What a signature in a CMS or an anchor holds: PKCS#1 v1.5, DER-encoded ECDSA, or EdDSA. @throws KeyUnavailable */
  sign(keyId: string, kind: TokenKind, bytes: Uint8Array): Promise<Buffer>;
  /** Makes a pair that never leaves the token. @returns its `CKA_ID` in hex. @throws KeyUnavailable */
  generate(kind: Exclude<TokenKind, "rsa-2048">, label: string): Promise<{ keyId: string; publicKey: KeyObject }>;
  /** @throws KeyUnavailable */
  inspect(): Promise<TokenState>;
};

type Act =
  | { do: "find"; keyId: string }
  | { do: "sign"; keyId: string; kind: TokenKind; bytes: Uint8Array }
  | { do: "generate"; kind: Exclude<TokenKind, "rsa-2048">; label: string }
  | { do: "inspect" }
  | { do: "slots" }
  | { do: "try-pin"; pin: string };
export type ToToken =
  | { call: number; token: string; module: string; label: string; act: Act }
  | { asked: number; pin: string }
  | { asked: number; trouble: Trouble };
export type FromToken =
  | { answer: number; value: unknown }
  | { answer: number; trouble: Trouble }
  | { ask: number; token: string; pin: "take" | "refused" };

const Bytes = z.instanceof(Uint8Array);
const Pair = z.object({ keyId: z.string(), publicKey: Bytes });
const State: z.ZodType<TokenState> = z.object({
  model: z.string(),
  serial: z.string(),
  slot: z.string(),
  keys: z.number(),
  missing: z.array(z.string()),
});

const Slots: z.ZodType<SlotInfo[]> = z.array(
  z.object({
    slot: z.string(),
    label: z.string(),
    model: z.string(),
    serial: z.string(),
    manufacturer: z.string(),
    initialized: z.boolean(),
  }),
);

/** A token makes an RSA key of 4096 bits in this time, or it does not answer any more. */
const patienceMs = 120_000;

/** One thread a library: the library itself knows only one state for the whole process. */
const threads = new Map<string, Thread>();
let opened = 0;

/** Opens nothing yet: the first use starts the thread, loads the library and logs in. */
export function openToken(settings: TokenSettings, memory: PinMemory): Token {
  const { module, label } = settings;
  opened += 1;
  const token = String(opened);
  const pins = pinSource(settings, memory);
  const ask = (act: Act): Promise<unknown> => threadOf(module).ask(token, label, act, pins);
  return {
    find: async (keyId) => void (await ask({ do: "find", keyId })),
    sign: async (keyId, kind, bytes) => Buffer.from(Bytes.parse(await ask({ do: "sign", keyId, kind, bytes }))),
    async generate(kind, keyLabel) {
      const { keyId, publicKey } = Pair.parse(await ask({ do: "generate", kind, label: keyLabel }));
      return { keyId, publicKey: createPublicKey({ key: Buffer.from(publicKey), type: "spki", format: "der" }) };
    },
    inspect: async () => State.parse(await ask({ do: "inspect" })),
  };
}

/** The tokens that a library offers, without logging in to any. @throws KeyUnavailable */
export async function listSlots(module: string): Promise<SlotInfo[]> {
  return Slots.parse(await threadOf(module).ask("", "", { do: "slots" }, noPin));
}

const Tried: z.ZodType<PinTry> = z.object({
  accepted: z.boolean(),
  tries: z.enum(["all", "fewer", "last", "none"]),
});

/** Tries a PIN exactly once. @throws KeyUnavailable when the token is away or its PIN locked */
export async function tryPin({ module, label }: { module: string; label: string }, pin: string): Promise<PinTry> {
  return Tried.parse(await threadOf(module).ask("", label, { do: "try-pin", pin }, noPin));
}

const noPin: PinSource = {
  take: () => Promise.reject(new KeyUnavailable("pin-file-unreadable", "no PIN file is read here")),
  refused: async () => undefined,
};

function threadOf(module: string): Thread {
  let thread = threads.get(module);
  if (!thread) {
    thread = startThread(module);
    threads.set(module, thread);
  }
  return thread;
}

type Waiting = { resolve: (value: unknown) => void; reject: (cause: unknown) => void };
type Thread = { ask(token: string, label: string, act: Act, pins: PinSource): Promise<unknown> };

function startThread(module: string): Thread {
  const worker = new Worker(new URL("./token-thread.ts", import.meta.url));
  const waiting = new Map<number, Waiting>();
  const sources = new Map<string, PinSource>();
  // Nobody who asks while one call hangs adds to the heap; the first answer that comes ends it.
  let silent = false;
  let calls = 0;

  function end(number: number): Waiting | undefined {
    const call = waiting.get(number);
    waiting.delete(number);
    // Without work the thread keeps no process alive.
    if (waiting.size === 0) worker.unref();
    return call;
  }

  async function givePin(number: number, source: PinSource | undefined, pin: "take" | "refused"): Promise<void> {
    const reply = (message: ToToken) => worker.postMessage(message);
    try {
      const text = pin === "take" ? await source?.take() : await source?.refused();
      reply({ asked: number, pin: text ?? "" });
    } catch (error) {
      reply({ asked: number, trouble: troubleOf(error) });
    }
  }

  worker.on("message", (message: FromToken) => {
    if ("ask" in message) return void givePin(message.ask, sources.get(message.token), message.pin);
    silent = false;
    const call = end(message.answer);
    if ("trouble" in message) call?.reject(new KeyUnavailable(message.trouble.code, message.trouble.message));
    else call?.resolve(message.value);
  });
  const failed = (cause: unknown) => {
    // The next call starts another.
    if (threads.get(module) === thread) threads.delete(module);
    for (const number of [...waiting.keys()])
      end(number)?.reject(new KeyUnavailable("token-failed", "the thread of the token ended", { cause }));
  };
  worker.on("error", failed);
  worker.on("exit", failed);

  const thread: Thread = {
    async ask(token, label, act, pins) {
      if (silent) throw unanswered(module);
      sources.set(token, pins);
      calls += 1;
      const number = calls;
      let timer: NodeJS.Timeout | undefined;
      try {
        return await new Promise((resolve, reject) => {
          waiting.set(number, { resolve, reject });
          worker.ref();
          timer = setTimeout(() => {
            silent = true;
            end(number)?.reject(unanswered(module));
          }, patienceMs);
          worker.postMessage({ call: number, token, module, label, act } satisfies ToToken);
        });
      } finally {
        clearTimeout(timer);
      }
    },
  };
  return thread;
}

const unanswered = (module: string) =>
  new KeyUnavailable("token-failed", `the PKCS#11 library ${module} does not answer`);
