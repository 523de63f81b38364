import { remedies } from "../keys/service.ts";
import type { Blanks, Params } from "./contract.ts";

/**
 * Everything that a check can say, by code: what was found, and what to do about it. Pages have words of their own for each
 * code, in each language (test/console/findings), so a code is not renamed and its blanks stay.
 */

const room = "{{freeBytes}} free of {{volumeBytes}}, {{usedPercent}} % used";
const makeRoom = "Make room on the volume of the data folder, or enlarge it: it goes on by itself then.";
const repairBackup = "Repair the cause, then make one: signet backup. Backups go to {{folder}}.";
const drill =
  "Restore one into a scratch folder, with the key that you keep away: signet drill --key FILE (or --passphrase-stdin).";
const memory = "{{availableBytes}} available of {{totalBytes}}";
const token = "{{trouble}}: {{reason}}. What needs its keys waits";

export const findingTexts = {
  "check.failed": { detail: "It could not be looked at: {{cause}}", action: "Look at the log of Signet." },
  "service.running": { detail: "running" },
  "service.stopped": { detail: "not running" },
  "service.failed": {
    detail: "not running; its last start, at {{at}}, failed: {{cause}}",
    action: "Put the cause right, then start Signet again.",
  },
  "service.silent": {
    detail: "{{cause}}",
    action: "Look at the log of Signet, and start it again if it does not answer.",
  },
  "data.unreadable": {
    detail: "The data cannot be opened: {{cause}}",
    action: "Look at the other lines; when the database is damaged, restore the last backup.",
  },
  "data-folder.ok": { detail: "{{folder}}" },
  "data-folder.new": { detail: "{{folder}} is not there yet", action: "The first start makes it, or: signet init." },
  "data-folder.hidden": {
    detail: "{{folder}} cannot be looked at: {{cause}}",
    action: "Let the user that runs Signet into it.",
  },
  "data-folder.read-only": {
    detail: "{{folder}} cannot be written: {{cause}}",
    action:
      "Give it to the user that runs Signet (chown -R USER {{folder}}), and look whether the volume is mounted read-only.",
  },
  "data-folder.foreign": {
    detail: "{{file}} belongs to user {{owner}}, and not to {{expected}} as the rest",
    action: "chown -R {{expected}} {{folder}}",
  },
  "data-folder.open": { detail: "Everybody may write {{file}}", action: "chmod o-rwx {{file}}" },
  "disk.ok": { detail: room },
  "disk.low": {
    detail: room,
    action: "Make room on the volume of {{folder}}, or move the data folder to a larger one.",
  },
  "capacity.ok": { detail: room },
  "capacity.low": { detail: room, action: makeRoom },
  "capacity.full": {
    detail: `${room}: new documents, templates and envelopes are refused, what is under way is finished`,
    action: makeRoom,
  },
  "capacity.exhausted": { detail: `${room}: nothing can be recorded, so all work waits`, action: makeRoom },
  "capacity.read-only": {
    detail: "The data folder cannot be written ({{cause}}), so all work waits",
    action:
      "Look in the system's log for why, mount the volume for writing and give the folder to the user that runs Signet.",
  },
  "capacity.damaged": {
    detail: "The database is damaged ({{cause}}): nothing is changed any more",
    action: "Keep a copy of the data folder, stop Signet and restore the last backup: signet restore.",
  },
  "capacity-memory.ok": { detail: "{{availableBytes}} for this process" },
  "capacity-memory.low": {
    detail: "{{availableBytes}} for this process: large uploads are refused, documents are worked on one by one",
    action: "End other programs, add memory, or allow the service more.",
  },
  "stored-files.ok": { detail: "none that was read is missing or damaged" },
  "stored-files.bad": {
    detail: "Missing or damaged: {{files}}",
    action: "Let all be checked (signet fsck), and restore them from the last backup: signet restore.",
  },
  "database.ok": { detail: "whole" },
  "database.damaged": { detail: "{{problems}}", action: "Stop Signet and restore the last backup." },
  "clock.ok": { detail: "It is {{now}}" },
  "clock.doubted": {
    detail: "The machine says {{machine}}, and it would have to be {{expected}}: nothing is signed, sent or deleted",
    action: "Set the machine's clock right, or say that it is: signet clock accept.",
  },
  "node.ok": { detail: "{{version}}" },
  "memory.ok": { detail: memory },
  "memory.low": { detail: memory, action: "End other programs or add memory: sealing large documents may fail." },
  "memory.small": { detail: memory, action: "Give the machine 2 GiB or more, or set SIGNET_WORKERS to 1." },
  "address.ok": { detail: "{{url}}" },
  "address.local": {
    detail: "{{url}}: links work on this machine only",
    action: "Set SIGNET_BASE_URL to the address that people open.",
  },
  "mail.ok": { detail: "{{server}}" },
  "mail.files": {
    detail: "Mails are written to {{folder}} and sent to nobody",
    action: "Set SIGNET_SMTP_URL, then try it: signet smtp test --to ADDRESS.",
  },
  "mail.held": {
    detail: "The base URL is loopback, so live mail is held back",
    action: "Set SIGNET_BASE_URL to the address that people open.",
  },
  "time-stamps.ok": { detail: "{{urls}}" },
  "time-stamps.own": {
    detail: "Built-in authority only: an internal time source, as each certificate says",
    action: "Set SIGNET_TSA_URLS to one or more RFC 3161 authorities, if you need time from outside.",
  },
  "settings.ok": { detail: "Every setting can be used" },
  "settings.file": {
    detail: "{{variable}} names {{file}}, which cannot be read: {{cause}}",
    action: "Put the file there, readable by the user that runs Signet, or change {{variable}}.",
  },
  "master-key.ok": { detail: "{{file}}" },
  "master-key.new": { detail: "{{file}} is not there yet", action: "The first start makes it, or: signet init." },
  "master-key.missing": {
    detail: "{{file}} is missing, and what is in {{folder}} can be opened with it only",
    action: "Put the key back from where you keep a copy, or set SIGNET_MASTER_KEY_FILE to where it lies.",
  },
  "master-key.open": { detail: "{{file}} can be read by others", action: "chmod 600 {{file}}" },
  "master-key.unreadable": {
    detail: "{{file}} cannot be read",
    action: "Give it to the user that runs Signet.",
  },
  "master-key.beside": {
    detail: "It lies on the data volume: whoever copies the folder can read everything",
    action: "Move it elsewhere and set SIGNET_MASTER_KEY_FILE; keep a copy away from this machine.",
  },
  "key.ok": { detail: "until {{day}}" },
  "key.ending": {
    detail: "ends on {{day}}, in {{days}} days: it signs nothing after that",
    action: "Replace it: signet keys rotate --use {{use}}.",
  },
  "key.ended": {
    detail: "ended on {{day}}: nothing can be signed with it",
    action: "Replace it: signet keys rotate --use {{use}}.",
  },
  "tls.ok": { detail: "until {{day}}" },
  "tls.plain": { detail: "plain HTTP, on this machine or behind a proxy" },
  "tls.self-signed": {
    detail: "self-signed, until {{day}}: browsers warn",
    action:
      "Install a certificate that browsers trust, or let clients trust the appliance's own authority: signet tls.",
  },
  "tls.ending": {
    detail: "ends on {{day}}, in {{days}} days: no browser connects any more",
    action: "Install a new certificate: signet tls.",
  },
  "tls.ended": {
    detail: "ended on {{day}}: no browser connects any more",
    action: "Install a new certificate: signet tls.",
  },
  "acme.asked": { detail: "{{host}} is being asked" },
  "acme.ok": { detail: "by {{host}}" },
  "acme.renewed": { detail: "by {{host}}, next on {{day}}" },
  "acme.other": {
    detail: "Another certificate is served than the one of {{host}}, which is not renewed meanwhile",
    action: "Serve it again: signet tls acme renew. Or end it: signet tls acme off.",
  },
  // The trouble has a code of its own, from which pages say `message` and `remedy` in their language.
  "acme.failing": { detail: "failed {{failures}} × in a row: {{message}}{{details}}", action: "{{remedy}}" },
  "hsm.ok": { detail: "{{token}}, {{keys}} keys" },
  "hsm.lacking": {
    detail: "{{token}}, {{keys}} keys; it does not offer {{missing}}",
    action: "Keys of these kinds stay in software.",
  },
  "hsm.token-not-set": { detail: token, action: remedies["token-not-set"] },
  "hsm.module-missing": { detail: token, action: remedies["module-missing"] },
  "hsm.token-missing": { detail: token, action: remedies["token-missing"] },
  "hsm.pin-file-unreadable": { detail: token, action: remedies["pin-file-unreadable"] },
  "hsm.pin-wrong": { detail: token, action: remedies["pin-wrong"] },
  "hsm.pin-locked": { detail: token, action: remedies["pin-locked"] },
  "hsm.mechanism-missing": { detail: token, action: remedies["mechanism-missing"] },
  "hsm.key-missing": { detail: token, action: remedies["key-missing"] },
  "hsm.token-full": { detail: token, action: remedies["token-full"] },
  "hsm.token-failed": { detail: token, action: remedies["token-failed"] },
  "stuck-work.ok": { detail: "none" },
  "stuck-work.some": {
    detail: "{{number}}: {{causes}}",
    action: "Repair the cause and try it again: signet jobs retry.",
  },
  "stuck-work.many": {
    detail: "{{number}} or more: {{causes}}",
    action: "Repair the cause and try it again: signet jobs retry.",
  },
  "repeated-work.ok": { detail: "none" },
  "repeated-work.some": {
    detail: "{{number}}: {{causes}}",
    action: "Repair the cause; it is tried again by itself, or now: signet jobs retry.",
  },
  "repeated-work.many": {
    detail: "{{number}} or more: {{causes}}",
    action: "Repair the cause; it is tried again by itself, or now: signet jobs retry.",
  },
  "organizations.ok": { detail: "{{names}}" },
  "organizations.none": {
    detail: "none yet",
    action: "Open the one-time link of the first owner: signet first-link prints it.",
  },
  "anchors.ok": { detail: "go on" },
  "anchors.resumed": {
    detail: "go on since {{at}}; they were held back since {{since}}, and the audit says who let them",
  },
  "anchors.later": {
    detail: "None is signed: a witness holds anchor {{later}}, which this data does not know",
    action:
      "Restore a later backup if there is one. If there is none, what was sealed after this one is lost here: take a new anchor key into use (signet keys rotate --use anchor), name another SIGNET_WITNESS_DIR, tell who relies on the anchors, and then say signet anchors resume.",
  },
  "anchors.restored": {
    detail: "None is signed since the data was restored from {{backup}}: a later one may have been published",
    action:
      "If none was published after the backup, say so: signet anchors resume. Else restore a later backup, or see signet anchors.",
  },
  "anchors.held": {
    detail: "None is signed since the data was restored: a later one may have been published",
    action:
      "If none was published after the backup, say so: signet anchors resume. Else restore a later backup, or see signet anchors.",
  },
  "operator-audit.ok": { detail: "{{length}} entries" },
  "operator-audit.broken": {
    detail: "The chain of what administrators did is broken at entry {{seq}}",
    action: "Somebody changed the database: compare it with a backup, and find out who had access to the data folder.",
  },
  "backup.ok": { detail: "the last whole one is {{ageHours}} old" },
  "backup.first": { detail: "the first one is being made" },
  "backup.unset": {
    detail: "No backups are made: {{cause}}",
    action: "Make a key with signet backup key, and set SIGNET_BACKUP_RECIPIENT and SIGNET_BACKUP_DIR.",
  },
  "backup.unusable": {
    detail: "No backups can be made: {{cause}}",
    action: "Put the settings right: signet config check.",
  },
  "backup.never": {
    detail: "None was ever found whole; one is due every {{interval}} hours",
    action: repairBackup,
  },
  "backup.late": {
    detail: "The last whole one is {{ageHours}} old; one is due every {{interval}} hours",
    action: repairBackup,
  },
  "backup.failed": {
    detail: "The last backup, of {{startedAt}}, is failed: {{cause}}; the last whole one is {{ageHours}} old",
    action: repairBackup,
  },
  "backup.failed-always": {
    detail: "The last backup, of {{startedAt}}, is failed: {{cause}}; none was ever found whole",
    action: repairBackup,
  },
  "backup.damaged": {
    detail: "The last backup, of {{startedAt}}, is damaged: {{cause}}; the last whole one is {{ageHours}} old",
    action: repairBackup,
  },
  "backup.damaged-always": {
    detail: "The last backup, of {{startedAt}}, is damaged: {{cause}}; none was ever found whole",
    action: repairBackup,
  },
  "backup-drill.ok": { detail: "passed, {{startedAt}}" },
  "backup-drill.running": { detail: "running, {{startedAt}}" },
  "backup-drill.never": { detail: "It was never tried whether a backup can be restored", action: drill },
  "backup-drill.failed": { detail: "The last drill, of {{startedAt}}, failed: {{cause}}", action: drill },
  "backup-drill.cancelled": { detail: "The last drill, of {{startedAt}}, was cancelled", action: drill },
  "backup-drill.old": { detail: "The last drill, of {{startedAt}}, is long ago", action: drill },
} as const satisfies Readonly<Record<string, { detail: string; action?: string }>>;

type Texts = typeof findingTexts;
export type FindingCode = keyof Texts;
/** Codes that say what to do. */
export type TroubleCode = { [C in FindingCode]: Texts[C] extends { action: string } ? C : never }[FindingCode];

type ActionOf<C extends FindingCode> = Texts[C] extends { action: infer A extends string } ? A : never;
/** What the blanks of a code's words are filled with. */
export type ParamsOf<C extends FindingCode> = Record<Blanks<Texts[C]["detail"] | ActionOf<C>>, Params[string]>;
