import { createPrivateKey, createPublicKey, generateKeyPair, generateKeyPairSync } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { z } from "zod";

/**
 * RSA keys of 3072 bits, kept from run to run: a new appliance makes two, which takes most of its start. They are given out in turn,
 * so appliances that run side by side have different ones.
 */

const file = path.resolve(import.meta.dirname, "../../node_modules/.cache/signet-test/rsa-3072.json");
const many = 24;
const modulusLength = 3072;

/** Makes the stock where there is none yet: some eight seconds of processor time. */
export function makeKeyStock(): void {
  if (existsSync(file)) return;
  const keys = Array.from({ length: many }, () =>
    generateKeyPairSync("rsa", { modulusLength }).privateKey.export({ type: "pkcs8", format: "pem" }),
  );
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(`${file}.${process.pid}`, JSON.stringify(keys));
  renameSync(`${file}.${process.pid}`, file);
}

const takingFrom = Symbol.for("signet.test.key-stock");

/** From now on this process takes such keys from the stock, where there is one. Other keys are made as always. */
export function useKeyStock(): void {
  const crypto: { generateKeyPair: unknown } = createRequire(import.meta.url)("node:crypto");
  if (takingFrom in globalThis || !existsSync(file)) return;
  Object.defineProperty(globalThis, takingFrom, { value: true });
  const keys = z.array(z.string()).parse(JSON.parse(readFileSync(file, "utf8")));
  let next = Math.floor(Math.random() * keys.length);
  const make = promisify(generateKeyPair);
  const taken = async (type: string, options: { modulusLength?: number } = {}): Promise<unknown> => {
    if (type !== "rsa" || options.modulusLength !== modulusLength)
      return await Reflect.apply(make, undefined, [type, options]);
    const privateKey = createPrivateKey(keys[next++ % keys.length] ?? "");
    return { privateKey, publicKey: createPublicKey(privateKey) };
  };
  crypto.generateKeyPair = Object.assign(() => Promise.reject(new Error("Use it by promisify.")), {
    [promisify.custom]: taken,
  });
  syncBuiltinESMExports();
}
