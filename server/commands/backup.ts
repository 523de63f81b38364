import { open } from "node:fs/promises";
import { performBackup, performVerify } from "../features/backup/acts.ts";
import { type BackupState, followBackup, getBackupState, startBackup } from "../features/backup/contract.ts";
import { makeRecipient } from "../features/backup/recipient.ts";
import { beginBackup, endUnended, listBackups, readBackupState } from "../features/backup/service.ts";
import type { Deps } from "../kernel/deps.ts";
import { findMasterKeys } from "../kernel/master-key.ts";
import { operatorName } from "../kernel/operator-name.ts";
import { masterKeyFingerprint } from "../kernel/secrets.ts";
import type { Actor } from "../kernel/wire.ts";
import { callLocal, followLocal, NoAppliance } from "../local-client.ts";
import { backupBar } from "./backup-bar.ts";
import { openerOf, watched } from "./backup-opener.ts";
import { type Command, type CommandContext, optional, print, table, UsageError } from "./command.ts";
import { entryOf } from "./list.ts";
import { localAddress } from "./with-appliance.ts";
import { withDeps } from "./with-deps.ts";

export const backup: Command = {
  ...entryOf("backup"),
  usage: [
    "signet backup",
    "signet backup list",
    "signet backup status",
    "signet backup verify [ID] [--key FILE | --passphrase-stdin]",
    "signet backup key [--out FILE]   the secret part goes to the file, or is printed once",
  ],
  run: (context) => {
    const [action, id, ...more] = context.positionals;
    if (more.length > 0 || (id !== undefined && action !== "verify")) throw new UsageError("that is one word too many");
    if (action === undefined || action === "now") return make(context);
    if (action === "list") return list(context);
    if (action === "status") return status(context);
    if (action === "verify") return verify(context, id);
    if (action === "key") return key(context);
    throw new UsageError(`there is no \`signet backup ${action}\``);
  },
};

export const operator = (): Actor => ({ type: "operator", id: null, name: operatorName(), email: null });

/** By the running appliance, or here while it is stopped. */
async function make(context: CommandContext): Promise<number> {
  try {
    return await makeByAppliance(context);
  } catch (error) {
    if (!(error instanceof NoAppliance) || error.reason !== "stopped") throw error;
  }
  const ended = await withDeps(context, async (deps) => {
    const id = await deps.db.tx((tx) => beginBackup(tx, deps, { actor: operator(), trigger: "operator" }));
    const done = await orEnd(deps, { kind: "backup", id }, () =>
      watched(context, { kind: "backup", id }, (work) => performBackup(deps, id, work)),
    );
    await deps.db.tx(done.commit);
    return done;
  });
  return tellEnd(context, { id: ended.id, status: ended.ok ? "verified" : "failed", cause: ended.cause });
}

/** What was cancelled, or found somebody else at work, is noted: no other process will end it. */
export async function orEnd<T>(
  deps: Deps,
  about: { kind: "backup" | "drill"; id: string },
  perform: () => Promise<T>,
): Promise<T> {
  try {
    return await perform();
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    await deps.db.tx((tx) => endUnended(tx, deps, { ...about, cause }));
    throw error;
  }
}

async function makeByAppliance(context: CommandContext): Promise<number> {
  const address = localAddress(context);
  const { id } = await callLocal(address, startBackup, {});
  const bar = context.interactive && !context.json ? backupBar(context.stderr) : null;
  for await (const progress of followLocal(address, followBackup, {})) bar?.draw(progress);
  bar?.clear();
  // The end is recorded a moment after the last word about it.
  for (;;) {
    const { last } = await callLocal(address, getBackupState, {});
    if (last?.id !== id) return tellEnd(context, { id, status: "failed", cause: "another backup began since" });
    if (last.status !== "running") return tellEnd(context, last);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

type End = { id: string; status: string; cause: string | null };

function tellEnd(context: CommandContext, { id, status: became, cause }: End): number {
  const ok = became === "verified";
  const text = ok
    ? `Backup ${id} is written and verified.`
    : `Backup ${id} is ${became}: ${cause ?? "no cause is known"}`;
  print(context, { id, status: became, cause }, text);
  return ok ? 0 : 1;
}

async function list(context: CommandContext): Promise<number> {
  const all = await withDeps(context, (deps) => listBackups(deps));
  const rows = all.map(({ id, createdAt, bytes, status: state, verifiedAt, ahead, cause }) => [
    id,
    createdAt ?? "",
    bytes === null ? "" : `${(bytes / 1e6).toFixed(1)} MB`,
    state,
    ahead ? "dated in the future: the clock was wrong then or is now" : (cause ?? verifiedAt ?? ""),
  ]);
  print(context, all, rows.length === 0 ? "There is no backup yet." : table(rows));
  return 0;
}

async function status(context: CommandContext): Promise<number> {
  const state = await withDeps(context, async (deps) => ({
    ...(await readBackupState(deps, { current: () => null })),
    appliance: masterKeyFingerprint((await findMasterKeys(deps.config, false)).current),
  }));
  print(context, state, `${describe(state)}\nAppliance, to be compared at a restore: ${state.appliance}`);
  return state.settings && state.lastVerified ? 0 : 1;
}

function describe({ settings, last, lastVerified, lastDrill, nextAt }: BackupState): string {
  if (settings === null) return "No backups are made: set SIGNET_BACKUP_DIR and SIGNET_BACKUP_RECIPIENT.";
  const cause = (of: { cause: string | null }) => (of.cause === null ? "" : `: ${of.cause}`);
  return table([
    ["folder", settings.folder],
    ["opened by", settings.openedBy],
    ["every", `${settings.intervalHours} h, keeps ${settings.keep}`],
    ["last", last ? `${last.id}, ${last.status}${cause(last)}` : "none"],
    ["last verified", lastVerified ? `${lastVerified.id}, ${lastVerified.ageHours} h old` : "none"],
    ["last drill", lastDrill ? `${lastDrill.startedAt}, ${lastDrill.status}${cause(lastDrill)}` : "none"],
    ["next", nextAt ?? "none"],
  ]);
}

async function verify(context: CommandContext, id: string | undefined): Promise<number> {
  const opener = await openerOf(context);
  const ended = await withDeps(context, async (deps) => {
    const done = await watched(context, { kind: "verify", id: id ?? "" }, (work) =>
      performVerify(deps, { id, actor: operator(), opener }, work),
    );
    await deps.db.tx(done.commit);
    return done;
  });
  const value = { id: ended.id, ok: ended.ok, files: ended.checked.files ?? 0, cause: ended.cause };
  const text = ended.ok ? `Backup ${ended.id} is whole.` : `Backup ${ended.id} is damaged: ${ended.cause}`;
  print(context, value, text);
  return ended.ok ? 0 : 1;
}

async function key(context: CommandContext): Promise<number> {
  const { recipient, secret } = makeRecipient();
  const file = optional(context, "out");
  if (file !== undefined) {
    const handle = await open(file, "wx", 0o600);
    try {
      await handle.writeFile(`# Opens the backups of ${recipient}\n${secret}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
  const where = file === undefined ? `Secret part, shown only now:\n  ${secret}` : `Secret part: ${file}`;
  const advice = "Keep it off this machine, in two places: without it no backup can be opened.";
  const text = `Public part, for SIGNET_BACKUP_RECIPIENT:\n  ${recipient}\n${where}\n${advice}`;
  print(context, { recipient, ...(file === undefined ? { secret } : { file }) }, text);
  return 0;
}
