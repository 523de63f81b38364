import { expect, onTestFinished, test } from "vitest";
import { openPool, type Pool, PoolBusy, type PoolOptions, TaskCrashed, TaskTimeout } from "../../server/kernel/pool.ts";
import type { TaskPorts } from "../../workers/protocol.ts";

function open(options: PoolOptions = {}): Pool {
  const pool = openPool({ threads: 1, file: new URL("./pool-worker.ts", import.meta.url), ...options });
  onTestFinished(() => pool.close());
  return pool;
}

/** The stand-in worker reads `act` where the product's reads a document. */
const act = (what: string, counter?: SharedArrayBuffer) => ({ act: what, counter }) as never;

test("a task runs in a thread, and no thread is started before", async () => {
  const pool = open();
  expect(pool.stats()).toEqual({ threads: 1, running: 0, waiting: 0, completed: 0, crashed: 0 });
  expect(await pool.run("stamp", act("x"))).toEqual({ ok: true, value: "x" });
  expect(pool.stats()).toMatchObject({ running: 0, completed: 1 });
});

test("a task whose worker ends is tried once more on a fresh one", async () => {
  const pool = open();
  const counter = new SharedArrayBuffer(4);
  expect(await pool.run("stamp", act("exit once", counter))).toEqual({ ok: true, value: "stamp" });
  expect(new Int32Array(counter)[0]).toBe(2);
  await expect(pool.run("stamp", act("exit"))).rejects.toThrow(TaskCrashed);
  const defect = await pool.run("stamp", act("throw")).catch((error: unknown) => error);
  expect(defect).toBeInstanceOf(TaskCrashed);
  expect(defect).toMatchObject({ cause: { message: "a defect" } });
  expect(await pool.run("stamp", act("x"))).toEqual({ ok: true, value: "x" });
  expect(pool.stats().crashed).toBe(5);
});

test("a large document is shared with the thread, also for the second try, and stays the caller's as it was", async () => {
  const pool = open();
  const size = 1024 * 1024;
  const pdf = new Uint8Array(size).fill(1);
  pdf[0] = 0;
  const input = { act: "count, exit once", pdf } as never;
  expect(await pool.run("stamp", input)).toEqual({ ok: true, value: { mark: 1, sum: size - 1 } });
  expect(pdf.length).toBe(size);
  expect(pdf[0]).toBe(0);
});

test("a task that takes too long, spins or is called off is ended, and the next one runs", async () => {
  const pool = open();
  await expect(pool.run("stamp", act("wait"), { timeoutMs: 50 })).rejects.toThrow(TaskTimeout);
  await expect(pool.run("stamp", act("spin"), { timeoutMs: 300 })).rejects.toThrow(TaskTimeout);
  const controller = new AbortController();
  const calledOff = pool.run("stamp", act("wait"), { signal: controller.signal });
  const waiting = pool.run("stamp", act("x"), { signal: controller.signal });
  controller.abort(new Error("the service stops"));
  await expect(calledOff).rejects.toThrow("the service stops");
  await expect(waiting).rejects.toThrow("the service stops");
  expect(await pool.run("stamp", act("x"))).toEqual({ ok: true, value: "x" });
});

test("a task that nobody wants any more while it waits is not begun, and one that has begun goes on", async () => {
  const pool = open();
  const leave = new AbortController();
  let answer: ((bytes: Uint8Array) => void) | undefined;
  const sign = () => new Promise<Uint8Array>((resolve) => (answer = resolve));
  const refuse = () => Promise.reject(new Error("not asked"));
  const others = { timestampTime: refuse, requestTimestamp: refuse, revocationList: refuse };
  const ports: TaskPorts = { sign, signTimestamp: async (bytes) => bytes, ...others };
  const begun = pool.run("seal", act("ask"), { ports, whileWaiting: leave.signal });
  const waiting = pool.run("stamp", act("x"), { whileWaiting: leave.signal });
  await expect.poll(() => answer).toBeDefined();
  leave.abort(new Error("left"));
  await expect(waiting).rejects.toThrow("left");
  answer?.(new Uint8Array([7]));
  expect(await begun).toEqual({ ok: true, value: [new Uint8Array([7]), new Uint8Array([1, 2, 3])] });
  await expect(pool.run("stamp", act("x"), { whileWaiting: leave.signal })).rejects.toThrow("left");
  expect(pool.stats()).toMatchObject({ running: 0, waiting: 0, completed: 1, crashed: 0 });
});

test("a full queue refuses, and the waiting ones come in their order", async () => {
  const pool = open({ maxQueue: 2 });
  const order: string[] = [];
  const note = async (name: string, what = name) => {
    await pool.run("stamp", act(what)).then(
      () => order.push(name),
      (error: unknown) => order.push(error instanceof PoolBusy ? `${name} refused` : String(error)),
    );
  };
  await Promise.all([note("a"), note("b"), note("c"), note("d")]);
  expect(order).toEqual(["d refused", "a", "b", "c"]);
});

test("a seal's questions are answered over its port; what a port throws comes out unchanged", async () => {
  const pool = open();
  const asked: string[] = [];
  const ports: TaskPorts = {
    async sign(bytes) {
      asked.push(`sign ${bytes}`);
      return new Uint8Array([4]);
    },
    async signTimestamp(bytes) {
      asked.push(`signTimestamp ${bytes}`);
      return new Uint8Array([5]);
    },
    timestampTime: () => Promise.reject(new Error("not asked")),
    requestTimestamp: () => Promise.reject(new Error("not asked")),
    revocationList: () => Promise.reject(new Error("not asked")),
  };
  expect(await pool.run("seal", act("ask"), { ports })).toEqual({
    ok: true,
    value: [new Uint8Array([4]), new Uint8Array([5])],
  });
  expect(asked).toEqual(["sign 1,2,3", "signTimestamp 1,2,3"]);
  const down = new RangeError("the authority does not answer");
  const failing = {
    ...ports,
    signTimestamp: async () => {
      throw down;
    },
  };
  await expect(pool.run("seal", act("ask"), { ports: failing })).rejects.toBe(down);
  expect(asked).toEqual(["sign 1,2,3", "signTimestamp 1,2,3", "sign 1,2,3"]);
  expect(pool.stats().crashed).toBe(0);
});

test("each of several threads gets the answers to its own questions, also the one that follows a thread that ended", async () => {
  const pool = open({ threads: 2 });
  const asking = async (own: number) => {
    const answer = async (bytes: Uint8Array) => new Uint8Array([own, ...bytes]);
    const refuse = () => Promise.reject(new Error("not asked"));
    const others = { timestampTime: refuse, requestTimestamp: refuse, revocationList: refuse };
    const result = await pool.run("seal", act("ask"), { ports: { sign: answer, signTimestamp: answer, ...others } });
    expect(result).toEqual({ ok: true, value: [new Uint8Array([own, 1, 2, 3]), new Uint8Array([own, 1, 2, 3])] });
  };
  await Promise.all([1, 2, 3, 4, 5, 6].map(asking));
  await expect(pool.run("stamp", act("exit"))).rejects.toThrow(TaskCrashed);
  await expect(pool.run("stamp", act("wait"), { timeoutMs: 50 })).rejects.toThrow(TaskTimeout);
  await Promise.all([7, 8, 9].map(asking));
});

test("closing ends what runs and refuses what comes", async () => {
  const pool = open();
  const running = pool.run("stamp", act("wait"));
  const waiting = pool.run("stamp", act("x"));
  await Promise.all([
    expect(running).rejects.toThrow("closed"),
    expect(waiting).rejects.toThrow("closed"),
    pool.close(),
  ]);
  await expect(pool.run("stamp", act("x"))).rejects.toThrow("closed");
});

test("what strangers send never takes the last thread", async () => {
  const pool = open({ threads: 2 });
  const hostile = [1, 2].map(() => pool.run("inspect", act("wait"), { timeoutMs: 60_000 }).catch(() => "ended"));
  expect(await pool.run("seal", act("x"))).toEqual({ ok: true, value: "x" });
  expect(await pool.run("stamp", act("x"))).toEqual({ ok: true, value: "x" });
  expect(pool.stats()).toMatchObject({ running: 1, waiting: 1, completed: 2 });
  await pool.close();
  expect(await Promise.all(hostile)).toEqual(["ended", "ended"]);
});
