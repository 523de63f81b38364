import { WebBuffer } from "./buffer.ts";

/** Imported before anything of the validation, which takes `Buffer` for given. */
if (!("Buffer" in globalThis)) Object.assign(globalThis, { Buffer: WebBuffer });
