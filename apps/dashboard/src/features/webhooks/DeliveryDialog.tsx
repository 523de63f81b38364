import { Button, Group } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import {
  getEvent,
  listWebhookDeliveries,
  redeliverEvent,
  type WebhookDelivery,
  type WebhookEndpoint,
} from "../../../../../server/features/webhooks/contract.ts";
import { ProblemResponse } from "../../../../shared/api/client.ts";
import { useAct, useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { Code } from "./Code.tsx";
import { answerWords, deliveryTones } from "./words.ts";

type Props = { delivery: WebhookDelivery; endpoint: WebhookEndpoint; onAgain: () => void; onClose: () => void };

/** One attempt: what was sent, and what the answer was. */
export function DeliveryDialog({ delivery, endpoint, onAgain, onClose }: Props) {
  const t = translator("webhooks");
  const { eventType: type, attempt, status, url } = delivery;
  const again = useAct(redeliverEvent, { changes: [listWebhookDeliveries] });
  const redeliver = async () => {
    try {
      await again.mutateAsync({ params: { id: delivery.event }, body: { endpoint: endpoint.id } });
      notify({ message: t("delivery.sentAgain") });
      onAgain();
      onClose();
    } catch {
      // Shown in the dialog.
    }
  };
  return (
    <Dialog opened onClose={onClose} busy={again.isPending} title={t("delivery.title", { attempt, type })} size="xl">
      <div className="webhook-delivery">
        <p>
          <StatusBadge tone={deliveryTones[status]}>{t(`log.statuses.${status}`)}</StatusBadge> {answerWords(delivery)}
        </p>
        <h3>{t("delivery.request")}</h3>
        <p className="webhook-url">
          {t("delivery.requestTo")} <code dir="ltr">{url}</code>
        </p>
        <About event={delivery.event} />
        <Headers delivery={delivery} />
        <Body event={delivery.event} />
        {status !== "pending" && (
          <>
            <h3>{t("delivery.response")}</h3>
            {delivery.responseBody ? (
              <>
                <p className="soft">{t("delivery.responseHint")}</p>
                <Code label={t("delivery.response")} text={delivery.responseBody} />
              </>
            ) : (
              <p className="soft">
                {t(delivery.statusCode === null ? "delivery.responseMissing" : "delivery.responseNone")}
              </p>
            )}
          </>
        )}
        {again.isError && <Failure error={again.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={again.isPending}>
            {translator("common")("close")}
          </Button>
          <Button disabled={!endpoint.enabled} loading={again.isPending} onClick={() => void redeliver()}>
            {t("delivery.again")}
          </Button>
        </Group>
      </div>
    </Dialog>
  );
}

function Headers({ delivery: { event, sentAt } }: { delivery: WebhookDelivery }) {
  const t = translator("webhooks");
  const timestamp = sentAt === null ? null : String(Math.floor(Date.parse(sentAt) / 1000));
  const written = [
    ["content-type", "application/json"],
    ["user-agent", "SvcWebhooks/1"],
    ["webhook-id", event],
    ["webhook-timestamp", timestamp],
  ] as const;
  return (
    <dl className="settings-facts webhook-headers">
      {written.map(([name, value]) => (
        <div key={name}>
          <dt>
            <code>{name}</code>
          </dt>
          <dd>{value === null ? t("delivery.notSent") : <code>{value}</code>}</dd>
        </div>
      ))}
      <div>
        <dt>
          <code>webhook-signature</code>
        </dt>
        <dd>{sentAt === null ? t("delivery.notSent") : t("delivery.signature")}</dd>
      </div>
    </dl>
  );
}

/** The envelope that the event is about. */
function About({ event: id }: { event: string }) {
  const envelope = useEndpoint(getEvent, { params: { id } }).data?.data.envelope;
  if (!envelope) return null;
  return (
    <p>
      {translator("webhooks")("delivery.envelope")}{" "}
      <Link to="/envelopes/$id" params={{ id: envelope.id }}>
        {envelope.title}
      </Link>
    </p>
  );
}

function Body({ event: id }: { event: string }) {
  const t = translator("webhooks");
  const event = useEndpoint(getEvent, { params: { id } });
  if (event.isPending) return <Loading rows={1} height={220} />;
  if (event.data) {
    return (
      <>
        <p className="soft">{t("delivery.bodyHint")}</p>
        <Code label={t("delivery.body")} text={JSON.stringify(event.data, null, 2)} copy={t("delivery.copyBody")} />
      </>
    );
  }
  if (event.error instanceof ProblemResponse && event.error.problem.status === 404)
    return <p className="soft">{t("delivery.bodyGone")}</p>;
  return <Failure error={event.error} />;
}
