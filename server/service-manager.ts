import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** systemd, when it started this process and waits for a word (sd_notify(3)). */
export type ServiceManager = {
  /** Says that requests are answered, and from then on that the process is alive. @throws Error when it cannot be said */
  ready: () => Promise<void>;
  /** Says that it ends by itself, and nothing more. */
  stopping: () => Promise<void>;
};

const run = promisify(execFile);

/**
 * Who waits for this process, as its environment says. Node has no datagram sockets of this kind, so systemd's own helper
 * speaks; the unit lets children speak for it (`NotifyAccess=all`).
 * @returns null when nobody waits
 */
export function serviceManagerOf(env: NodeJS.ProcessEnv): ServiceManager | null {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID } = env;
  if (NOTIFY_SOCKET === undefined) return null;
  const say = (...words: string[]) =>
    run("systemd-notify", words, { env: { PATH: env.PATH, NOTIFY_SOCKET }, timeout: 10_000 });
  const watched = WATCHDOG_USEC !== undefined && (WATCHDOG_PID ?? String(process.pid)) === String(process.pid);
  let alive: NodeJS.Timeout | undefined;
  return {
    async ready() {
      await say("--ready");
      if (!watched) return;
      // One that is lost is no reason to end: three fall into the time that systemd waits.
      const tell = () => void say("WATCHDOG=1").catch(() => undefined);
      alive = setInterval(tell, Number(WATCHDOG_USEC) / 3000);
      alive.unref();
    },
    async stopping() {
      clearInterval(alive);
      await say("STOPPING=1");
    },
  };
}
