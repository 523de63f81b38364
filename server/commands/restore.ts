import { stat } from "node:fs/promises";
import path from "node:path";
import { type Config, checkSettings, describeSettings } from "../config.ts";
import { isAhead } from "../features/backup/dates.ts";
import type { Machine } from "../features/backup/machine.ts";
import type { Manifest } from "../features/backup/manifest.ts";
import { openAsRecipient } from "../features/backup/opened.ts";
import { giveToOwner, RestoreRefused, restoreBackup } from "../features/backup/restore.ts";
import { openTarget, type Target } from "../features/backup/target.ts";
import { fsck } from "../features/evidence/fsck/fsck.ts";
import type { Clock } from "../kernel/clock.ts";
import { guardClock, thisMachine } from "../kernel/guarded-clock.ts";
import { operator } from "./backup.ts";
import { openerOf, watched } from "./backup-opener.ts";
import { type Command, type CommandContext, optional, print, required, UsageError } from "./command.ts";
import { entryOf } from "./list.ts";
import { withDeps } from "./with-deps.ts";

export const restore: Command = {
  ...entryOf("restore"),
  usage: [
    "signet restore --from DIR [--id ID] (--key FILE | --passphrase-stdin) [--to DATADIR] [--appliance FINGERPRINT]",
    "--appliance is what signet backup status names: whoever may write to DIR can encrypt data of their own to a public key",
    "one that was interrupted goes on with the same call; with --leave-damaged files that are damaged in the backup are left out",
    "onto an empty machine, as root: install the package, then",
    "  systemctl stop signet",
    "  mv /var/lib/signet /var/lib/signet.fresh",
    "  install -d -o signet -g signet -m 700 /var/lib/signet",
    "  signet restore --from /srv/backup/signet --key /root/signet-backup.key --appliance FINGERPRINT",
    "into a folder beside, to look at it: signet runs as its own user, to whom the folder must belong",
    "  install -d -o signet -g signet -m 700 /var/lib/signet-restored",
    "  signet restore --from /srv/backup/signet --key /root/signet-backup.key --to /var/lib/signet-restored",
  ],
  async run(context) {
    const opener = await openerOf(context);
    if (!opener) throw new UsageError("--key or --passphrase-stdin is required");
    const target = openTarget(path.resolve(required(context, "from")));
    const wanted = optional(context, "to");
    const to = wanted === undefined ? context.config.dataDir : path.resolve(wanted);
    const clock = guardClock(thisMachine);
    const manifest = await chosenFrom(target, optional(context, "id"), clock);
    const opened = await openAsRecipient(target, manifest, opener);
    const expected = optional(context, "appliance");
    if (expected !== undefined && expected !== manifest.masterKey)
      throw new RestoreRefused(`${manifest.id} is of the appliance ${manifest.masterKey}, not of ${expected}`);
    const given = { file: settingsIn(opened.machine), environment: context.config.given.environment };
    const masterKeyFile = checkSettings(to, given).masterKeyFile;
    const left = await watched(context, { kind: "restore", id: manifest.id }, (work) =>
      restoreBackup({
        ...work,
        target,
        manifest,
        opened,
        to,
        masterKeyFile,
        leaveDamaged: context.options["leave-damaged"] === true,
        clock,
        actor: operator(),
      }),
    );
    const { id, createdAt, masterKey: appliance } = manifest;
    try {
      return await check(context, { to, id, createdAt, appliance, machine: opened.machine, left });
    } finally {
      // The check runs as root where the restore did, and leaves files of its own.
      await giveToOwner(to, masterKeyFile);
    }
  },
};

/**
 * The newest, unless another is named. Which one that is cannot be said where the date of a backup is still to come: its clock was
 * wrong, or that of this machine is.
 */
async function chosenFrom(target: Target, id: string | undefined, clock: Clock): Promise<Manifest> {
  const newest = (await target.ids()).at(-1);
  if (id === undefined && newest !== undefined && isAhead(newest, clock))
    throw new RestoreRefused(
      `the newest backup, ${newest}, is dated in the future of this machine, where it is ${clock.ts()}: set the clock right, or say with --id which one is meant`,
    );
  return await target.read(id);
}

/** The settings that the backup brings; they say where the master key is expected. */
function settingsIn({ files }: Machine): Record<string, unknown> {
  const found = files.find(({ name }) => name === "signet.json");
  return found ? JSON.parse(Buffer.from(found.content, "base64").toString("utf8")) : {};
}

type Restored = {
  to: string;
  id: string;
  createdAt: string;
  appliance: string;
  machine: Machine;
  /** Files that are damaged in the backup. */
  left: { file: string; problem: string }[];
};

async function check(
  context: CommandContext,
  { to, id, createdAt, appliance, machine, left }: Restored,
): Promise<number> {
  const given = { file: settingsIn(machine), environment: context.config.given.environment };
  const config = checkSettings(to, given);
  const { report, token } = await withDeps({ ...context, config }, async (deps) => ({
    report: await fsck(deps),
    token: await deps.db.read
      .selectFrom("signing_keys")
      .select("id")
      .where("storage", "!=", "software")
      .where("retired_at", "is", null)
      .execute(),
  }));
  const here = new Set(
    describeSettings()
      .filter(({ key }) => key in context.config.given.environment)
      .map(({ variable }) => variable),
  );
  const environment = Object.entries(machine.environment).filter(([name]) => !here.has(name));
  const ok = report.ok && left.length === 0;
  const lines = [
    `Backup ${id} of ${createdAt} is restored to ${to}.`,
    `It is of the appliance ${appliance}: compare that with what you noted from signet backup status.`,
    report.ok ? "Everything is whole." : `This is wrong: ${report.problems.map(({ message }) => message).join("; ")}`,
    ...left.map(({ file, problem }) => `The file ${file} was left out: ${problem}.`),
    ...(token.length > 0
      ? [
          `${token.length} keys lie in a security module: connect it, and set SIGNET_PKCS11_MODULE, _TOKEN and _PIN_FILE.`,
        ]
      : []),
    ...(environment.length > 0
      ? [
          "These settings came from the environment of the process; set them here too:",
          ...environment.map(([name, value]) => `  ${name}=${value ?? "(a secret, which the backup does not hold)"}`),
        ]
      : []),
    "Stop the old machine for good before this one starts: two of the same would sign two different histories.",
    ...(await ownerAdvice(to)),
    "The folder of backups stays needed as a whole, with the earlier ones: each added only the files that the folder lacked. Remove nothing there by hand; what no backup needs any more goes by itself.",
    `Before the next signet update apply: see that this machine reaches ${backupFolderOf(config)} (signet doctor), make a backup here (signet backup) and try it (signet drill). The update's own way back was not in the backup.`,
    "No anchor is signed until a witness shows that none was published after this backup, or you say so: signet anchors resume.",
  ];
  const value = { id, createdAt, appliance, to, ok, left, problems: report.problems, keysInToken: token.length };
  print(context, { ...value, environment: Object.fromEntries(environment) }, lines.join("\n"));
  return ok ? 0 : 1;
}

const backupFolderOf = ({ backupDir }: Pick<Config, "backupDir">) =>
  backupDir === undefined
    ? "a folder for backups, which SIGNET_BACKUP_DIR names"
    : `the folder of backups ${backupDir}`;

/** What root restored into a folder of its own the service cannot use. */
async function ownerAdvice(to: string): Promise<string[]> {
  if (process.getuid?.() !== 0 || (await stat(to)).uid !== 0) return [];
  return [`It belongs to root. Give it to the user that runs the service: chown -R USER: ${to}`];
}
