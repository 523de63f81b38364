import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";

export type KillPlan = {
  record?: boolean;
  point?: string;
  nth?: number;
  /** Boundaries count from the start on, not only once the child is told so. */
  armed?: boolean;
  /** Dies at whichever of these comes first, where none died before: `struckFile` says so. */
  points?: string[];
  /** Where a child writes at what it dies. */
  struckFile?: string;
  /** Stands still at each transaction's boundary, after a line here, until it is told to go on. */
  pauseFile?: string;
};

/** An appliance that is killed and started again as often as it takes; the same folder and port all the time. */
export class CrashingAppliance {
  readonly #env: Record<string, string>;
  readonly #prepares: boolean;
  /** Has loaded the program and touched nothing yet: it takes the place of the one that dies. */
  #standby: ChildProcess | undefined;
  #child: ChildProcess | undefined;
  #up: Promise<void> = Promise.resolve();
  #stopping = false;
  /** Boundaries that a recording child passed. */
  readonly points: string[] = [];
  /** Of the children that follow a kill, in their order; without one a child lives on. */
  readonly successors: KillPlan[] = [];
  kills = 0;
  /** Ends that nobody asked for. */
  readonly crashes: string[] = [];

  /** @param prepares loads each successor while its predecessor still works: for who kills many */
  constructor(folder: string, port: number, env: Record<string, string> = {}, prepares = false) {
    this.#prepares = prepares;
    this.#env = {
      SIGNET_DATA_DIR: folder,
      SIGNET_PORT: String(port),
      SIGNET_LOG_LEVEL: "error",
      SIGNET_ANCHOR_INTERVAL_SECONDS: "1",
      SIGNET_WORKERS: "1",
      SIGNET_DISK_RESERVE_MB: "0",
      ...env,
    };
  }

  /** The present child. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves when the present child answers; after a kill, when the next one does. */
  up(): Promise<void> {
    return this.#up;
  }

  start(plan: KillPlan = {}): Promise<void> {
    this.#up = this.#start(plan);
    return this.#up;
  }

  async #start(plan: KillPlan): Promise<void> {
    const child = this.#standby?.connected ? this.#standby : this.#load();
    this.#standby = undefined;
    this.#child = child;
    const ready = new Promise<void>((resolve, reject) => {
      child.on("message", (message: { ready?: string; point?: string }) => {
        if (message.ready) resolve();
        if (message.point) this.points.push(message.point);
      });
      child.once("exit", (code, signal) =>
        reject(new Error(`the appliance ended before it was ready: ${code ?? signal}`)),
      );
    });
    child.once("exit", (code, signal) => {
      if (this.#stopping || this.#child !== child) return;
      // Only SIGKILL is ours: a process that ended by itself has crashed on its own account.
      if (signal === "SIGKILL") this.kills++;
      else this.crashes.push(`the appliance ended by itself with ${code ?? signal}`);
      // Whoever waits for `up` waits for the successor.
      this.#up = this.#start(this.successors.shift() ?? {});
      this.#up.catch(() => undefined);
    });
    child.send({ start: plan });
    await ready;
    if (this.#prepares && !this.#stopping) this.#standby ??= this.#load();
  }

  #load(): ChildProcess {
    return fork(path.join(import.meta.dirname, "appliance-child.ts"), {
      env: { PATH: process.env.PATH ?? "", ...this.#env },
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
  }

  /**
   * From now on boundaries count, for this plan instead of any before it: a start of its own for each would double the time.
   * A child that dies of the plan before it has heard of this one leaves it to its successor.
   */
  async arm(plan: KillPlan): Promise<void> {
    let armed = false;
    while (!armed) {
      await this.#up;
      const child = this.#child;
      if (!child) throw new Error("not started");
      armed = await new Promise<boolean>((resolve) => {
        const listen = (message: { armed?: boolean }) => {
          if (message.armed) end(true);
        };
        const gone = () => end(false);
        const end = (heard: boolean) => {
          child.off("message", listen);
          child.off("exit", gone);
          resolve(heard);
        };
        child.on("message", listen);
        child.once("exit", gone);
        // Its channel may be closed a moment before it has ended.
        child.send({ arm: plan }, () => undefined);
      });
    }
  }

  /** Kills the present child now; it is started again. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  /** Kills it for good. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#up.catch(() => undefined);
    this.#standby?.kill("SIGKILL");
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }
}
