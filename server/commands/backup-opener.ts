import { readFile } from "node:fs/promises";
import { createActivity } from "../features/backup/activity.ts";
import type { BackupProgress } from "../features/backup/contract.ts";
import type { Opener } from "../features/backup/recipient.ts";
import type { Work } from "../features/backup/write.ts";
import { backupBar } from "./backup-bar.ts";
import { type CommandContext, optional, UsageError } from "./command.ts";
import { isTerminal, readSecret } from "./secret.ts";

/** What opens a backup, from the options of every command that takes it. */

/** @throws UsageError when both are given */
export async function openerOf(context: CommandContext): Promise<Opener | undefined> {
  const file = optional(context, "key");
  const fromStdin = context.options["passphrase-stdin"] === true;
  if (file !== undefined && fromStdin) throw new UsageError("give --key or --passphrase-stdin, not both");
  if (file !== undefined) return { kind: "x25519", secret: secretLine(await readFile(file, "utf8")) };
  if (!fromStdin) return undefined;
  if (isTerminal(context.stdin)) return { kind: "passphrase", passphrase: await readSecret(context, "Passphrase") };
  // A letter may come in two pieces.
  const pieces: Uint8Array[] = [];
  for await (const piece of context.stdin) pieces.push(typeof piece === "string" ? Buffer.from(piece) : piece);
  return {
    kind: "passphrase",
    passphrase: Buffer.concat(pieces)
      .toString("utf8")
      .replace(/\r?\n$/, ""),
  };
}

/** The file may hold notes beside the key. */
const secretLine = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .find((line) => line.startsWith("SIGNET-BACKUP-SECRET-")) ?? text.trim();

/** Runs it here, with a bar for who watches; ends at a signal. */
export async function watched<T>(
  context: CommandContext,
  about: Pick<BackupProgress, "kind" | "id">,
  perform: (work: Work) => Promise<T>,
): Promise<T> {
  const activity = createActivity();
  const act = activity.begin(about);
  const bar = context.interactive && !context.json ? backupBar(context.stderr) : null;
  activity.onChange(() => {
    const current = activity.current();
    if (current !== null) bar?.draw(current);
  });
  context.onSignal(() => activity.cancel());
  try {
    return await perform(act);
  } finally {
    act.end();
    bar?.clear();
  }
}
