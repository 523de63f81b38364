import { spawnSync } from "node:child_process";
import { userInfo } from "node:os";

/** Whether the operating system refused it to this user. */
export const isDenied = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "EPERM");

/** The refusal by the operating system that is an error, or the reason of one. */
export function denialIn(error: unknown): Error | null {
  if (isDenied(error)) return error;
  return error instanceof Error && error.cause !== undefined ? denialIn(error.cause) : null;
}

/**
 * What became of it, for people. A folder that root made, or a backup that root wrote into it, keeps the service out: then it says
 * which user is meant, and what gives the folder to that user.
 */
export function causeOf(error: unknown, folder: string): string {
  const message = messageOf(error);
  const user = thisUser();
  if (!isDenied(error) || user === null) return message;
  return `${message}: the user ${user.shown} must own the folder of the backups: ${ownAll(user, folder)}`;
}

/** Of a part of a backup that this user may not read: nothing is known about it then, least of all that it is damaged. */
export function unreadableBy(error: Error, folder: string): string {
  const user = thisUser();
  if (user === null) return `${error.message}: the backup is not readable by this user`;
  return `the backup is not readable by the user ${user.shown}: ${ownAll(user, folder)} (${error.message})`;
}

/** Of a folder that this user may not make or write to, with what makes it, or gives it to that user, where it is there already. */
export function unwritableBy(error: Error, folder: string): string {
  const user = thisUser();
  if (user === null) return `${folder} cannot be made or written (${error.message}): choose another folder`;
  const make = `install -d -o ${user.name} -g ${user.group} -m 700 ${quoted(folder)}`;
  return `the user ${user.shown} may not make ${folder}, or write to it: as root, ${make} (${error.message})`;
}

type User = { uid: number; gid: number; shown: string; name: string; group: string };

/** @returns null on Windows */
function thisUser(): User | null {
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  if (uid === undefined || gid === undefined) return null;
  const name = nameOf();
  return {
    uid,
    gid,
    shown: name === null ? `${uid}` : `${name} (${uid})`,
    name: name ?? `${uid}`,
    group: groupOf(gid),
  };
}

/** Both as numbers: a share may be mounted where the names are others. */
const ownAll = ({ uid, gid }: User, folder: string) => `chown -R ${uid}:${gid} ${quoted(folder)}`;

function nameOf(): string | null {
  try {
    return userInfo().username;
  } catch {
    // A container's user needs no entry.
    return null;
  }
}

/** Node knows no names of groups. */
function groupOf(gid: number): string {
  const { status, stdout } = spawnSync("id", ["-gn"], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : `${gid}`;
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** For a shell, where it needs that. */
const quoted = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
