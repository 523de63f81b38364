import { X509Certificate } from "node:crypto";
import type { Deps } from "../../../kernel/deps.ts";
import type { Finding } from "../../health/contract.ts";
import { finding } from "../../health/service.ts";
import type { ServedPair } from "../keeper.ts";
import { fingerprintOf } from "../store.ts";
import { type AcmeProgress, findAcme } from "./store.ts";

type Shown = Pick<ServedPair, "certPem"> | null;

/** Whether the certificate that clients are shown is the last one that was issued. */
export const isServed = (shown: Shown, { certificate }: Pick<AcmeProgress, "certificate">): boolean =>
  shown !== null && certificate !== null && fingerprintOf(shown.certPem) === certificate;

/** What somebody else had served is not replaced unasked. */
export const isPaused = (shown: Shown, progress: AcmeProgress): boolean =>
  !progress.requested && progress.order === null && !isServed(shown, progress);

/** A failure that comes so near to the end of the certificate, in parts of its life, is more than a warning: renewal begins at a third. */
const urgentPart = 1 / 6;

/** How it stands with renewal by ACME, as a check says it; null where it is not set up. @param tls what clients are shown */
export async function acmeHealth({ db, clock }: Pick<Deps, "db" | "clock">, tls: Shown): Promise<Finding | null> {
  const acme = await findAcme(db.read);
  if (!acme) return null;
  const one = finding("acme", "network");
  const { settings, progress } = acme;
  const { trouble, renewal, certificate, failures } = progress;
  const { host } = new URL(settings.directory);
  if (isPaused(tls, progress)) return one.warning("acme.other", { host });
  if (trouble !== null) {
    const { code, params, message, action: remedy } = trouble;
    const details = trouble.details.length > 0 ? ` (${trouble.details.slice(0, 5).join("; ")})` : "";
    const about = { ...params, trouble: code, failures, message, details, remedy };
    const urgent = tls !== null && isServed(tls, progress) && isNearEnd(tls.certPem, clock.now());
    return one[urgent ? "wrong" : "warning"]("acme.failing", about);
  }
  if (certificate === null) return one.ok("acme.asked", { host });
  return renewal === null ? one.ok("acme.ok", { host }) : one.ok("acme.renewed", { host, day: renewal.at });
}

/** So many days before its end a certificate should have been renewed. */
export const nearEndDays = (certPem: string): number => {
  const { validFromDate, validToDate } = new X509Certificate(certPem);
  return ((validToDate.getTime() - validFromDate.getTime()) * urgentPart) / 86_400_000;
};

const isNearEnd = (certPem: string, nowMs: number): boolean =>
  new X509Certificate(certPem).validToDate.getTime() - nowMs < nearEndDays(certPem) * 86_400_000;
