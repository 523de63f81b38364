import { toHex } from "../../../../server/features/evidence/anchor.ts";

/** Files up to this size are hashed at once by the browser's own code; larger ones chunk by chunk, off the main thread. */
const atOnce = 64 * 1024 * 1024;

/** The SHA-256 of a file, lower-case hex. The file never leaves the browser. */
export async function fingerprint(file: File): Promise<string> {
  if (file.size > atOnce || !("subtle" in crypto)) return inWorker(file);
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer())));
}

function inWorker(file: File): Promise<string> {
  const worker = new Worker(new URL("./hash.worker.ts", import.meta.url), { type: "module" });
  return new Promise<string>((resolve, reject) => {
    worker.addEventListener("message", ({ data }: MessageEvent<string>) => resolve(data));
    worker.addEventListener("error", (event) => reject(new Error(event.message)));
    worker.postMessage(file);
  }).finally(() => worker.terminate());
}
