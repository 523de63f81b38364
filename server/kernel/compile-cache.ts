import path from "node:path";

/**
 * Where Node keeps compiled code: with the installation, never in a folder that others can write. Where it cannot be written, nothing
 * is kept. It makes a start of the server three times as fast, and one of a thread four times.
 */
export const compileCacheFolder = path.resolve(import.meta.dirname, "../../node_modules/.cache/signet");
