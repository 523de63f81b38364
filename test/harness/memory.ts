import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { z } from "zod";

setFlagsFromString("--expose-gc");
const collect = z.custom<() => void>((value) => typeof value === "function").parse(runInNewContext("gc"));

const held = (): number => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

/**
 * The bytes that this process still holds once its garbage is collected: JavaScript objects and buffers. The resident
 * size is no such measure, it grows with how late the collector comes on a busy machine. Buffers are given back by a
 * thread of their own and by finalizers, after the collection: it is repeated until nothing more comes back.
 */
export async function heldBytes(): Promise<number> {
  let least = held();
  for (let calm = 0; calm < 3; ) {
    await new Promise((resolve) => setImmediate(resolve));
    const now = held();
    calm = now < least - 64 * 1024 ? 0 : calm + 1;
    least = Math.min(least, now);
  }
  return least;
}
