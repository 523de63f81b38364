import type webhooks from "../../../../../locales/en/webhooks.json";
import type {
  DeliveryErrorCode,
  WebhookDelivery,
  WebhookEndpoint,
} from "../../../../../server/features/webhooks/contract.ts";
import { pageLanguage, translator } from "../../../../shared/i18n.ts";
import type { Tone } from "../../../../shared/ui/kit/StatusBadge.tsx";

/** What endpoints and deliveries are at, in words. */

declare module "../../../../shared/i18n.ts" {
  interface Catalogues {
    webhooks: typeof webhooks;
  }
}

type State = "working" | "failing" | "paused" | "untried" | "unproven";
export const stateTones: Record<State, Tone> = {
  working: "good",
  failing: "bad",
  paused: "waiting",
  untried: "neutral",
  unproven: "neutral",
};

export function stateOf({ enabled, health }: Pick<WebhookEndpoint, "enabled" | "health">): State {
  if (!enabled) return "paused";
  if (health.failingSince !== null) return "failing";
  if (health.lastSuccessAt !== null) return "working";
  return health.lastFailureAt === null ? "untried" : "unproven";
}

/** How the attempts of the last 24 hours went. The rate is rounded down: one failure keeps it below 100 %. */
export function dayWords({ successRate, attempts }: WebhookEndpoint["health"]): string {
  const t = translator("webhooks");
  if (successRate === null) return t("noAttempts");
  const format = new Intl.NumberFormat(pageLanguage(), { style: "percent", maximumFractionDigits: 1 });
  return t("rate", { rate: format.format(Math.floor(successRate * 1000) / 1000), count: attempts });
}

export const deliveryTones: Record<WebhookDelivery["status"], Tone> = {
  pending: "busy",
  succeeded: "good",
  failed: "bad",
};

/** What came of an attempt; null while nothing has. */
export function answerWords({ status, statusCode, error }: WebhookDelivery): string | null {
  const t = translator("webhooks");
  if (status === "pending") return null;
  const answered = () => t("answer.status", { status: statusCode ?? "" });
  if (error === null) return status === "succeeded" ? answered() : t("answer.givenUp");
  const words: Record<DeliveryErrorCode, () => string> = {
    timeout: () => t("answer.timeout"),
    dns: () => t("answer.dns"),
    connect: () => t("answer.connect"),
    tls: () => t("answer.tls"),
    "address-blocked": () => t("answer.blocked"),
    redirect: () =>
      statusCode === null ? t("answer.redirectPlain") : t("answer.redirect", { status: String(statusCode) }),
    "bad-status": answered,
    "too-large": () => t("answer.tooLarge"),
  };
  return words[error.code]();
}
