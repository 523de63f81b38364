import { readFile, stat } from "node:fs/promises";
import { KeyUnavailable } from "../unavailable.ts";
import type { PinSource } from "./pkcs11.ts";

/** Remembers the PIN that the token refused last, for this process and every other. */
export type PinMemory = {
  /** Of a PIN and the moment at which its file was written. */
  fingerprint(pin: string, writtenMs: number): string;
  refused(): Promise<string | undefined>;
  remember(fingerprint: string): Promise<void>;
};

/** The PIN in a file; one that was refused is not given out again until the file is written anew. */
export function pinSource({ label, pinFile }: { label: string; pinFile: string }, memory: PinMemory): PinSource {
  let taken: string | undefined;
  return {
    async take() {
      const pin = await readPin(pinFile);
      taken = memory.fingerprint(pin.text, pin.writtenMs);
      if ((await memory.refused()) === taken)
        throw new KeyUnavailable("pin-wrong", `the token ${JSON.stringify(label)} refused the PIN of ${pinFile}`);
      return pin.text;
    },
    async refused() {
      if (taken !== undefined) await memory.remember(taken);
    },
  };
}

/** The first line. @throws KeyUnavailable */
export async function readPin(file: string): Promise<{ text: string; writtenMs: number }> {
  try {
    const [{ mtimeMs }, text] = [await stat(file), await readFile(file, "utf8")];
    const [line = ""] = text.split(/\r?\n/);
    if (line === "") throw new Error("it is empty");
    return { text: line, writtenMs: mtimeMs };
  } catch (cause) {
    throw new KeyUnavailable("pin-file-unreadable", `the PIN file ${file} cannot be read`, { cause });
  }
}
