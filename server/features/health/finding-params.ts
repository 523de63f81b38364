import type Catalogue from "../../../locales/en/findings.json";

/**
 * Everything that a check can say, by code, with what its words are filled with. The words stand in
 * `locales/<language>/findings.json`, for the command line and for pages: a code is not renamed, and its parameters stay.
 */

type Texts = (typeof Catalogue)["finding"];

/** The codes in a group of texts, its names joined by dots. */
export type CodesIn<Group, Text = { detail: string }> = {
  [Name in keyof Group & string]: Group[Name] extends { detail: string }
    ? Group[Name] extends Text
      ? Name
      : never
    : `${Name}.${CodesIn<Group[Name], Text>}`;
}[keyof Group & string];

export type FindingCode = CodesIn<Texts>;
/** Codes that say what to do. */
export type TroubleCode = CodesIn<Texts, { action: string }>;

export const findingParams = {
  "check.failed": ["cause"],
  "service.running": [],
  "service.stopped": [],
  "service.failed": ["at", "cause"],
  "service.silent": ["cause"],
  "data.unreadable": ["cause"],
  "data-folder.ok": ["folder"],
  "data-folder.new": ["folder"],
  "data-folder.hidden": ["folder", "cause"],
  "data-folder.read-only": ["folder", "cause"],
  "data-folder.foreign": ["file", "owner", "expected", "folder"],
  "data-folder.open": ["file"],
  "disk.ok": ["freeBytes", "volumeBytes", "usedPercent"],
  "disk.low": ["freeBytes", "volumeBytes", "usedPercent", "folder"],
  "capacity.ok": ["freeBytes", "volumeBytes", "usedPercent"],
  "capacity.low": ["freeBytes", "volumeBytes", "usedPercent"],
  "capacity.full": ["freeBytes", "volumeBytes", "usedPercent"],
  "capacity.exhausted": ["freeBytes", "volumeBytes", "usedPercent"],
  "capacity.read-only": ["cause"],
  "capacity.damaged": ["cause"],
  "capacity-memory.ok": ["availableBytes"],
  "capacity-memory.low": ["availableBytes"],
  "stored-files.ok": [],
  "stored-files.bad": ["files"],
  "database.ok": [],
  "database.damaged": ["problems"],
  "clock.ok": ["now"],
  "clock.doubted": ["machine", "expected"],
  "node.ok": ["version"],
  "memory.ok": ["availableBytes", "totalBytes"],
  "memory.low": ["availableBytes", "totalBytes"],
  "memory.small": ["availableBytes", "totalBytes"],
  "address.ok": ["url"],
  "address.local": ["url"],
  "mail.ok": ["server"],
  "mail.files": ["folder"],
  "mail.held": [],
  "time-stamps.ok": ["urls"],
  "time-stamps.own": [],
  "settings.ok": [],
  "settings.file": ["variable", "file", "cause"],
  "master-key.ok": ["file"],
  "master-key.new": ["file"],
  "master-key.missing": ["file", "folder"],
  "master-key.open": ["file"],
  "master-key.unreadable": ["file"],
  "master-key.beside": [],
  "key.ok": ["day"],
  "key.ending": ["day", "days", "use"],
  "key.ended": ["day", "use"],
  "tls.ok": ["day"],
  "tls.plain": [],
  "tls.self-signed": ["day"],
  "tls.ending": ["day", "days"],
  "tls.ended": ["day"],
  "acme.asked": ["host"],
  "acme.ok": ["host"],
  "acme.renewed": ["host", "day"],
  "acme.other": ["host"],
  "acme.failing": ["failures", "message", "details", "remedy"],
  "hsm.ok": ["token", "keys"],
  "hsm.lacking": ["token", "keys", "missing"],
  "hsm.token-not-set": ["trouble", "reason"],
  "hsm.module-missing": ["trouble", "reason"],
  "hsm.token-missing": ["trouble", "reason"],
  "hsm.pin-file-unreadable": ["trouble", "reason"],
  "hsm.pin-wrong": ["trouble", "reason"],
  "hsm.pin-locked": ["trouble", "reason"],
  "hsm.mechanism-missing": ["trouble", "reason"],
  "hsm.key-missing": ["trouble", "reason"],
  "hsm.token-full": ["trouble", "reason"],
  "hsm.token-failed": ["trouble", "reason"],
  "stuck-work.ok": [],
  "stuck-work.some": ["number", "causes"],
  "stuck-work.many": ["number", "causes"],
  "repeated-work.ok": [],
  "repeated-work.some": ["number", "causes"],
  "repeated-work.many": ["number", "causes"],
  "organizations.ok": ["names"],
  "organizations.none": [],
  "anchors.ok": [],
  "anchors.resumed": ["at", "since"],
  "anchors.later": ["later"],
  "anchors.restored": ["backup"],
  "anchors.held": [],
  "operator-audit.ok": ["length"],
  "operator-audit.broken": ["seq"],
  "backup.ok": ["ageHours"],
  "backup.first": [],
  "backup.unset": ["cause"],
  "backup.unusable": ["cause"],
  "backup.never": ["interval", "folder"],
  "backup.late": ["ageHours", "interval", "folder"],
  "backup.failed": ["startedAt", "cause", "ageHours", "folder"],
  "backup.failed-always": ["startedAt", "cause", "folder"],
  "backup.damaged": ["startedAt", "cause", "ageHours", "folder"],
  "backup.damaged-always": ["startedAt", "cause", "folder"],
  "backup-drill.ok": ["startedAt"],
  "backup-drill.running": ["startedAt"],
  "backup-drill.never": [],
  "backup-drill.failed": ["startedAt", "cause"],
  "backup-drill.cancelled": ["startedAt"],
  "backup-drill.old": ["startedAt"],
} as const satisfies Readonly<Record<FindingCode, readonly string[]>>;

/** What the words of a code are filled with. */
export type ParamsOf<C extends FindingCode> = Record<(typeof findingParams)[C][number], string | number>;
