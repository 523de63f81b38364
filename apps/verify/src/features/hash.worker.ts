import { sha256 } from "@noble/hashes/sha2.js";
import { toHex } from "../../../../server/features/evidence/anchor.ts";

/** Hashes a file of any size without holding it in memory. */
self.addEventListener("message", async ({ data }: MessageEvent<File>) => {
  const hash = sha256.create();
  const reader = data.stream().getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) hash.update(part.value);
  self.postMessage(toHex(hash.digest()));
});
