import { randomInt, X509Certificate } from "node:crypto";
import forge from "node-forge";
import { z } from "zod";
import { toTs } from "../../../kernel/clock.ts";
import { OutboundError } from "../../../kernel/outbound.ts";
import { type AcmeClient, AcmeError } from "./client.ts";
import type { AcmeRenewal } from "./contract.ts";

/** When a certificate is renewed, and when what failed is tried again. */

const minuteMs = 60_000;
const hourMs = 3_600_000;
const lookEveryMs = 6 * hourMs;

const RenewalInfo = z.object({
  suggestedWindow: z.object({ start: z.coerce.date(), end: z.coerce.date() }),
  explanationURL: z.string().optional(),
});

export type Plan = {
  renewal: AcmeRenewal /** When the authority is to be asked again; null where it suggests nothing. */;
  lookAt: number | null;
};

/**
 * The authority's suggestion (RFC 9773), else when a third of the life is left.
 * @param known the plan so far: the moment within a window is drawn once
 */
export async function planRenewal(
  client: AcmeClient,
  certPem: string,
  nowMs: number,
  known: AcmeRenewal | null,
): Promise<Plan> {
  const { renewalInfo } = await client.directory();
  const byLife = lifeOf(certPem);
  const last = { at: toTs(byLife.renewAt), by: "life", window: null, explanation: null } as const;
  const id = renewalInfo === undefined ? null : renewalIdOf(certPem);
  if (renewalInfo === undefined || id === null) return { renewal: last, lookAt: null };
  try {
    const answer = await client.get(`${renewalInfo.replace(/\/$/, "")}/${id}`);
    const { suggestedWindow: given, explanationURL: explanation = null } = answer.json(RenewalInfo);
    const lookAt = nowMs + Math.min(Math.max(answer.retryAfterMs ?? lookEveryMs, minuteMs), 24 * hourMs);
    const [start, end] = [given.start.getTime(), given.end.getTime()];
    if (end <= start) return { renewal: last, lookAt };
    const window = { start: toTs(start), end: toTs(end) };
    const same = known?.window?.start === window.start && known.window.end === window.end;
    const drawn = start + Math.floor((randomInt(1_000_000) / 1_000_000) * (end - start));
    // A window behind the end of the certificate would leave the server without one.
    const at = same && known ? known.at : toTs(Math.min(drawn, byLife.lastAt));
    return { renewal: { at, by: "authority", window, explanation }, lookAt };
  } catch (error) {
    if (!(error instanceof AcmeError || error instanceof OutboundError)) throw error;
    return { renewal: known ?? last, lookAt: nowMs + lookEveryMs };
  }
}

/** Milliseconds: when a third is left, and when a tenth. */
function lifeOf(certPem: string): { renewAt: number; lastAt: number } {
  const certificate = new X509Certificate(certPem);
  const [start, end] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()];
  return { renewAt: Math.floor(end - (end - start) / 3), lastAt: Math.floor(end - (end - start) / 10) };
}

/** Names a certificate to its authority (RFC 9773 §4.1); null where it says not who issued it. */
export function renewalIdOf(certPem: string): string | null {
  const { asn1, pki } = forge;
  const certificate = pki.certificateFromPem(certPem);
  const extension: { value?: unknown } | undefined = certificate.getExtension("authorityKeyIdentifier") ?? undefined;
  if (typeof extension?.value !== "string") return null;
  const { value } = asn1.fromDer(extension.value);
  const keyId = Array.isArray(value)
    ? value.find(({ tagClass, type }) => tagClass === asn1.Class.CONTEXT_SPECIFIC && Number(type) === 0)?.value
    : undefined;
  if (typeof keyId !== "string") return null;
  const serial = Buffer.from(certificate.serialNumber, "hex").toString("base64url");
  return `${Buffer.from(keyId, "latin1").toString("base64url")}.${serial}`;
}

/**
 * Milliseconds until the next try. Who cannot be reached is asked soon again; what the authority refused is mostly somebody's to
 * repair, and authorities count refusals.
 * @param leftMs of the life of the certificate that is served; null without one
 */
export function retryDelay(
  failures: number,
  about: { refused: boolean; retryAfterMs: number | null; leftMs: number | null },
): number {
  const first = about.refused ? 15 * minuteMs : minuteMs;
  const most = about.leftMs === null ? lookEveryMs : Math.min(Math.max(about.leftMs / 8, minuteMs), lookEveryMs);
  const wait = Math.min(first * 2 ** Math.min(failures - 1, 20), most);
  return Math.max(wait, about.retryAfterMs ?? 0);
}
