import { X509Certificate } from "node:crypto";
import type { Json } from "../../kernel/canonical.ts";
import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import type { Actor } from "../../kernel/wire.ts";
import { readPkcs12 } from "../keys/service.ts";
import type { OperatorAction } from "../operators/contract.ts";
import { recordOperatorAct } from "../operators/service.ts";
import { forgetChallenges } from "./acme/challenges.ts";
import { leaveOrder } from "./acme/store.ts";
import { checkPair, describeChain, readChain, readKey } from "./check.ts";
import type { TlsCertificate, TlsState } from "./contract.ts";
import type { ServedPair, TlsKeeper } from "./keeper.ts";
import { makeRequest } from "./own-authority.ts";
import { fingerprintOf } from "./store.ts";

export { acmeHealth, nearEndDays } from "./acme/findings.ts";
export type { ServedPair } from "./keeper.ts";
export { peekTls } from "./peek.ts";

/** What administrators do about the certificate that clients see. Each act is in the operators' audit before it takes effect. */

export type TlsDeps = Pick<Deps, "db" | "clock"> & { tls: TlsKeeper };

export async function readTls({ tls, clock }: TlsDeps): Promise<TlsState> {
  const about = { host: tls.host, nowMs: clock.now() };
  const current = tls.current();
  const previous = current === null || current.source === "files" ? null : await tls.store.previous();
  const request = await tls.store.request();
  return {
    host: tls.host,
    current: current && present(current, about),
    previous: previous && present(previous, about),
    request: request && { names: request.names, createdAt: request.createdAt, csrPem: request.csrPem },
  };
}

function present({ source, certPem }: ServedPair, about: { host: string; nowMs: number }): TlsCertificate {
  return { source, ...describeChain(readChain(certPem), { ...about, wholeChain: source === "acme" }) };
}

/** Makes a key and a request; a request that waited before is forgotten with its key. */
export async function requestCertificate(
  deps: TlsDeps,
  actor: Actor,
  asked: { names: string[]; organization?: string | undefined },
): Promise<TlsState> {
  const { csrPem, keyPem } = await makeRequest(asked.names, asked.organization ?? null);
  await record(deps, actor, "tls.requested", null, { names: asked.names });
  await deps.tls.store.putRequest({ csrPem, keyPem, names: asked.names, createdAt: deps.clock.ts() });
  return await readTls(deps);
}

export type GivenPair =
  | { certificatePem: string; keyPem?: string | undefined; passphrase?: string | undefined }
  | { pfxBase64: string; passphrase: string };

/**
 * Serves a certificate at once, without a restart; connections that are open keep theirs.
 * @throws AppError `validation-failed` with a pointer; `conflict` while files of the settings are served
 */
export async function installCertificate(deps: TlsDeps, actor: Actor, given: GivenPair): Promise<TlsState> {
  refuseFiles(deps);
  const { certificates, key } = "pfxBase64" in given ? readPfx(given) : await readPem(deps, given);
  const pair = checkPair(certificates, key, { host: deps.tls.host, nowMs: deps.clock.now() });
  await recordChoice(deps, actor, "tls.installed", fingerprintOf(pair.certPem), {
    warnings: pair.warnings.map(({ message }) => message),
  });
  await deps.tls.store.put({ source: "installed", certPem: pair.certPem, keyPem: pair.keyPem });
  await deps.tls.reload();
  const request = await deps.tls.store.request();
  if (request && readKey(request.keyPem, undefined).equals(key)) await deps.tls.store.dropRequest();
  return await readTls(deps);
}

function readPfx({ pfxBase64, passphrase }: { pfxBase64: string; passphrase: string }) {
  const { privateKey, certificates } = readPkcs12(Buffer.from(pfxBase64, "base64"), passphrase);
  return { certificates, key: privateKey };
}

async function readPem(
  { tls }: TlsDeps,
  given: { certificatePem: string; keyPem?: string | undefined; passphrase?: string | undefined },
) {
  const certificates = readChain(given.certificatePem);
  if (given.keyPem !== undefined) return { certificates, key: readKey(given.keyPem, given.passphrase) };
  const request = await tls.store.request();
  const key = request && readKey(request.keyPem, undefined);
  if (!key || !certificates.some((certificate) => certificate.checkPrivateKey(key))) {
    const detail = "This certificate belongs to no request that was made here: send its private key along.";
    throw new AppError("validation-failed", { detail, errors: [{ pointer: "#/keyPem", code: "required", detail }] });
  }
  return { certificates, key };
}

/** Makes a new certificate of the appliance's own authority and serves it. */
export async function renewOwnCertificate(deps: TlsDeps, actor: Actor): Promise<TlsState> {
  refuseFiles(deps);
  await recordChoice(deps, actor, "tls.self_signed", null, { host: deps.tls.host });
  await deps.tls.renewOwn();
  return await readTls(deps);
}

/** @throws AppError `conflict` when there is no certificate before, or it has ended */
export async function rollBackCertificate(deps: TlsDeps, actor: Actor): Promise<TlsState> {
  refuseFiles(deps);
  const previous = await deps.tls.store.previous();
  if (!previous) throw new AppError("conflict", { detail: "There is no certificate before the present one." });
  const ended = new X509Certificate(previous.certPem).validToDate.getTime() <= deps.clock.now();
  if (ended) throw new AppError("conflict", { detail: "The certificate before the present one has ended." });
  await recordChoice(deps, actor, "tls.rolled_back", fingerprintOf(previous.certPem));
  await deps.tls.store.back();
  await deps.tls.reload();
  return await readTls(deps);
}

/** Looks at the configured files now instead of within a minute. */
export async function reloadCertificate(deps: TlsDeps, actor: Actor): Promise<TlsState> {
  if (await deps.tls.reload()) {
    const current = deps.tls.current();
    await record(deps, actor, "tls.reloaded", current && fingerprintOf(current.certPem));
  }
  return await readTls(deps);
}

export async function readOwnAuthority({ tls }: TlsDeps): Promise<{ certificatePem: string; sha256: string }> {
  const { certPem } = await tls.authority();
  return { certificatePem: certPem, sha256: fingerprintOf(certPem) };
}

/** @throws AppError `conflict` where the certificate is not ours to change */
export function refuseFiles({ tls }: Pick<TlsDeps, "tls">): void {
  const current = tls.current();
  if (current === null) {
    const detail = "The server speaks plain HTTP: it listens on loopback, or a trusted proxy stands before it.";
    throw new AppError("conflict", { detail });
  }
  if (current.source === "files") {
    const detail = "The certificate comes from the files in SIGNET_TLS_CERT and SIGNET_TLS_KEY: change it there.";
    throw new AppError("conflict", { detail });
  }
}

async function record(
  { db, clock }: Pick<TlsDeps, "db" | "clock">,
  actor: Actor,
  action: OperatorAction,
  target: string | null,
  data: Record<string, Json> = {},
  also: (tx: Tx) => Promise<void> = async () => undefined,
): Promise<void> {
  await db.tx(async (tx) => {
    await recordOperatorAct(tx, { clock }, { actor, action, target, data });
    await also(tx);
  });
}

/** Of a certificate that somebody chose: no order that is under way overrules it. */
async function recordChoice(
  deps: TlsDeps,
  actor: Actor,
  action: OperatorAction,
  target: string | null,
  data: Record<string, Json> = {},
): Promise<void> {
  await record(deps, actor, action, target, data, leaveOrder);
  forgetChallenges(deps.tls.challenges);
}
