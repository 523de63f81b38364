import { parentPort, workerData } from "node:worker_threads";
import { type BlobCheck, checkFolder } from "./blob-check.ts";
import type { CheckOrder } from "./blob-format.ts";

/** A thread of `blob-walk.ts`: checks one folder of blobs after another, until it is told that there are no more. */
const about: BlobCheck = workerData;
const port = parentPort;
port?.on("message", (order: CheckOrder | null) =>
  order === null ? port.close() : checkFolder(about, order, (part) => port.postMessage(part)),
);
