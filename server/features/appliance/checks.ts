import type { Ts } from "../../kernel/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import { backupFindings, readBackupState } from "../backup/service.ts";
import { anchorHold, anchorResumption } from "../evidence/service.ts";
import type { Checks, Finding } from "../health/contract.ts";
import { countStates, finding, messageOf } from "../health/service.ts";
import { allOrganizations } from "../identity/service.ts";
import { inspectToken } from "../keys/service.ts";
import { checkOperatorChain } from "../operators/service.ts";
import { acmeHealth, nearEndDays, type ServedPair } from "../tls/service.ts";
import { capacityFindings } from "./capacity.ts";
import { readExpiries } from "./expiries.ts";
import { machineChecks } from "./machine-checks.ts";
import { listStuckWork } from "./work.ts";

/** Days before its end at which a certificate is worth a word. */
const keyNotice = 90;
const tlsNotice = 21;
const integrityEveryMs = 3_600_000;

export type CheckOptions = {
  /** What clients are shown; null for plain HTTP. */
  tls: Pick<ServedPair, "source" | "certPem"> | null;
  /** Walks the whole database, which takes its time; without it the walk of the last hour counts. */
  thorough: boolean;
};

type Counted = Checks["counts"] & { at: Ts };
const counted = new WeakMap<Deps["db"], Counted>();

/** What the last look of this process found; null before the first. */
export const lastCounts = (db: Deps["db"]): Counted | null => counted.get(db) ?? null;

/** Looks at everything, data and machine. One check that fails is a finding and keeps no other from being made. */
export async function runChecks(deps: Deps, options: CheckOptions): Promise<Checks> {
  const looks: [string, Finding["area"], () => Promise<Finding[]>][] = [
    ["machine", "machine", () => machineChecks(deps.config)],
    ["capacity", "storage", () => capacityFindings(deps.capacity)],
    ["clock", "machine", async () => [clock(deps)]],
    ["database", "storage", async () => [await database(deps, options.thorough)]],
    ["keys", "keys", () => certificates(deps, options.tls)],
    ["acme", "network", () => acme(deps, options.tls)],
    ["hsm", "keys", () => hsm(deps)],
    ["stuck-work", "work", () => work(deps)],
    ["backup", "backup", async () => backupFindings(deps, await readBackupState(deps, { current: () => null }))],
    ["anchors", "keys", async () => [await anchors(deps)]],
    ["organizations", "organizations", async () => [await organizations(deps)]],
    ["operator-audit", "service", async () => [await audit(deps)]],
  ];
  const data: Finding[] = [];
  for (const [id, area, look] of looks) {
    try {
      data.push(...(await look()));
    } catch (error) {
      data.push(finding(id, area).wrong("check.failed", { cause: messageOf(error) }));
    }
  }
  const counts = countStates(data);
  const at = deps.clock.ts();
  counted.set(deps.db, { ...counts, at });
  return { at, counts, data };
}

function clock({ clock: own }: Deps): Finding {
  const one = finding("clock", "machine");
  const doubt = own.doubt?.() ?? null;
  return doubt
    ? one.wrong("clock.doubted", { machine: doubt.machine, expected: doubt.expected })
    : one.ok("clock.ok", { now: own.ts() });
}

const walked = new WeakMap<Deps["db"], { atMs: number; problems: string[] }>();

async function database({ db, clock: own }: Deps, thorough: boolean): Promise<Finding> {
  const known = walked.get(db);
  const fresh = thorough || !known || own.now() - known.atMs > integrityEveryMs;
  const problems = fresh ? await db.check() : known.problems;
  if (fresh) walked.set(db, { atMs: own.now(), problems });
  const one = finding("database", "storage");
  return problems.length === 0
    ? one.ok("database.ok", {})
    : one.wrong("database.damaged", { problems: problems.slice(0, 3).join("; ") });
}

/** A seal under a certificate that has run out is refused, so its end must not come as a surprise. */
async function certificates(deps: Deps, tls: CheckOptions["tls"]): Promise<Finding[]> {
  const findings = (await readExpiries(deps.db.read, deps.clock.now(), tls?.certPem ?? null)).map((expiry) =>
    expiry.what === "tls" ? certificate(expiry, tls) : key({ ...expiry, what: expiry.what }),
  );
  return tls === null ? [...findings, finding("tls", "network").ok("tls.plain", {})] : findings;
}

type End = { validUntil: Ts; days: number };

function certificate({ validUntil: day, days }: End, tls: CheckOptions["tls"]): Finding {
  const one = finding("tls", "network");
  if (days < 0) return one.wrong("tls.ended", { day });
  if (days < noticeOf(tls)) return one.warning("tls.ending", { day, days });
  return tls?.source === "self-signed" ? one.warning("tls.self-signed", { day }) : one.ok("tls.ok", { day });
}

function key({ what, validUntil: day, days }: End & { what: "ca" | "seal" | "timestamp" | "anchor" }): Finding {
  const one = finding(`key.${what}`, "keys");
  const use = what === "timestamp" ? "tsa" : what;
  if (days < 0) return one.wrong("key.ended", { day, use });
  return days < keyNotice ? one.warning("key.ending", { day, days, use }) : one.ok("key.ok", { day });
}

/** In days; what is renewed by itself is worth a word only when it should have been. */
function noticeOf(tls: CheckOptions["tls"]): number {
  if (tls?.source === "self-signed") return 0;
  return tls?.source === "acme" ? Math.min(nearEndDays(tls.certPem), tlsNotice) : tlsNotice;
}

async function acme(deps: Deps, tls: CheckOptions["tls"]): Promise<Finding[]> {
  const health = await acmeHealth(deps, tls);
  return health === null ? [] : [health];
}

/** The token, with one try of its PIN at most. */
async function hsm(deps: Deps): Promise<Finding[]> {
  const seen = await inspectToken(deps);
  if (!seen) return [];
  const one = finding("hsm", "keys");
  if (!seen.ok) {
    const { code, reason } = seen.cause;
    return [one.wrong(`hsm.${code}`, { trouble: code, reason })];
  }
  const { model, serial, keys, missing } = seen.state;
  const about = { token: [model, serial].filter(Boolean).join(" "), keys };
  return [
    missing.length === 0
      ? one.ok("hsm.ok", about)
      : one.warning("hsm.lacking", { ...about, missing: missing.join(", ") }),
  ];
}

const shownCauses = 5;

async function work({ db }: Deps): Promise<Finding[]> {
  const { data, total } = await listStuckWork(db.read, 500);
  const looks = [
    ["stuck-work", "failed"],
    ["repeated-work", "failing"],
  ] as const;
  return looks.map(([id, state]) => {
    const one = finding(id, "work");
    const stuck = data.filter((job) => job.state === state);
    if (stuck.length === 0) return one.ok(`${id}.ok`, {});
    const causes = stuck
      .slice(0, shownCauses)
      .map(({ name, cause, attempts }) =>
        state === "failed" ? `${name}: ${cause}` : `${name} (${attempts} ×): ${cause}`,
      );
    const about = { number: stuck.length, causes: causes.join("; ") };
    return one.warning(total > data.length ? `${id}.many` : `${id}.some`, about);
  });
}

async function organizations({ db }: Deps): Promise<Finding> {
  const one = finding("organizations", "organizations");
  const all = await allOrganizations(db.read);
  return all.length > 0
    ? one.ok("organizations.ok", { names: all.length > 5 ? all.length : all.map(({ name }) => name).join(", ") })
    : one.warning("organizations.none", {});
}

async function anchors(deps: Deps): Promise<Finding> {
  const one = finding("anchors", "keys");
  const held = await anchorHold(deps);
  if (held === null) {
    const resumed = await anchorResumption(deps);
    return resumed === null ? one.ok("anchors.ok", {}) : one.ok("anchors.resumed", resumed);
  }
  const { later, backup } = held;
  if (later !== null) return one.wrong("anchors.later", { later });
  return backup === null ? one.wrong("anchors.held", {}) : one.wrong("anchors.restored", { backup });
}

async function audit({ db }: Deps): Promise<Finding> {
  const one = finding("operator-audit", "service");
  const { valid, length, brokenAtSeq } = await checkOperatorChain(db.read);
  return valid
    ? one.ok("operator-audit.ok", { length })
    : one.wrong("operator-audit.broken", { seq: `${brokenAtSeq}` });
}
