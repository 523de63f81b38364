import { createSecretKey, generateKeyPairSync, webcrypto } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { openPool, type Pool, PoolBusy, type PoolOptions, TaskCrashed, TaskTimeout } from "../../server/kernel/pool.ts";
import type { Keyless, ParsingTasks, SealInput, TaskPorts } from "../../workers/protocol.ts";

function open(options: PoolOptions = {}): Pool {
  const pool = openPool({ threads: 1, file: new URL("./pool-worker.ts", import.meta.url), ...options });
  onTestFinished(() => pool.close());
  return pool;
}

/** The stand-in worker reads `act` where the product's reads a document. */
const act = (what: string, counter?: Uint8Array) => ({ act: what, counter }) as never;

test("a task runs in a thread, and no thread is started before", async () => {
  const pool = open();
  expect(pool.stats()).toEqual({ threads: 1, running: 0, waiting: 0, completed: 0, crashed: 0 });
  expect(await pool.run("stamp", act("x"))).toEqual({ ok: true, value: "x" });
  expect(pool.stats()).toMatchObject({ running: 0, completed: 1 });
});

test("a task whose worker ends is tried once more on a fresh one", async () => {
  const pool = open();
  const counter = new Uint8Array(new SharedArrayBuffer(1));
  expect(await pool.run("stamp", act("exit once", counter))).toEqual({ ok: true, value: "stamp" });
  expect(counter[0]).toBe(2);
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
  expect(await pool.run("readPicture", act("x"))).toEqual({ ok: true, value: "x" });
  expect(pool.stats()).toMatchObject({ running: 1, waiting: 1, completed: 3 });
  await pool.close();
  expect(await Promise.all(hostile)).toEqual(["ended", "ended"]);
});

test("a flood of uploads fills its own queue, and pictures and seals go on", async () => {
  const pool = open({ threads: 2, maxQueue: 3 });
  const flood = Array.from({ length: 10 }, () =>
    pool.run("inspect", act("wait"), { timeoutMs: 60_000 }).catch((error: unknown) => error instanceof PoolBusy),
  );
  // One runs, three wait, and the other six were refused at once.
  expect(await Promise.all(flood.slice(4))).toEqual(Array.from({ length: 6 }, () => true));
  for (const task of ["readPicture", "seal", "stamp", "readPicture"] as const)
    expect(await pool.run(task, act("x"))).toEqual({ ok: true, value: "x" });
  expect(pool.stats()).toMatchObject({ running: 1, waiting: 3 });
});

test.each(["one thread", "little memory"])(
  "with %s pictures and seals come next, however many uploads wait",
  async (want) => {
    const pool = open(want === "one thread" ? { threads: 1 } : { threads: 2, oneByOne: () => true });
    const order: string[] = [];
    const tasks = [...Array.from({ length: 8 }, () => "inspect" as const), "readPicture" as const, "seal" as const];
    await Promise.all(tasks.map((task) => pool.run(task, act("x")).then(() => order.push(task))));
    // The first of the flood was running.
    expect(order.slice(0, 3).toSorted()).toEqual(["inspect", "readPicture", "seal"]);
  },
);

test("a flood of pictures leaves a thread for seals", async () => {
  const pool = open({ threads: 2 });
  for (let many = 0; many < 5; many += 1)
    void pool.run("readPicture", act("wait"), { timeoutMs: 60_000 }).catch(() => undefined);
  expect(await pool.run("seal", act("x"))).toEqual({ ok: true, value: "x" });
});

test("a picture does not wait for seals that wait for the network, and no thread is told the settings", async () => {
  const pool = open({ threads: 2 });
  for (let many = 0; many < 3; many += 1)
    void pool.run("seal", act("wait"), { timeoutMs: 60_000 }).catch(() => undefined);
  await expect.poll(() => pool.stats().running).toBe(2);
  expect(await pool.run("readPicture", act("environment"))).toEqual({ ok: true, value: ["NODE_COMPILE_CACHE"] });
  expect(pool.stats()).toMatchObject({ running: 2, waiting: 1 });
});

test("uploads and seals run in threads of their own, and a thread that dies takes none of the other kind along", async () => {
  const pool = open({ threads: 2 });
  const answered = Promise.withResolvers<Uint8Array>();
  const asked: string[] = [];
  const refuse = () => Promise.reject(new Error("not asked"));
  const ports: TaskPorts = {
    sign: (bytes) => {
      asked.push(`sign ${bytes}`);
      return answered.promise;
    },
    signTimestamp: async (bytes) => bytes,
    timestampTime: refuse,
    requestTimestamp: refuse,
    revocationList: refuse,
  };
  const sealing = pool.run("seal", act("ask"), { ports });
  await expect.poll(() => asked).toEqual(["sign 1,2,3"]);
  await expect(pool.run("inspect", act("exit"))).rejects.toThrow(TaskCrashed);
  await expect(pool.run("readPicture", act("spin"), { timeoutMs: 300 })).rejects.toThrow(TaskTimeout);
  answered.resolve(new Uint8Array([7]));
  expect(await sealing).toEqual({ ok: true, value: [new Uint8Array([7]), new Uint8Array([1, 2, 3])] });
});

test("a parsing thread that asks for signatures in the name of a seal is not heard", async () => {
  const pool = open({ threads: 2 });
  const answered = Promise.withResolvers<Uint8Array>();
  const asked: string[] = [];
  const refuse = () => Promise.reject(new Error("not asked"));
  const others = { timestampTime: refuse, requestTimestamp: refuse, revocationList: refuse };
  const sign = (bytes: Uint8Array) => {
    asked.push(String(bytes));
    return answered.promise;
  };
  const sealing = pool.run("seal", act("ask"), { ports: { sign, signTimestamp: async (bytes) => bytes, ...others } });
  await expect.poll(() => asked).toEqual(["1,2,3"]);
  expect(await pool.run("inspect", act("forge"))).toEqual({ ok: true, value: "asked" });
  expect(await pool.run("inspect", act("x"))).toEqual({ ok: true, value: "x" });
  answered.resolve(new Uint8Array([7]));
  await sealing;
  expect(asked).toEqual(["1,2,3"]);
});

const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const webKey = await webcrypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, false, ["sign"]);

test.each<[string, unknown]>([
  ["a private key", privateKey],
  ["a secret key", createSecretKey(Buffer.alloc(32))],
  ["a web key", webKey],
  ["a key among drawings", [{ kind: "check", more: { privateKey } }]],
  ["keys in a map", new Map([["key", privateKey]])],
  ["what can be asked to sign", () => privateKey],
  [
    "an object of a class",
    new (class {
      key = privateKey;
    })(),
  ],
])("no thread that reads uploads is given %s", async (_name, value) => {
  const pool = open();
  for (const task of ["inspect", "stamp", "certificate", "verifyPdf", "readPicture"] as const) {
    const input = { act: "x", value } as never;
    await expect(pool.run(task, input)).rejects.toThrow(TypeError);
  }
  // The place is free again.
  expect(await pool.run("inspect", act("x"))).toEqual({ ok: true, value: "x" });
  expect(pool.stats()).toMatchObject({ running: 0, waiting: 0, crashed: 0 });
});

test("a thread that reads uploads sees nothing of the memory around them, a seal's gets its key", async () => {
  const pool = open();
  const pooled = Buffer.from("a short upload");
  expect(pooled.buffer.byteLength).toBeGreaterThan(pooled.byteLength);
  expect(await pool.run("inspect", { act: "memory", pdf: pooled } as never)).toEqual({ ok: true, value: 14 });
  expect(await pool.run("seal", { act: "x", privateKey } as never)).toEqual({ ok: true, value: "x" });
});

test("the types let no key into a parsing task", () => {
  type Holds<T> = [Keyless<T>] extends [never] ? "refused" : "taken";
  const taken: [Holds<ParsingTasks["inspect"]["input"]>, Holds<{ a: readonly { b?: string | null }[] }>] = [
    "taken",
    "taken",
  ];
  const refused: [
    Holds<SealInput>,
    Holds<{ key?: SealInput["privateKey"] }>,
    Holds<{ keys: readonly { key: CryptoKey }[] }>,
    Holds<{ sign: (bytes: Uint8Array) => Promise<Uint8Array> }>,
    Holds<{ more: unknown }>,
    Holds<{ more: object }>,
  ] = ["refused", "refused", "refused", "refused", "refused", "refused"];
  expect([...taken, ...refused]).toHaveLength(8);
  const calls = (pool: Pool, ports: TaskPorts) => [
    // @ts-expect-error a parsing task takes no key
    () => pool.run("verifyPdf", { pdf: new Uint8Array(), trusted: [], at: "", privateKey }),
    // @ts-expect-error a parsing task can ask for nothing
    () => pool.run("inspect", { pdf: new Uint8Array(), maxPages: 1 }, { ports }),
    // @ts-expect-error an input that could hold a key takes nothing at all
    (input: SealInput): Keyless<SealInput> => input,
  ];
  expect(calls).toHaveLength(2);
});
