import { userInfo } from "node:os";

/** Whether the operating system refused it to this user. */
export const isDenied = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "EPERM");

/**
 * What became of it, for people. A folder that root made, or a backup that root wrote into it, keeps the service out: then it says
 * which user is meant, and what gives the folder to that user.
 */
export function causeOf(error: unknown, folder: string): string {
  const message = error instanceof Error ? error.message : String(error);
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  if (!isDenied(error) || uid === undefined || gid === undefined) return message;
  return `${message}: the user ${nameOf(uid)} must own the folder of the backups: chown -R ${uid}:${gid} ${quoted(folder)}`;
}

function nameOf(uid: number): string {
  try {
    return `${userInfo().username} (${uid})`;
  } catch {
    // A container's user needs no entry.
    return `${uid}`;
  }
}

/** For a shell, where it needs that. */
const quoted = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
