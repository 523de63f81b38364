import { useEffect } from "react";
import {
  getWebhookHours,
  type WebhookEndpoint,
  type WebhookHour,
} from "../../../../../server/features/webhooks/contract.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { dateTime, pageLanguage, translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { isAlarming } from "./alarm.ts";
import { dayWords, stateOf, stateTones } from "./words.ts";

type Props = {
  endpoint: WebhookEndpoint;
  refetchInterval: number;
  /** Changes when attempts were settled: then the hours are counted anew. */
  settled: boolean;
};

/** How an endpoint does, now and over the last day. */
export function Health({ endpoint, refetchInterval, settled }: Props) {
  const t = translator("webhooks");
  const { health, id } = endpoint;
  const state = stateOf(endpoint);
  const hours = useEndpoint(getWebhookHours, { params: { id } }, { refetchInterval });
  const { refetch } = hours;
  // biome-ignore lint/correctness/useExhaustiveDependencies: counted again when that changes
  useEffect(() => {
    void refetch();
  }, [refetch, settled]);
  const tried = health.lastSuccessAt !== null || health.lastFailureAt !== null;
  return (
    <section className="settings-section" aria-labelledby="webhook-health">
      <h2 id="webhook-health">{t("health.title")}</h2>
      {isAlarming(endpoint, Date.now()) && (
        <div className="notice bad">
          <strong>{t("health.alarm")}</strong>
          {t("health.alarmText", { at: dateTime(health.failingSince ?? "") })}
        </div>
      )}
      {health.failingSince !== null && health.lastStatusCode === 410 && (
        <div className="notice bad">
          <strong>{t("health.gone")}</strong>
          {t("health.goneText")}
        </div>
      )}
      <div className="webhook-health">
        <dl className="settings-facts">
          <dt>{t("list.state")}</dt>
          <dd>
            <StatusBadge tone={stateTones[state]}>{t(`state.${state}`)}</StatusBadge>
            {health.failingSince !== null && (
              <small>
                {t("firstFailure")} <When at={health.failingSince} />
              </small>
            )}
          </dd>
          <dt>{t("health.day")}</dt>
          <dd>{dayWords(health)}</dd>
          <dt>{t("health.lastSuccess")}</dt>
          <dd>{health.lastSuccessAt === null ? t("health.never") : <When at={health.lastSuccessAt} />}</dd>
          <dt>{t("health.lastFailure")}</dt>
          <dd>{health.lastFailureAt === null ? t("health.never") : <When at={health.lastFailureAt} />}</dd>
          {tried && (
            <>
              <dt>{t("health.lastAnswer")}</dt>
              <dd>{health.lastStatusCode === null ? t("health.noAnswer") : health.lastStatusCode}</dd>
            </>
          )}
          <dt>{t("list.events")}</dt>
          <dd>
            {endpoint.events.length === 0 ? (
              t("form.all")
            ) : (
              <ul className="webhook-event-list">
                {endpoint.events.map((type) => (
                  <li key={type}>
                    <code>{type}</code>
                  </li>
                ))}
              </ul>
            )}
          </dd>
        </dl>
        {hours.isError ? <Failure error={hours.error} /> : <Chart hours={hours.data?.hours ?? []} />}
      </div>
    </section>
  );
}

/** A bar for each hour; before the hours are known it only takes its place. */
function Chart({ hours }: { hours: readonly WebhookHour[] }) {
  const t = translator("webhooks");
  const sum = (of: "succeeded" | "failed") => hours.reduce((total, hour) => total + hour[of], 0);
  const most = Math.max(0, ...hours.map(({ succeeded, failed }) => succeeded + failed));
  const time = new Intl.DateTimeFormat(pageLanguage(), { timeStyle: "short" });
  const share = (count: number) => ({ blockSize: `${(count / most) * 100}%` });
  return (
    <figure className="webhook-chart">
      <figcaption>
        <strong>{t("chart.title")}</strong>
        <span className="webhook-summary">
          {t("chart.summary", { succeeded: sum("succeeded"), failed: sum("failed") })}
        </span>
      </figcaption>
      <div className="webhook-bars" aria-hidden="true" data-empty={most === 0}>
        {hours.map(({ hour, succeeded, failed }) => (
          <div key={hour} title={`${time.format(Date.parse(hour))}: ${t("chart.summary", { succeeded, failed })}`}>
            {failed > 0 && <span data-tone="bad" style={share(failed)} />}
            {succeeded > 0 && <span data-tone="good" style={share(succeeded)} />}
          </div>
        ))}
        {hours.length > 0 && most === 0 && <p>{t("chart.none")}</p>}
      </div>
      <div className="webhook-axis" aria-hidden="true">
        <span>{t("chart.ago")}</span>
        <span>{t("chart.now")}</span>
      </div>
      <div className="webhook-legend" aria-hidden="true">
        <span data-tone="good">{t("chart.succeeded")}</span>
        <span data-tone="bad">{t("chart.failed")}</span>
        {most > 0 && <span>{t("chart.most", { count: most })}</span>}
      </div>
      <details>
        <summary>{t("chart.table")}</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("chart.hour")}</th>
              <th scope="col">{t("chart.succeeded")}</th>
              <th scope="col">{t("chart.failed")}</th>
            </tr>
          </thead>
          <tbody>
            {hours.map(({ hour, succeeded, failed }) => (
              <tr key={hour}>
                <th scope="row">
                  <time dateTime={hour}>{time.format(Date.parse(hour))}</time>
                </th>
                <td>{succeeded}</td>
                <td>{failed}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}
