import { types } from "node:util";

/**
 * The same data in memory of its own, for a thread that must see nothing else: a message carries the whole memory behind a
 * view, and behind a short Buffer that is a pool that other parts of the process share.
 * @throws TypeError for anything but texts, numbers, bytes, and arrays and plain objects of these: no key passes
 */
export function plainData(data: unknown): unknown {
  if (typeof data === "function" || typeof data === "symbol") throw notPlain();
  if (typeof data !== "object" || data === null) return data;
  if (types.isUint8Array(data)) return isWhole(data) ? data : new Uint8Array(data);
  if (Array.isArray(data)) return data.map((one: unknown) => plainData(one));
  const prototype: unknown = Object.getPrototypeOf(data);
  if (prototype !== Object.prototype && prototype !== null) throw notPlain();
  return Object.fromEntries(Object.entries(data).map(([name, value]: [string, unknown]) => [name, plainData(value)]));
}

/** What was put into shared memory was put there for the thread. */
function isWhole({ buffer, byteLength }: Uint8Array): boolean {
  return buffer instanceof SharedArrayBuffer || byteLength === buffer.byteLength;
}

const notPlain = () => new TypeError("a thread that reads bytes from outside is given plain data only");
