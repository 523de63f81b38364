import { X509Certificate } from "node:crypto";
import type { Deps } from "../../../kernel/deps.ts";
import { AppError } from "../../../kernel/errors.ts";
import { OutboundError } from "../../../kernel/outbound.ts";
import { systemActor } from "../../../kernel/wire.ts";
import { type OperatorAct, recordOperatorAct } from "../../operators/service.ts";
import { checkPair, readChain, readKey } from "../check.ts";
import type { TlsKeeper } from "../keeper.ts";
import { covers } from "../own-authority.ts";
import { fingerprintOf } from "../store.ts";
import { type AcmeClient, AcmeError, openAcmeClient } from "./client.ts";
import { isPaused, isServed } from "./findings.ts";
import { AcmePending, type AcmeWork } from "./open-order.ts";
import { obtainCertificate } from "./order.ts";
import { planRenewal, renewalIdOf, retryDelay } from "./renewal.ts";
import * as store from "./store.ts";
import { troubleOf } from "./trouble.ts";

/** One step towards the certificate: looks what is due, does it, and writes down when to go on. */

export type AcmeDeps = Pick<Deps, "db" | "clock" | "secrets" | "outbound" | "log" | "config"> & { tls: TlsKeeper };

/** The account or its order was replaced or removed while something was done with it. */
export class AcmeReplaced extends Error {
  constructor() {
    super("the account or its order was replaced meanwhile");
    this.name = "AcmeReplaced";
  }
}

const pausedLookMs = 3_600_000;

/**
 * @param isStill whether what was begun may go on, by what is stored at each change
 * @throws AcmeReplaced
 */
export async function openWork(
  deps: AcmeDeps,
  acme: store.Acme,
  signal: AbortSignal,
  isStill: (stored: store.AcmeProgress) => boolean = () => true,
): Promise<AcmeWork> {
  const { settings } = acme;
  const work: AcmeWork = {
    client: clientOf(deps, settings),
    settings,
    progress: acme.progress,
    secrets: await store.readSecrets(deps.db.read, deps, acme.id),
    challenges: deps.tls.challenges,
    now: deps.clock.now,
    signal,
    async save(change, also) {
      // Onto what is stored now: an administrator may have changed something else meanwhile.
      const stored = await deps.db.tx(async (tx) => {
        const now = await store.findAcme(tx);
        if (now?.id !== acme.id || !isStill(now.progress)) throw new AcmeReplaced();
        const changed = typeof change.progress === "function" ? change.progress(now.progress) : change.progress;
        const progress = { ...now.progress, ...changed };
        const secrets = { ...(await store.readSecrets(tx, deps, acme.id)), ...change.secrets };
        await store.updateAcme(tx, deps, acme.id, { progress, secrets });
        await also?.(tx);
        return { progress, secrets };
      });
      Object.assign(work, stored);
    },
  };
  return work;
}

export const clientOf = (
  { outbound, clock }: Pick<AcmeDeps, "outbound" | "clock">,
  { directory, rootPem }: Pick<store.AcmeSettings, "directory" | "rootPem">,
): AcmeClient => openAcmeClient({ outbound, now: clock.now }, { directoryUrl: directory, rootPem });

/** Does what is due. @throws AcmeReplaced; every other failure is written down */
export async function stepAcme(deps: AcmeDeps, acme: store.Acme, signal: AbortSignal): Promise<void> {
  // Somebody may have another certificate served at any moment, and that one is not replaced.
  const isStill = ({ choices }: store.AcmeProgress) => choices === acme.progress.choices;
  const work = await openWork(deps, acme, signal, isStill);
  try {
    if (await isDue(deps, work)) await renew(deps, work);
  } catch (error) {
    if (signal.aborted || error instanceof AcmeReplaced) throw error;
    await writeDown(deps, work, error);
  }
}

/** Plans the renewal, which may be now. */
async function isDue(deps: AcmeDeps, work: AcmeWork): Promise<boolean> {
  const { progress } = work;
  const current = deps.tls.current();
  if (isPaused(current, progress)) return await rest(work, { nextAt: deps.clock.now() + pausedLookMs });
  if (progress.requested || progress.order !== null || progress.certificate === null || !current) return true;
  const now = deps.clock.now();
  const { renewal, lookAt } = await planRenewal(work.client, current.certPem, now, progress.renewal);
  const nextAt = Math.min(Date.parse(renewal.at), lookAt ?? Number.POSITIVE_INFINITY);
  if (Date.parse(renewal.at) > now) return await rest(work, { renewal, nextAt, ...well });
  await work.save({ progress: { renewal } });
  return true;
}

/** @returns whether somebody asked for a new certificate meanwhile: that is put off by no plan of before */
async function rest(work: AcmeWork, planned: Partial<store.AcmeProgress>): Promise<boolean> {
  await work.save({ progress: ({ requested }) => (requested ? {} : planned) });
  return work.progress.requested;
}

const well = { state: "valid", trouble: null, failures: 0 } as const;

async function renew(deps: AcmeDeps, work: AcmeWork): Promise<void> {
  const { tls, clock, log } = deps;
  const { renewalInfo } = await work.client.directory();
  const current = tls.current();
  const replaces = renewalInfo && current && isServed(current, work.progress) ? renewalIdOf(current.certPem) : null;
  const { chainPem, keyPem } = await obtainCertificate(work, replaces);
  const certPem = await install(deps, work, chainPem, keyPem);
  const sha256 = fingerprintOf(certPem);
  const now = clock.now();
  const { renewal, lookAt } = await planRenewal(work.client, certPem, now, null);
  // An authority that issues what is due already is not asked without a pause.
  const pause = Math.min(3_600_000, (endOf(certPem) - now) / 4);
  const nextAt = Math.max(Math.min(Date.parse(renewal.at), lookAt ?? Number.POSITIVE_INFINITY), now + pause);
  await work.save({
    progress: { certificate: sha256, order: null, requested: false, renewal, nextAt: Math.floor(nextAt), ...well },
    secrets: { request: null },
  });
  log.info({ sha256, authority: new URL(work.settings.directory).host, renewal: renewal.at }, "certificate by ACME");
}

/** Serves it by the way of every certificate: the one before is kept. Done again after a kill it changes nothing. */
async function install(deps: AcmeDeps, work: AcmeWork, chainPem: string, keyPem: string): Promise<string> {
  const { tls, clock } = deps;
  const about = { host: tls.host, nowMs: clock.now(), wholeChain: true };
  let pair: ReturnType<typeof checkPair>;
  try {
    const given = readChain(chainPem);
    pair = checkPair(given, readKey(keyPem, undefined), about);
    const [leaf] = readChain(pair.certPem);
    const missing = work.settings.names.filter((name) => leaf === undefined || !covers(leaf, name));
    if (missing.length > 0)
      throw new AppError("validation-failed", { detail: `The certificate does not name ${missing.join(", ")}.` });
  } catch (error) {
    await work.save({ progress: { order: null }, secrets: { request: null } });
    if (!(error instanceof AppError)) throw error;
    throw new AcmeError({ type: "unusable", detail: `what it issued cannot be used: ${error.message}` });
  }
  const sha256 = fingerprintOf(pair.certPem);
  const kept = await tls.store.current();
  if (kept === null || fingerprintOf(kept.certPem) !== sha256) {
    const authority = new URL(work.settings.directory).host;
    const warnings = pair.warnings.map(({ message }) => message);
    const data = { authority, warnings };
    const act: OperatorAct = { actor: systemActor, action: "tls.acme_installed", target: sha256, data };
    // With the lock held: what somebody chooses from here on is put into its place after this one.
    await tls.store.put({ source: "acme", certPem: pair.certPem, keyPem: pair.keyPem }, () =>
      work.save({}, (tx) => recordOperatorAct(tx, { clock }, act)),
    );
  }
  await tls.reload();
  return pair.certPem;
}

async function writeDown(deps: AcmeDeps, work: AcmeWork, error: unknown): Promise<void> {
  const { clock, log, tls } = deps;
  const now = clock.now();
  if (error instanceof AcmePending) {
    await work.save({ progress: { state: "waiting", trouble: null, nextAt: Math.floor(now + error.delayMs) } });
    return;
  }
  const failures = work.progress.failures + 1;
  const refused = error instanceof AcmeError;
  const current = tls.current();
  const delay = retryDelay(failures, {
    refused,
    retryAfterMs: refused ? error.retryAfterMs : null,
    leftMs: current ? Math.max(endOf(current.certPem) - now, 0) : null,
  });
  const trouble = troubleOf(error, work.settings, clock.ts());
  // An account that the authority forgot is made anew.
  const forgotten = refused && error.type === "accountDoesNotExist" ? { account: null, order: null } : {};
  await work.save({
    progress: { ...forgotten, state: "failed", failures, trouble, nextAt: Math.floor(now + delay) },
  });
  const expected = refused || error instanceof OutboundError;
  log.warn({ ...trouble, failures, ...(expected ? {} : { err: error }) }, "no certificate by ACME");
}

const endOf = (certPem: string): number => new X509Certificate(certPem).validToDate.getTime();
