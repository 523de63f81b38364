import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { CrashingAppliance } from "../harness/crashing-appliance.ts";

/** A folder as a kill at any of these boundaries leaves it: `point#nth`. */
export type Image = { folder: string; points: string[] };

const lookEveryMs = 2;

/**
 * Copies the data folder of an appliance that stands still at each transaction's boundary: every thread of it is stopped by the
 * system, so the copy holds what a SIGKILL at this instant would leave. Linux only.
 */
export class Images {
  readonly #folder: string;
  readonly #pauseFile: string;
  readonly #seen = new Map<string, Image>();
  /** Boundaries that were passed. */
  points = 0;

  constructor(folder: string, pauseFile: string) {
    this.#folder = folder;
    this.#pauseFile = pauseFile;
  }

  /** One for each state of the folder. */
  get distinct(): Image[] {
    return [...this.#seen.values()];
  }

  /** Goes on until it is ended; an appliance that stands still then stays so. @returns what ends it */
  follow(appliance: CrashingAppliance): () => Promise<void> {
    let ended = false;
    const following = (async () => {
      while (!ended) {
        const { pid } = appliance;
        const passed = existsSync(this.#pauseFile) ? readFileSync(this.#pauseFile, "utf8").trimEnd().split("\n") : [];
        if (pid === undefined || passed.length <= this.points || !standsStill(pid)) {
          await delay(lookEveryMs);
          continue;
        }
        this.#keep(passed);
        process.kill(pid, "SIGCONT");
      }
    })();
    return async () => {
      ended = true;
      await following;
    };
  }

  #keep(passed: readonly string[]): void {
    const point = passed.at(-1) ?? "";
    const name = `${point}#${passed.filter((other) => other === point).length}`;
    this.points = passed.length;
    const image = `${this.#folder}-at-${this.points}`;
    const copied = spawnSync("cp", ["-a", this.#folder, image], { encoding: "utf8" });
    if (copied.status !== 0) throw new Error(`the folder could not be copied: ${copied.stderr}`);
    const digest = digestOf(image);
    const same = this.#seen.get(digest);
    if (same) {
      same.points.push(name);
      rmSync(image, { recursive: true });
    } else this.#seen.set(digest, { folder: image, points: [name] });
  }
}

/** Every thread of it. */
function standsStill(pid: number): boolean {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`);
    return tasks.every((task) =>
      / T /.test(readFileSync(`/proc/${pid}/task/${task}/stat`, "utf8").replace(/^.*\)/, "")),
    );
  } catch {
    // A thread that ended meanwhile.
    return false;
  }
}

/** What a start finds: all files but SQLite's shared memory, which the first one to open the database makes anew, and what lies in `run`. */
function digestOf(folder: string): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
    const file = path.join(folder, name);
    if (name.startsWith(`run${path.sep}`) || name.endsWith("-shm") || !statSync(file).isFile()) continue;
    hash.update(`${name}\n${statSync(file).size}\n`).update(readFileSync(file));
  }
  return hash.digest("hex");
}
