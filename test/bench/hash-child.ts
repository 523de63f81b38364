import { createHash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import { workerData } from "node:worker_threads";

/** The floor of the check of files: reads them one after another and hashes them, as a plain tool does. */
const files: string[] = workerData;
const piece = Buffer.allocUnsafe(1024 * 1024);
for (const file of files) {
  const hash = createHash("sha256");
  const handle = openSync(file, "r");
  for (let length = readSync(handle, piece); length > 0; length = readSync(handle, piece))
    hash.update(piece.subarray(0, length));
  closeSync(handle);
  hash.digest();
}
