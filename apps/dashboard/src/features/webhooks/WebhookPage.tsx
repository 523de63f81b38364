import { Button } from "@mantine/core";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import {
  deleteWebhookEndpoint,
  getWebhookEndpoint,
  listWebhookDeliveries,
  listWebhookEndpoints,
  testWebhookEndpoint,
  updateWebhookEndpoint,
  type WebhookEndpoint,
} from "../../../../../server/features/webhooks/contract.ts";
import { ProblemResponse } from "../../../../shared/api/client.ts";
import { useAct, useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { useKeptFocus } from "../../../../shared/ui/kit/useKeptFocus.ts";
import { useModeOf } from "../../mode.tsx";
import { useCan } from "../../session.tsx";
import { Deliveries } from "./Deliveries.tsx";
import { EndpointDialog } from "./EndpointDialog.tsx";
import { Health } from "./Health.tsx";
import { Secret } from "./Secret.tsx";
import { useDeliveries } from "./useDeliveries.ts";
import "./webhooks.css";
import "./words.ts";

/** One endpoint: how it does, its secret, and every attempt to deliver to it. */
export function WebhookPage() {
  const t = translator("webhooks");
  const { id } = useParams({ from: "/workspace/settings/webhooks/$id" });
  const canManage = useCan("org:manage");
  const endpoint = useEndpoint(getWebhookEndpoint, { params: { id } }, { enabled: canManage });
  const matches = useModeOf(id, endpoint.data?.testMode, (testMode) =>
    t(testMode ? "page.inTestMode" : "page.inLiveMode"),
  );
  const back = { to: "/settings/webhooks", label: t("title") } as const;
  if (!canManage) {
    return (
      <>
        <PageHeader title={t("title")} />
        <Empty title={t("forbidden")} text={t("forbiddenText")} />
      </>
    );
  }
  if (endpoint.error instanceof ProblemResponse && endpoint.error.problem.status === 404) {
    const show = (
      <Button component={Link} to="/settings/webhooks">
        {t("page.notFoundBack")}
      </Button>
    );
    return (
      <>
        <PageHeader title={t("list.endpoint")} back={back} />
        <Empty title={t("page.notFound")} text={t("page.notFoundText")} action={show} />
      </>
    );
  }
  if (endpoint.data && matches) return <EndpointView key={id} endpoint={endpoint.data} back={back} />;
  return (
    <>
      <PageHeader title={t("list.endpoint")} back={back} />
      {endpoint.isError ? <Failure error={endpoint.error} /> : <Loading rows={4} height={90} />}
    </>
  );
}

const busyMs = 2500;
const idleMs = 15_000;

type Props = { endpoint: WebhookEndpoint; back: { to: "/settings/webhooks"; label: string } };

function EndpointView({ endpoint: first, back }: Props) {
  const t = translator("webhooks");
  const { id } = first;
  const page = useRef<HTMLDivElement>(null);
  useKeptFocus(page);
  const [editing, setEditing] = useState(false);
  const [refusal, setRefusal] = useState<unknown>(null);
  const log = useDeliveries(id, { busyMs, idleMs });
  const refetchInterval = log.busy ? busyMs : idleMs;
  const { data: endpoint = first, refetch } = useEndpoint(getWebhookEndpoint, { params: { id } }, { refetchInterval });
  // What has just been settled changes the health, too.
  // biome-ignore lint/correctness/useExhaustiveDependencies: looked at again when that changes
  useEffect(() => {
    void refetch();
  }, [refetch, log.busy]);
  const { description, url, enabled } = endpoint;
  return (
    <div ref={page}>
      <PageHeader
        title={description ?? url}
        description={
          description !== null && (
            <code className="webhook-url" dir="ltr">
              {url}
            </code>
          )
        }
        back={back}
        actions={
          <Actions
            endpoint={endpoint}
            onEdit={() => setEditing(true)}
            onTested={log.expect}
            onRefused={(error) => {
              setRefusal(error);
              // Somebody may have paused or deleted it meanwhile.
              if (error !== null) void refetch();
            }}
          />
        }
      />
      {refusal !== null && <Failure error={refusal} />}
      {!enabled && (
        <div className="notice">
          <strong>{t("page.pausedTitle")}</strong>
          {t("page.pausedText")}
        </div>
      )}
      <Health endpoint={endpoint} refetchInterval={refetchInterval} settled={log.busy} />
      <Secret endpoint={endpoint} />
      <Deliveries endpoint={endpoint} log={log} />
      {editing && (
        <EndpointDialog
          endpoint={endpoint}
          onClose={() => setEditing(false)}
          onDone={() => {
            setEditing(false);
            notify({ message: t("form.saved") });
          }}
        />
      )}
    </div>
  );
}

type ActionsProps = {
  endpoint: WebhookEndpoint;
  onEdit: () => void;
  onTested: () => void;
  /** Null when something else is tried. */
  onRefused: (error: unknown) => void;
};

function Actions({ endpoint: { id, url, enabled }, onEdit, onTested, onRefused }: ActionsProps) {
  const t = translator("webhooks");
  const confirm = useConfirm();
  const navigate = useNavigate();
  const test = useAct(testWebhookEndpoint, { changes: [listWebhookDeliveries] });
  const update = useAct(updateWebhookEndpoint, {
    changes: [getWebhookEndpoint, listWebhookEndpoints, listWebhookDeliveries],
  });
  const remove = useAct(deleteWebhookEndpoint, { changes: [listWebhookEndpoints] });
  const params = { id };
  const attempt = async (act: () => Promise<unknown>, done: string) => {
    onRefused(null);
    try {
      await act();
      notify({ message: done });
      return true;
    } catch (error) {
      onRefused(error);
      return false;
    }
  };
  const askToDelete = async () => {
    const agreed = await confirm({
      title: t("page.deleteTitle"),
      text: t("page.deleteText", { url }),
      confirm: t("page.deleteConfirm"),
      danger: true,
    });
    if (agreed && (await attempt(() => remove.mutateAsync({ params }), t("page.deleted"))))
      await navigate({ to: "/settings/webhooks" });
  };
  const turn = (on: boolean) =>
    attempt(() => update.mutateAsync({ params, body: { enabled: on } }), t(on ? "page.resumed" : "page.paused"));
  return (
    <>
      <Button
        disabled={!enabled}
        loading={test.isPending}
        onClick={async () => {
          if (await attempt(() => test.mutateAsync({ params }), t("page.tested"))) onTested();
        }}
      >
        {t("page.test")}
      </Button>
      <Button variant="default" loading={update.isPending} onClick={() => void turn(!enabled)}>
        {t(enabled ? "page.pause" : "page.resume")}
      </Button>
      <Button variant="default" onClick={onEdit}>
        {t("page.edit")}
      </Button>
      <Button variant="default" color="brick" loading={remove.isPending} onClick={() => void askToDelete()}>
        {t("page.delete")}
      </Button>
    </>
  );
}
