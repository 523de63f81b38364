import { randomUUID, type X509Certificate } from "node:crypto";
import type { Json } from "../../../kernel/canonical.ts";
import { toTs } from "../../../kernel/clock.ts";
import type { Tx } from "../../../kernel/db.ts";
import { AppError } from "../../../kernel/errors.ts";
import { enqueue } from "../../../kernel/jobs.ts";
import type { Actor } from "../../../kernel/wire.ts";
import type { OperatorAction } from "../../operators/contract.ts";
import { recordOperatorAct } from "../../operators/service.ts";
import { readChain } from "../check.ts";
import { isIP } from "../own-authority.ts";
import { refuseFiles } from "../service.ts";
import { forgetChallenges } from "./challenges.ts";
import type { AcmeSetup, AcmeState } from "./contract.ts";
import { isPaused } from "./findings.ts";
import { acmeStep } from "./jobs.ts";
import { newAccountKey } from "./jws.ts";
import { openAccount, rollOver } from "./order.ts";
import * as store from "./store.ts";
import { troubleOf } from "./trouble.ts";
import { type AcmeDeps, clientOf, openWork } from "./work.ts";

/** What administrators do about certificates by ACME. */

export async function readAcme({ db, tls, config }: Pick<AcmeDeps, "db" | "tls" | "config">): Promise<AcmeState> {
  const ports = { tls: config.port, http: config.httpPort ?? null };
  const acme = await store.findAcme(db.read);
  if (!acme) {
    const none = { setup: null, certificate: null, trouble: null, failures: 0, nextAt: null, renewal: null };
    return { state: "off", ...none, ports };
  }
  const { settings, progress, since } = acme;
  const { directory, names, contacts, challenge, eabKid, rootPem } = settings;
  const { account, certificate, trouble, failures, renewal } = progress;
  return {
    state: isPaused(tls.current(), progress) ? "paused" : progress.state,
    setup: { directory, names, contacts, challenge, eabKid, account, since, ownRoot: rootPem !== null },
    certificate,
    trouble,
    failures,
    nextAt: toTs(progress.nextAt),
    renewal,
    ports,
  };
}

/**
 * Keeps the settings and begins with the first certificate. The account of before goes on where the authority is the same.
 * @throws AppError `validation-failed` with a pointer; `conflict` when the authority cannot be asked or wants more
 */
export async function setUpAcme(deps: AcmeDeps, actor: Actor, asked: AcmeSetup): Promise<AcmeState> {
  refuseFiles(deps);
  if (asked.challenge === "http-01" && deps.config.httpPort === undefined)
    throw refused("#/challenge", "http-01 is answered over plain HTTP: set SIGNET_HTTP_PORT, and start Signet again.");
  const settings = settingsOf(deps, asked);
  const terms = await askDirectory(deps, settings, asked);
  const id = randomUUID();
  const { names, contacts, directory } = settings;
  await deps.db.tx(async (tx) => {
    // In here: a key that takes another's place at this moment is known already, or its change finds its account replaced.
    const known = await store.findAcme(tx);
    const reused = known && known.settings.directory === settings.directory && !asked.eab ? known : null;
    const held = reused && (await store.readSecrets(tx, deps, reused.id));
    const data: Record<string, Json> = { names, contacts, challenge: settings.challenge, terms };
    await recordOperatorAct(tx, deps, { actor, action: "tls.acme_set_up", target: directory, data });
    await store.replaceAcme(tx, deps, {
      id,
      since: deps.clock.ts(),
      settings: { ...settings, eabKid: asked.eab?.kid ?? reused?.settings.eabKid ?? null },
      secrets: {
        accountKey: held?.accountKey ?? newAccountKey().export({ type: "pkcs8", format: "pem" }).toString(),
        nextAccountKey: held?.nextAccountKey ?? null,
        eabKey: asked.eab?.hmacKey ?? held?.eabKey ?? null,
        request: null,
      },
      progress: {
        // Asked for anew, so that the authority hears of other addresses.
        account: null,
        order: null,
        unheard: null,
        certificate: known?.progress.certificate ?? null,
        requested: true,
        choices: 0,
        state: "working",
        trouble: null,
        failures: 0,
        nextAt: deps.clock.now(),
        renewal: null,
      },
    });
    await enqueue(tx, acmeStep, {});
  });
  return await readAcme(deps);
}

function settingsOf({ tls, clock }: AcmeDeps, asked: AcmeSetup): store.AcmeSettings {
  const { directory, contacts, challenge, rootPem = null } = asked;
  const names = [...new Set((asked.names ?? [tls.host]).map((name) => name.toLowerCase()))];
  const odd = names.find((name) => !isIP(name) && (/^[\d.]+$/.test(name) || name.includes(":")));
  if (odd !== undefined) throw refused("#/names", `${odd} is neither a host name nor an IP address.`);
  if (rootPem !== null) {
    let roots: X509Certificate[];
    try {
      roots = readChain(rootPem);
    } catch (cause) {
      throw refused("#/rootPem", "This is no certificate: it begins with -----BEGIN CERTIFICATE-----.", cause);
    }
    if (roots.every(({ validToDate }) => validToDate.getTime() <= clock.now()))
      throw refused("#/rootPem", "This root has ended.");
  }
  return { directory, contacts, challenge, rootPem, names, eabKid: null };
}

/** Asks the authority what it wants of a new account. @returns the terms that were agreed to */
async function askDirectory(deps: AcmeDeps, settings: store.AcmeSettings, asked: AcmeSetup): Promise<string | null> {
  const { meta } = await orConflict(deps, settings, () => clientOf(deps, settings).directory());
  if (meta.termsOfService !== undefined && !asked.agreeToTerms)
    throw refused("#/agreeToTerms", `The authority wants its terms to be agreed to: ${meta.termsOfService}`);
  const known = await store.findAcme(deps.db.read);
  const hasAccount = known?.settings.directory === settings.directory && known.progress.account !== null;
  if (meta.externalAccountRequired === true && !asked.eab && !hasAccount)
    throw refused(
      "#/eab",
      "The authority binds new accounts to known ones: give the key id and the key that it handed out.",
    );
  return meta.termsOfService ?? null;
}

/** Asks for a new certificate at once, also where another one is served. @throws AppError `conflict` when nothing is set up */
export async function renewAcme(deps: AcmeDeps, actor: Actor): Promise<AcmeState> {
  refuseFiles(deps);
  await deps.db.tx(async (tx) => {
    const { id, settings, progress } = await required(tx);
    await recordOperatorAct(tx, deps, { actor, action: "tls.acme_requested", target: settings.directory });
    const now = { requested: true, state: "working", trouble: null, nextAt: deps.clock.now() } as const;
    // Whoever asks is not put off for orders of which nobody heard.
    const unheard = progress.unheard && { ...progress.unheard, times: 0 };
    await store.updateAcme(tx, deps, id, { progress: { ...progress, ...now, unheard } });
    await enqueue(tx, acmeStep, {});
  });
  return await readAcme(deps);
}

/** Gives the account at the authority another key. @throws AppError `conflict` with what the authority says */
export async function replaceAcmeKey(deps: AcmeDeps, actor: Actor): Promise<AcmeState> {
  const acme = await required(deps.db.read);
  await record(deps, actor, "tls.acme_rolled_over", acme.settings.directory);
  await orConflict(deps, acme.settings, async () => {
    await rollOver(await openWork(deps, acme, AbortSignal.timeout(patienceMs)), newAccountKey());
  });
  return await readAcme(deps);
}

const patienceMs = 60_000;

/**
 * Forgets the account; the certificate is served on.
 * @throws AppError `conflict` when it was to be closed and the authority cannot be told
 */
export async function turnOffAcme(
  deps: AcmeDeps,
  actor: Actor,
  { deactivateAccount }: { deactivateAccount: boolean },
): Promise<AcmeState> {
  const acme = await required(deps.db.read);
  const { settings, progress } = acme;
  if (deactivateAccount && progress.account !== null)
    await orConflict(deps, settings, async () => {
      const work = await openWork(deps, acme, AbortSignal.timeout(patienceMs));
      const signer = await openAccount(work);
      await work.client.post(signer.kid ?? "", { status: "deactivated" }, signer);
    });
  await deps.db.tx(async (tx) => {
    const data = { deactivated: deactivateAccount };
    await recordOperatorAct(tx, deps, { actor, action: "tls.acme_turned_off", target: settings.directory, data });
    await store.deleteAcme(tx);
  });
  forgetChallenges(deps.tls.challenges);
  return await readAcme(deps);
}

/** Goes on with what was set up before this start. */
export async function resumeAcme(tx: Tx): Promise<void> {
  const acme = await store.findAcme(tx);
  if (acme) await enqueueStep(tx, acme.progress.nextAt);
}

/** One job a moment: one that waits for another moment finds nothing to do. @param nextAt milliseconds since the epoch */
export async function enqueueStep(tx: Tx, nextAt: number): Promise<void> {
  await enqueue(tx, acmeStep, {}, { runAt: nextAt, dedupeKey: `${acmeStep.name}:${nextAt}` });
}

async function required(reader: Parameters<typeof store.findAcme>[0]): Promise<store.Acme> {
  const acme = await store.findAcme(reader);
  if (!acme) throw new AppError("conflict", { detail: "ACME is not set up: signet tls acme setup." });
  return acme;
}

async function orConflict<T>(deps: AcmeDeps, settings: store.AcmeSettings, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    const { message, action } = troubleOf(cause, settings, deps.clock.ts());
    throw new AppError("conflict", { detail: `${message} ${action}`, cause });
  }
}

const refused = (pointer: string, detail: string, cause?: unknown) =>
  new AppError("validation-failed", { detail, cause, errors: [{ pointer, code: "format", detail }] });

async function record({ db, clock }: AcmeDeps, actor: Actor, action: OperatorAction, target: string): Promise<void> {
  await db.tx((tx) => recordOperatorAct(tx, { clock }, { actor, action, target }));
}
