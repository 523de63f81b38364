import { setTimeout } from "node:timers/promises";

/**
 * What is done in the folder of a witness, which may be a share of another machine: one act after the other, each with a time
 * limit. An act that waits for a share that hangs keeps a thread of the process for itself, and there are four.
 */

const patienceMs = 5000;
/** The end of what was begun last, by folder. */
const begun = new Map<string, Promise<unknown>>();

/**
 * @throws Error when the share does not answer in time, though what was begun may still be done later; what `act` throws. An act
 *   whose turn did not come in time is never begun.
 */
export async function atShare<T>(folder: string, act: () => Promise<T>): Promise<T> {
  const late = new AbortController();
  const begin = async () => {
    late.signal.throwIfAborted();
    return await act();
  };
  const before = begun.get(folder) ?? Promise.resolve();
  const done = before.then(begin, begin);
  begun.set(folder, done);
  const inTime = new AbortController();
  const end = setTimeout(patienceMs, undefined, { signal: inTime.signal, ref: false }).then(() => {
    late.abort();
    throw new Error(`${folder} does not answer`);
  });
  try {
    return await Promise.race([done, end]);
  } finally {
    inTime.abort();
  }
}
