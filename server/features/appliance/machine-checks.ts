import { constants } from "node:fs";
import { access, readFile, stat } from "node:fs/promises";
import { freemem, totalmem } from "node:os";
import path from "node:path";
import { type Config, isLoopback } from "../../config.ts";
import { measureRoom, mebibyte } from "../../kernel/capacity-room.ts";
import type { Finding } from "../health/contract.ts";
import { finding, messageOf } from "../health/service.ts";

/** What can be looked at without opening the data: it works while the service is stopped, and when the data cannot be opened. */

const lowDiskBytes = 1024 ** 3;
const lowMemoryBytes = 256 * 1024 ** 2;
const smallMachineBytes = 1.5 * 1024 ** 3;

export async function machineChecks(config: Config): Promise<Finding[]> {
  return [
    ...(await dataFolder(config)),
    await masterKey(config),
    memory(),
    ...settings(config),
    ...(await files(config)),
  ];
}

async function dataFolder(config: Config): Promise<Finding[]> {
  const one = finding("data-folder", "storage");
  const { dataDir } = config;
  const found = await stat(dataDir).catch((error: unknown) => error);
  if (found instanceof Error) {
    if ("code" in found && found.code === "ENOENT") return [one.warning("data-folder.new", { folder: dataDir })];
    return [one.wrong("data-folder.hidden", { folder: dataDir, cause: messageOf(found) })];
  }
  const writable = await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => null,
    (error: unknown) => messageOf(error),
  );
  if (writable !== null) return [one.wrong("data-folder.read-only", { folder: dataDir, cause: writable })];
  return [await owner(dataDir), await disk(config)];
}

/** Whoever can write the folder can exchange everything in it, and files of another owner stop the service halfway. */
async function owner(dataDir: string): Promise<Finding> {
  const one = finding("data-folder", "storage");
  const self = process.getuid?.();
  // Root may write everywhere: the question is whether what lies there belongs together.
  const folder = await stat(dataDir);
  const expected = self === undefined || self === 0 ? folder.uid : self;
  for (const name of ["", "signet.db", "signet.db-wal", "blobs", "master.key", "signet.json"]) {
    const found = await stat(path.join(dataDir, name)).catch(() => null);
    if (!found) continue;
    const file = path.join(dataDir, name);
    if (self !== undefined && found.uid !== expected)
      return one.wrong("data-folder.foreign", { file, owner: found.uid, expected, folder: dataDir });
    if (process.platform !== "win32" && (found.mode & 0o002) !== 0) return one.wrong("data-folder.open", { file });
  }
  return one.ok("data-folder.ok", { folder: dataDir });
}

/** Measured, and judged, as the running appliance does it. */
async function disk({ dataDir, diskWarnPercent, diskFullPercent, diskReserveMb }: Config): Promise<Finding> {
  const one = finding("disk", "storage");
  const { freeBytes, volumeBytes, usedPercent } = await measureRoom(dataDir, diskReserveMb * mebibyte);
  const room = { freeBytes, volumeBytes, usedPercent };
  const low = { ...room, folder: dataDir };
  if (usedPercent >= diskFullPercent || freeBytes < lowDiskBytes / 4) return one.wrong("disk.low", low);
  return usedPercent >= diskWarnPercent || freeBytes < lowDiskBytes
    ? one.warning("disk.low", low)
    : one.ok("disk.ok", room);
}

async function masterKey({ masterKeyFile: file, dataDir }: Config): Promise<Finding> {
  const one = finding("master-key", "keys");
  const found = await stat(file).catch(() => null);
  if (!found) {
    const data = await stat(path.join(dataDir, "signet.db")).catch(() => null);
    if (!data) return one.warning("master-key.new", { file });
    return one.wrong("master-key.missing", { file, folder: dataDir });
  }
  if (process.platform !== "win32" && (found.mode & 0o077) !== 0) return one.wrong("master-key.open", { file });
  const readable = await access(file, constants.R_OK).then(
    () => true,
    () => false,
  );
  if (!readable) return one.wrong("master-key.unreadable", { file });
  if (path.dirname(file) === dataDir) return one.warning("master-key.beside", {});
  return one.ok("master-key.ok", { file });
}

function memory(): Finding {
  const one = finding("memory", "machine");
  const seen = { availableBytes: availableMemory(), totalBytes: totalmem() };
  if (seen.availableBytes < lowMemoryBytes) return one.warning("memory.low", seen);
  return seen.totalBytes < smallMachineBytes ? one.warning("memory.small", seen) : one.ok("memory.ok", seen);
}

/** What programs may still have: the system gives back its caches. */
const availableMemory = (): number => (process.availableMemory === undefined ? freemem() : process.availableMemory());

function settings(config: Config): Finding[] {
  const address = finding("address", "network");
  const local = isLoopback(new URL(config.baseUrl).hostname);
  const host = config.baseUrlConfigured && !local;
  return [
    finding("node", "machine").ok("node.ok", { version: process.version }),
    host
      ? address.ok("address.ok", { url: config.baseUrl })
      : address.warning("address.local", { url: config.baseUrl }),
    mail(config, local),
    timestamps(config),
  ];
}

function mail(config: Config, local: boolean): Finding {
  const one = finding("mail", "mail");
  if (!config.smtpUrl) return one.warning("mail.files", { folder: path.join(config.dataDir, "outbox") });
  if (local) return one.warning("mail.held", {});
  return one.ok("mail.ok", { server: new URL(config.smtpUrl).host });
}

function timestamps(config: Config): Finding {
  const one = finding("time-stamps", "keys");
  return config.tsaUrls.length === 0
    ? one.warning("time-stamps.own", {})
    : one.ok("time-stamps.ok", { urls: config.tsaUrls.join(", ") });
}

/** Files that settings name, which the start would stumble over. */
async function files(config: Config): Promise<Finding[]> {
  const named = [
    ["SIGNET_TLS_CERT", config.tlsCert],
    ["SIGNET_TLS_KEY", config.tlsKey],
    ["SIGNET_CA_FILE", config.caFile],
    ["SIGNET_PKCS11_MODULE", config.pkcs11Module],
    ["SIGNET_PKCS11_PIN_FILE", config.pkcs11PinFile],
  ] as const;
  const findings: Finding[] = [];
  for (const [variable, file] of named) {
    if (file === undefined) continue;
    const cause = await readFile(file).then(
      () => null,
      (error: unknown) => messageOf(error),
    );
    if (cause !== null)
      findings.push(finding("settings", "settings").wrong("settings.file", { variable, file, cause }));
  }
  return findings.length > 0 ? findings : [finding("settings", "settings").ok("settings.ok", {})];
}
