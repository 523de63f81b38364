import { Button, NativeSelect } from "@mantine/core";
import { useState } from "react";
import {
  deliveryStatuses,
  type WebhookDelivery,
  type WebhookEndpoint,
} from "../../../../../server/features/webhooks/contract.ts";
import { dateTime, translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { Pager } from "../../../../shared/ui/kit/Pager.tsx";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { DeliveryDialog } from "./DeliveryDialog.tsx";
import { ReplayDialog } from "./ReplayDialog.tsx";
import type { DeliveryLog } from "./useDeliveries.ts";
import { answerWords, deliveryTones } from "./words.ts";
import "../../../../shared/ui/kit/table.css";

type Props = { endpoint: WebhookEndpoint; log: DeliveryLog };

/** Every attempt to deliver to an endpoint, newest first. */
export function Deliveries({ endpoint, log }: Props) {
  const t = translator("webhooks");
  const { status, setStatus, pages, entries, expect } = log;
  const [opened, setOpened] = useState<WebhookDelivery | null>(null);
  const [replaying, setReplaying] = useState(false);
  return (
    <section className="settings-section" aria-labelledby="webhook-log">
      <h2 id="webhook-log">{t("log.title")}</h2>
      <p>{t("log.text")}</p>
      <div className="webhook-log-head">
        <NativeSelect
          label={t("log.status")}
          value={status ?? ""}
          data={[
            { value: "", label: t("log.all") },
            ...deliveryStatuses.map((value) => ({ value, label: t(`log.statuses.${value}`) })),
          ]}
          onChange={({ currentTarget: { value } }) =>
            setStatus(deliveryStatuses.find((known) => known === value) ?? null)
          }
        />
        <Button variant="default" disabled={!endpoint.enabled} onClick={() => setReplaying(true)}>
          {t("replay.open")}
        </Button>
      </div>
      {pages.isPending && <Loading rows={5} height={56} />}
      {pages.isError && <Failure error={pages.error} />}
      {entries?.length === 0 &&
        (status === null ? (
          <Empty title={t("log.none")} text={t("log.noneText")} />
        ) : (
          <p className="soft">{t("log.noneOfStatus")}</p>
        ))}
      {entries && entries.length > 0 && <Table entries={entries} onOpen={setOpened} />}
      <Pager hasMore={pages.hasNextPage} loading={pages.isFetchingNextPage} onMore={() => void pages.fetchNextPage()} />
      {opened && (
        <DeliveryDialog
          // As it has become meanwhile.
          delivery={entries?.find(({ id }) => id === opened.id) ?? opened}
          endpoint={endpoint}
          onAgain={expect}
          onClose={() => setOpened(null)}
        />
      )}
      {replaying && <ReplayDialog endpoint={endpoint} onDone={expect} onClose={() => setReplaying(false)} />}
    </section>
  );
}

type TableProps = { entries: readonly WebhookDelivery[]; onOpen: (delivery: WebhookDelivery) => void };

function Table({ entries, onOpen }: TableProps) {
  const t = translator("webhooks");
  return (
    <table className="list-table webhook-log">
      <thead>
        <tr>
          <th scope="col">{t("log.event")}</th>
          <th scope="col">{t("log.status")}</th>
          <th scope="col">{t("log.time")}</th>
          <th scope="col">{t("log.duration")}</th>
          <th scope="col">{t("log.next")}</th>
          <th scope="col">
            <span className="spoken">{t("log.actions")}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {entries.map((delivery) => {
          const { id, eventType: type, attempt, trigger, status, sentAt, createdAt, durationMs } = delivery;
          const at = sentAt ?? createdAt;
          return (
            <tr key={id} data-status={status}>
              <th scope="row">
                <code>{type}</code>
                <small>
                  {t("log.attempt", { attempt })} · {t(`log.trigger.${trigger}`)}
                </small>
              </th>
              <td data-label={t("log.status")}>
                <StatusBadge tone={deliveryTones[status]}>{t(`log.statuses.${status}`)}</StatusBadge>
                {status !== "pending" && <small>{answerWords(delivery)}</small>}
              </td>
              <td data-label={t("log.time")}>{sentAt === null ? "–" : <When at={sentAt} />}</td>
              <td data-label={t("log.duration")}>
                {durationMs === null ? "–" : t("log.milliseconds", { count: durationMs })}
              </td>
              <td data-label={t("log.next")}>
                <Next delivery={delivery} />
              </td>
              <td>
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={t("log.detailsOf", { type, attempt, at: dateTime(at) })}
                  onClick={() => onOpen(delivery)}
                >
                  {t("log.details")}
                </Button>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Next({ delivery: { status, final, nextAttemptAt } }: { delivery: WebhookDelivery }) {
  if (status === "failed" && final) return translator("webhooks")("log.last");
  // The attempt after a failed one has a row of its own.
  return nextAttemptAt !== null && status === "pending" ? <When at={nextAttemptAt} /> : "–";
}
