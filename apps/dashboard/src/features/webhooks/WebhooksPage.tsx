import { Button } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { listWebhookEndpoints, type WebhookEndpoint } from "../../../../../server/features/webhooks/contract.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Send } from "../../../../shared/ui/icons.tsx";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { useMode } from "../../mode.tsx";
import { useCan } from "../../session.tsx";
import { isAlarming } from "./alarm.ts";
import { EndpointDialog } from "./EndpointDialog.tsx";
import { SecretDialog } from "./SecretDialog.tsx";
import { dayWords, stateOf, stateTones } from "./words.ts";
import "../../../../shared/ui/kit/table.css";
import "./webhooks.css";

/** The endpoints of the mode that is shown, and how they do. */
export function WebhooksPage() {
  const t = translator("webhooks");
  const canManage = useCan("org:manage");
  const { testMode } = useMode();
  const [adding, setAdding] = useState(false);
  const navigate = useNavigate();
  const [made, setMade] = useState<WebhookEndpoint | null>(null);
  const list = useEndpoint(
    listWebhookEndpoints,
    { query: { limit: "100", testMode: testMode ? "1" : "0" } },
    { enabled: canManage, refetchInterval: 15_000 },
  );
  const add = canManage && <Button onClick={() => setAdding(true)}>{t("add")}</Button>;
  const description = canManage ? `${t("description")} ${t(testMode ? "mode.test" : "mode.live")}` : t("description");
  const endpoints = list.data?.data;
  return (
    <>
      <PageHeader title={t("title")} description={description} actions={add} />
      {!canManage && <Empty title={t("forbidden")} text={t("forbiddenText")} />}
      {canManage && (
        <nav className="webhook-links" aria-label={t("links.label")}>
          <Link to="/settings/webhooks/events">{t("links.events")}</Link>
          <Link to="/settings/webhooks/check">{t("links.check")}</Link>
        </nav>
      )}
      {canManage && list.isPending && <Loading rows={4} height={56} />}
      {list.isError && <Failure error={list.error} />}
      {endpoints && <Alarm endpoints={endpoints} />}
      {endpoints?.length === 0 && (
        <Empty icon={<Send size={32} />} title={t("none")} text={t("noneText")} action={add} />
      )}
      {endpoints && endpoints.length > 0 && <EndpointTable endpoints={endpoints} />}
      {adding && (
        <EndpointDialog
          onClose={() => setAdding(false)}
          onDone={(endpoint) => {
            setAdding(false);
            setMade(endpoint);
          }}
        />
      )}
      {made?.secret !== undefined && (
        <SecretDialog
          title={t("secret.created")}
          secret={made.secret}
          until={null}
          onClose={() => void navigate({ to: "/settings/webhooks/$id", params: { id: made.id } })}
        />
      )}
    </>
  );
}

function Alarm({ endpoints }: { endpoints: readonly WebhookEndpoint[] }) {
  const t = translator("webhooks");
  const count = endpoints.filter((endpoint) => isAlarming(endpoint, Date.now())).length;
  if (count === 0) return null;
  return (
    <div className="notice bad">
      <strong>{t("alarm.title", { count })}</strong>
      {t("alarm.text")}
    </div>
  );
}

function EndpointTable({ endpoints }: { endpoints: readonly WebhookEndpoint[] }) {
  const t = translator("webhooks");
  return (
    <table className="list-table webhook-table">
      <thead>
        <tr>
          <th scope="col">{t("list.endpoint")}</th>
          <th scope="col">{t("list.state")}</th>
          <th scope="col">{t("list.day")}</th>
          <th scope="col">{t("list.events")}</th>
        </tr>
      </thead>
      <tbody>
        {endpoints.map((endpoint) => {
          const state = stateOf(endpoint);
          const since = endpoint.health.failingSince;
          return (
            <tr key={endpoint.id}>
              <th scope="row">
                <Link to="/settings/webhooks/$id" params={{ id: endpoint.id }} dir="ltr">
                  {endpoint.url}
                </Link>
                {endpoint.description !== null && <small dir="auto">{endpoint.description}</small>}
              </th>
              <td data-label={t("list.state")}>
                <StatusBadge tone={stateTones[state]}>{t(`state.${state}`)}</StatusBadge>
                {state === "failing" && since !== null && (
                  <small>
                    {t("firstFailure")} <When at={since} />
                  </small>
                )}
              </td>
              <td data-label={t("list.day")}>{dayWords(endpoint.health)}</td>
              <td data-label={t("list.events")}>{t("eventCount", { count: endpoint.events.length })}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
