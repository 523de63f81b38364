import { parentPort } from "node:worker_threads";
import { KeyUnavailable, troubleOf } from "../unavailable.ts";
import { openToken, type PinSource, type TokenCalls } from "./pkcs11.ts";
import { listSlots, tryPin } from "./slots.ts";
import type { FromToken, ToToken } from "./token.ts";

/** The thread in which a PKCS#11 library runs: its calls block, so nothing else may wait behind them. */

if (!parentPort) throw new Error("this file runs as a thread");
const port = parentPort;
const tokens = new Map<string, TokenCalls>();
const asked = new Map<number, { resolve: (pin: string) => void; reject: (cause: unknown) => void }>();
let questions = 0;

const say = (message: FromToken) => port.postMessage(message);

/** The PIN lies with the main thread, which reads its file and remembers what was refused. */
function pinsOf(token: string): PinSource {
  const ask = (pin: "take" | "refused") =>
    new Promise<string>((resolve, reject) => {
      questions += 1;
      asked.set(questions, { resolve, reject });
      say({ ask: questions, token, pin });
    });
  return { take: () => ask("take"), refused: async () => void (await ask("refused")) };
}

async function answer(message: Extract<ToToken, { call: number }>): Promise<unknown> {
  const { token: name, module, label, act } = message;
  if (act.do === "slots") return await listSlots(module);
  if (act.do === "try-pin") return await tryPin(module, label, act.pin);
  const token = tokens.get(name) ?? openToken({ module, label }, pinsOf(name));
  tokens.set(name, token);
  if (act.do === "find") return await token.find(act.keyId);
  if (act.do === "sign") return await token.sign(act.keyId, act.kind, act.bytes);
  if (act.do === "generate") return await token.generate(act.kind, act.label);
  return await token.inspect();
}

port.on("message", (message: ToToken) => {
  if ("pin" in message || "trouble" in message) {
    const question = asked.get(message.asked);
    asked.delete(message.asked);
    if ("pin" in message) question?.resolve(message.pin);
    else question?.reject(new KeyUnavailable(message.trouble.code, message.trouble.message));
    return;
  }
  answer(message).then(
    (value) => say({ answer: message.call, value }),
    (error: unknown) => {
      say({ answer: message.call, trouble: troubleOf(error) });
    },
  );
});
