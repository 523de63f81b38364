import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { userInfo } from "node:os";

/** What Linux says of a process that nobody logged in for. */
const nobodyLoggedIn = 2 ** 32 - 1;

/**
 * The person who acts, for audits: who logged in, also behind sudo, su and the change to the service's user; else this process's user.
 * It is what the operating system says of the caller, so root can make it say anything.
 */
export function operatorName(env: NodeJS.ProcessEnv = process.env, loginUid = readLoginUid()): string {
  const own = process.getuid?.();
  const person = loginUid === null || loginUid === own ? null : nameOf(loginUid);
  return person ?? (env.SUDO_USER || ownName());
}

function readLoginUid(): number | null {
  try {
    const uid = Number(readFileSync("/proc/self/loginuid", "utf8"));
    return Number.isInteger(uid) && uid !== nobodyLoggedIn ? uid : null;
  } catch {
    return null;
  }
}

/** By the system's own look-up, which also knows the users of a directory server. */
function nameOf(uid: number): string | null {
  try {
    const entry = execFileSync("getent", ["passwd", String(uid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return entry.split(":")[0] || null;
  } catch {
    return null;
  }
}

/** Also where the user has no entry (containers). */
function ownName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
