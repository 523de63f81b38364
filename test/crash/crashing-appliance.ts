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
};

/** An appliance that is killed and started again as often as it takes; the same folder and port all the time. */
export class CrashingAppliance {
  readonly #env: Record<string, string>;
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

  constructor(folder: string, port: number, env: Record<string, string> = {}) {
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

  /** Resolves when the present child answers; after a kill, when the next one does. */
  up(): Promise<void> {
    return this.#up;
  }

  start(plan: KillPlan = {}): Promise<void> {
    this.#up = this.#start(plan);
    return this.#up;
  }

  async #start(plan: KillPlan): Promise<void> {
    const child = fork(path.join(import.meta.dirname, "appliance-child.ts"), [JSON.stringify(plan)], {
      env: { PATH: process.env.PATH ?? "", ...this.#env },
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
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
    await ready;
  }

  /** From now on boundaries count. */
  async arm(): Promise<void> {
    const child = this.#child;
    if (!child) throw new Error("not started");
    const armed = new Promise<void>((resolve) => {
      const listen = (message: { armed?: boolean }) => {
        if (!message.armed) return;
        child.off("message", listen);
        resolve();
      };
      child.on("message", listen);
    });
    child.send("arm");
    await armed;
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
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  /** Replaces the present child by one with a plan. */
  async restart(plan: KillPlan): Promise<void> {
    this.#stopping = true;
    await this.stop();
    this.#stopping = false;
    await this.start(plan);
  }
}
