import { readdir, readFile } from "node:fs/promises";
import { vi } from "vitest";

/** The processes of a program that this one started and has not seen end. @param program part of its name */
export async function helpersOf(program: string): Promise<number[]> {
  const found = [];
  for (const pid of await children())
    if ((await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).includes(program)) found.push(pid);
  return found;
}

/** Ends those of the steps, one of which may rest: the next is started as things are then. */
export async function endSteps(): Promise<void> {
  const ended = await helpersOf("step-process");
  for (const pid of ended) process.kill(pid, "SIGKILL");
  await vi.waitUntil(async () => !(await children()).some((pid) => ended.includes(pid)), { timeout: 60_000 });
}

export async function children(): Promise<number[]> {
  const tasks = await readdir("/proc/self/task");
  const lists = await Promise.all(tasks.map((task) => readFile(`/proc/self/task/${task}/children`, "utf8")));
  return lists.join(" ").split(" ").filter(Boolean).map(Number);
}
