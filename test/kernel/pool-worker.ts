import { portsOf } from "../../workers/asking.ts";

// A worker file that misbehaves as its input says; `pool.test.ts` runs it in place of the product's tasks.
type Message = {
  task: string;
  input: { act: string; counter?: Uint8Array; pdf?: Uint8Array };
  call?: number;
};

export default async function run({ task, input, call = 0 }: Message): Promise<unknown> {
  const tries = input.counter === undefined ? 0 : Atomics.add(input.counter, 0, 1);
  switch (input.act) {
    case "exit once":
      if (tries === 0) process.exit(3);
      return { ok: true, value: task };
    case "count, exit once": {
      // A first try leaves its mark, so that the second shows whether it got the same memory.
      const [mark = 0, ...rest] = input.pdf ?? [];
      input.pdf?.fill(mark + 1, 0, 1);
      if (mark === 0) process.exit(3);
      return { ok: true, value: { mark, sum: rest.reduce((sum, byte) => sum + byte, 0) } };
    }
    case "exit":
      process.exit(3);
      break;
    case "throw":
      throw new Error("a defect");
    case "fill the memory": {
      const kept: string[][] = [];
      for (;;) kept.push(Array.from({ length: 100_000 }, () => String(Math.random())));
    }
    case "spin":
      for (;;);
    case "wait":
      return new Promise(() => undefined);
    case "ask": {
      const ports = portsOf(call);
      const bytes = new Uint8Array([1, 2, 3]);
      return { ok: true, value: [await ports.sign(bytes), await ports.signTimestamp(bytes)] };
    }
    case "memory":
      return { ok: true, value: input.pdf?.buffer.byteLength };
    case "environment":
      return { ok: true, value: Object.keys(process.env) };
    case "forge": {
      // A thread that was taken over asks in the name of whatever seal is under way.
      for (let other = 1; other <= 20; other += 1) void portsOf(other).sign(new Uint8Array([6, 6, 6]));
      return { ok: true, value: "asked" };
    }
    default:
      return { ok: true, value: input.act };
  }
}
