import { constants } from "node:fs";
import { access, mkdir, stat, statfs } from "node:fs/promises";
import path from "node:path";
import { isLoopback } from "../config.ts";
import { allOrganizations } from "../features/identity/service.ts";
import { keyExpiries } from "../features/keys/service.ts";
import type { Deps } from "../kernel/deps.ts";
import { type Command, type CommandContext, print, table } from "./command.ts";
import { withDeps } from "./with-deps.ts";

type Finding = { check: string; state: "ok" | "warning" | "wrong"; detail: string };

const lowDiskBytes = 1024 ** 3;
/** Days before its end at which a certificate is worth a word. */
const expiryNotice = 90;
/** From so many attempts on work is worth a word. */
const manyAttempts = 3;

export const doctor: Command = {
  name: "doctor",
  summary: "look at settings, data folder, keys, mail and disk, and say what to do about what is wrong",
  usage: ["signet doctor"],
  options: {},
  async run(context) {
    const findings: Finding[] = [
      { check: "Node", state: "ok", detail: process.version },
      ...(await dataFolder(context)),
      ...settings(context),
    ];
    if (findings.every(({ state }) => state !== "wrong")) {
      findings.push(...(await withDeps(context, inside).catch((error: unknown) => [wrong("data", messageOf(error))])));
    }
    const ok = findings.every(({ state }) => state !== "wrong");
    print(
      context,
      { ok, findings },
      table(findings.map(({ check, state, detail }) => [state === "ok" ? "ok" : state.toUpperCase(), check, detail])),
    );
    return ok ? 0 : 1;
  },
};

const wrong = (check: string, detail: string): Finding => ({ check, state: "wrong", detail });
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

async function dataFolder({ config }: CommandContext): Promise<Finding[]> {
  try {
    await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
    await access(config.dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    return [
      wrong(
        "data folder",
        `${config.dataDir} cannot be written: ${messageOf(error)}. Give it to the user that runs Signet.`,
      ),
    ];
  }
  const disk = await statfs(config.dataDir);
  const free = disk.bavail * disk.bsize;
  const gigabytes = `${(free / 1024 ** 3).toFixed(1)} GiB free`;
  const findings: Finding[] = [
    { check: "data folder", state: "ok", detail: config.dataDir },
    free < lowDiskBytes
      ? { check: "disk", state: "warning", detail: `${gigabytes}: make room or move the data folder` }
      : { check: "disk", state: "ok", detail: gigabytes },
  ];
  const key = await stat(config.masterKeyFile).catch(() => null);
  if (key && (key.mode & 0o077) !== 0) {
    findings.push(wrong("master key", `${config.masterKeyFile} can be read by others: chmod 600 it`));
  } else if (path.dirname(config.masterKeyFile) === config.dataDir) {
    const detail =
      "lies on the data volume: whoever copies the folder can read everything. Set SIGNET_MASTER_KEY_FILE elsewhere.";
    findings.push({ check: "master key", state: "warning", detail });
  } else findings.push({ check: "master key", state: "ok", detail: config.masterKeyFile });
  return findings;
}

function settings({ config }: CommandContext): Finding[] {
  const mail: Finding = !config.smtpUrl
    ? {
        check: "mail",
        state: "warning",
        detail: `no SIGNET_SMTP_URL: mails are written to ${path.join(config.dataDir, "outbox")}`,
      }
    : isLoopback(new URL(config.baseUrl).hostname)
      ? {
          check: "mail",
          state: "warning",
          detail:
            "the base URL is loopback, so live mail is held back: set SIGNET_BASE_URL to the address that people open",
        }
      : { check: "mail", state: "ok", detail: new URL(config.smtpUrl).host };
  const tsa: Finding =
    config.tsaUrls.length === 0
      ? {
          check: "time stamps",
          state: "warning",
          detail: "built-in authority only: an internal time source, as each certificate says",
        }
      : { check: "time stamps", state: "ok", detail: config.tsaUrls.join(", ") };
  return [{ check: "address", state: "ok", detail: config.baseUrl }, mail, tsa];
}

async function inside(deps: Deps): Promise<Finding[]> {
  const problems = await deps.db.check();
  const organizations = await allOrganizations(deps.db.read);
  const dead = await deps.db.read
    .selectFrom("jobs")
    .select(["name", "last_error"])
    .where("status", "=", "dead")
    .limit(5)
    .execute();
  return [
    ...(await repeated(deps)),
    problems.length === 0
      ? { check: "database", state: "ok", detail: "whole" }
      : wrong("database", `${problems[0]}. Restore the last backup.`),
    ...(await certificates(deps)),
    organizations.length > 0
      ? { check: "organizations", state: "ok", detail: organizations.map(({ name }) => name).join(", ") }
      : {
          check: "organizations",
          state: "warning",
          detail: "none yet: signet init --organization NAME --email ADDRESS",
        },
    dead.length === 0
      ? { check: "stuck work", state: "ok", detail: "none" }
      : {
          check: "stuck work",
          state: "warning",
          detail: dead.map(({ name, last_error: cause }) => `${name}: ${cause}`).join("; "),
        },
  ];
}

/** A seal under a certificate that has run out is refused, so its end must not come as a surprise. */
async function certificates(deps: Deps): Promise<Finding[]> {
  const expiries = await keyExpiries(deps.db.read);
  const late = expiries.flatMap(({ purpose, validUntil }): Finding[] => {
    const days = Math.floor((Date.parse(validUntil) - deps.clock.now()) / 86_400_000);
    const check = `${purpose} certificate`;
    const day = validUntil.slice(0, 10);
    if (days < 0) return [wrong(check, `ended on ${day}: nothing can be sealed`)];
    const detail = `ends on ${day}, in ${days} days: nothing can be sealed after that`;
    return days < expiryNotice ? [{ check, state: "warning", detail }] : [];
  });
  return late.length > 0 || expiries.length === 0 ? late : [{ check: "certificates", state: "ok", detail: "valid" }];
}

/** What fails again and again, with its last cause. */
async function repeated(deps: Deps): Promise<Finding[]> {
  const jobs = await deps.db.read
    .selectFrom("jobs")
    .select(["name", "attempts", "last_error"])
    .where("status", "!=", "dead")
    .where("attempts", ">=", manyAttempts)
    .orderBy("attempts", "desc")
    .limit(5)
    .execute();
  if (jobs.length === 0) return [];
  const lines = jobs.map(
    ({ name, attempts, last_error: cause }) => `${name}, ${attempts} attempts: ${cause ?? "the process ended with it"}`,
  );
  return [{ check: "repeated work", state: "warning", detail: lines.join("; ") }];
}
