import { Link } from "@tanstack/react-router";
import { listWebhookEndpoints } from "../../../../../server/features/webhooks/contract.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { useCan } from "../../session.tsx";
import { isAlarming } from "../webhooks/alarm.ts";

/** Says to those who run the organization that a webhook endpoint has been failing for more than a day; else nothing. */
export function WebhookNotice({ testMode }: { testMode: boolean }) {
  const t = translator("shell");
  const manages = useCan("org:manage");
  const query = { limit: "100", testMode: testMode ? "1" : "0" } as const;
  const { data } = useEndpoint(listWebhookEndpoints, { query }, { enabled: manages });
  const count = data?.data.filter((endpoint) => isAlarming(endpoint, Date.now())).length ?? 0;
  if (count === 0) return null;
  return (
    <div className="notice bad">
      <strong>{t("webhooks.failing", { count })}</strong>
      {t("webhooks.failingText")} <Link to="/settings/webhooks">{t("webhooks.show")}</Link>
    </div>
  );
}
