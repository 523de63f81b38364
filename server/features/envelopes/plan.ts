import type { Config } from "../../config.ts";

/** What a plan includes, as far as something here depends on it (specification, Plans). Pure. */
export type Plan = {
  /** Completed live envelopes a period after which sending stops; null: no stop. */
  stopsAt: number | null;
  /** null: unlimited. */
  viewersPerEnvelope: number | null;
  viewerDocumentAccess: boolean;
  auditLogExport: boolean;
};

export const plans: Readonly<Record<Config["plan"], Plan>> = {
  free: { stopsAt: 100, viewersPerEnvelope: 1, viewerDocumentAccess: false, auditLogExport: false },
  pay_as_you_go: { stopsAt: null, viewersPerEnvelope: 2, viewerDocumentAccess: false, auditLogExport: false },
  team: { stopsAt: null, viewersPerEnvelope: 5, viewerDocumentAccess: true, auditLogExport: false },
  business: { stopsAt: null, viewersPerEnvelope: 20, viewerDocumentAccess: true, auditLogExport: true },
  platform: { stopsAt: null, viewersPerEnvelope: null, viewerDocumentAccess: true, auditLogExport: true },
};

/** The first thing that the plan does not allow, as a sentence; undefined when all is included. */
export function planRefusal(
  plan: Plan,
  wanted: { viewers: number; viewerDocumentAccess: boolean },
): string | undefined {
  if (plan.viewersPerEnvelope !== null && wanted.viewers > plan.viewersPerEnvelope) {
    const most = plan.viewersPerEnvelope === 1 ? "1 viewer" : `${plan.viewersPerEnvelope} viewers`;
    return `The plan allows ${most} per envelope (features.viewersPerEnvelope).`;
  }
  if (wanted.viewerDocumentAccess && !plan.viewerDocumentAccess) {
    return "The plan does not let viewers see the document (features.viewerDocumentAccess).";
  }
  return undefined;
}
