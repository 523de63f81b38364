import { z } from "zod";
import type { AdminAction } from "../../../../../server/features/identity/admin-audit.ts";
import { OrgRole } from "../../../../../server/features/identity/contract.ts";
import type { AdminAuditEntry } from "../../../../../server/features/organization/people-contract.ts";
import { translator } from "../../../../shared/i18n.ts";

/** What was done to an organization, as a sentence that begins with who did it. */

const Text = z.string().catch("");
const Days = z.number().nullable().catch(null);

export function actorName({ type, name, email }: AdminAuditEntry["actor"]): string {
  const t = translator("settings");
  if (type === "system") return t("audit.system");
  if (type === "operator") return t("audit.operator");
  return name ?? email ?? t("audit.somebody");
}

/** The sentence without its beginning, the actor. */
export function sentenceOf({ action, data }: Pick<AdminAuditEntry, "action" | "data">): string {
  const t = translator("settings");
  const text = (key: string) => Text.parse(data[key]);
  const role = (key: string) => {
    const known = OrgRole.safeParse(data[key]);
    return known.success ? t(`audit.role.${known.data}`) : text(key);
  };
  const person = () => text("name") || text("email");
  const mode = () => (data.mode === "live" ? t("audit.modes.live") : t("audit.modes.test"));
  const sentences: Record<AdminAction, () => string> = {
    "organization.created": () => t("audit.act.organizationCreated", { name: text("name") }),
    "organization.updated": () => t("audit.act.organizationUpdated"),
    "member.joined": () => t("audit.act.memberJoined", { role: role("role") }),
    "member.role_changed": () =>
      t("audit.act.memberRoleChanged", { name: person(), from: role("from"), to: role("to") }),
    "member.removed": () => t("audit.act.memberRemoved", { name: text("name"), email: text("email") }),
    "member.left": () => t("audit.act.memberLeft"),
    "invitation.created": () => t("audit.act.invitationCreated", { email: text("email"), role: role("role") }),
    "invitation.resent": () => t("audit.act.invitationResent", { email: text("email") }),
    "invitation.revoked": () => t("audit.act.invitationRevoked", { email: text("email") }),
    "api_key.created": () => t("audit.act.apiKeyCreated", { name: text("name"), mode: mode() }),
    "api_key.revoked": () => t("audit.act.apiKeyRevoked", { name: text("name") }),
    "envelope.retried": () => t("audit.act.envelopeRetried"),
    "envelope.held": () => t("audit.act.envelopeHeld", { reason: text("reason") }),
    "envelope.released": () => t("audit.act.envelopeReleased"),
    "envelope.documents_deleted": () => t("audit.act.documentsDeleted", { count: Days.parse(data.keepDays) ?? 0 }),
    "retention.changed": () => t("audit.act.retentionChanged"),
    "webhook.created": () => t("audit.act.webhookCreated", { url: text("url") }),
    "webhook.updated": () => t("audit.act.webhookUpdated", { url: text("url") }),
    "webhook.deleted": () => t("audit.act.webhookDeleted", { url: text("url") }),
    "webhook.secret_revealed": () => t("audit.act.webhookRevealed", { url: text("url") }),
    "webhook.secret_rotated": () => t("audit.act.webhookRotated", { url: text("url") }),
    "webhook.replayed": () => t("audit.act.webhookReplayed", { url: text("url"), count: Days.parse(data.events) ?? 0 }),
  };
  const known = Object.entries(sentences).find(([name]) => name === action);
  return known ? known[1]() : t("audit.act.other", { action });
}

const Change = z.object({ from: z.string().nullable(), to: z.string().nullable() });

/** What an update changed, one line a setting. */
export function changesOf({ action, data }: Pick<AdminAuditEntry, "action" | "data">): string[] {
  const t = translator("settings");
  if (action === "retention.changed") {
    const days = (value: unknown) => {
      const count = Days.parse(value);
      return count === null ? t("audit.keep.forever") : t("audit.keep.days", { count });
    };
    return [t("audit.change", { field: t("audit.keep.field"), from: days(data.from), to: days(data.to) })];
  }
  if (action !== "organization.updated") return [];
  return (["name", "locale", "timeZone", "notifyEmail"] as const).flatMap((field) => {
    const change = Change.safeParse(data[field]);
    if (!change.success) return [];
    const { from, to } = change.data;
    const nothing = t("audit.nothing");
    return [t("audit.change", { field: t(`audit.fields.${field}`), from: from ?? nothing, to: to ?? nothing })];
  });
}
