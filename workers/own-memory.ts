/**
 * The bytes in memory of their own. A message to another thread carries the whole memory behind a view: for a short Buffer
 * that is Node's pool of 64 KiB, which the other side keeps until its next full collection.
 */
export function ownMemory(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}
