import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type ApplianceStatus, getStatus } from "../../../../../server/features/appliance/status-contract.ts";
import { dateTime, translator } from "../../../../shared/i18n.ts";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { ask } from "../bridge.ts";
import { useConnection } from "../connection.ts";
import { Failure } from "../Failure.tsx";
import { Loaded } from "../Loaded.tsx";
import { useLocal } from "../local.ts";
import { PageLink } from "../PageLink.tsx";
import { ServiceControl } from "../shell/ServiceControl.tsx";
import { BackupTile } from "./overview/BackupTile.tsx";
import { ExpiryTile } from "./overview/ExpiryTile.tsx";
import { FindingsTile } from "./overview/FindingsTile.tsx";
import { StorageTile } from "./overview/StorageTile.tsx";

const t = translator("console");
/** How often what moves is asked for, in milliseconds. */
const everyMs = 5000;

/** How the appliance is, at a glance. */
export function OverviewPage() {
  const status = useLocal(getStatus, {}, { refetchInterval: everyMs });
  const connection = useConnection();
  return (
    <>
      <PageHeader
        title={t("overview.nav")}
        actions={
          connection.data?.remote === false && (
            <ServiceControl verbs={["restart", "stop"]} onDone={() => void connection.refetch()} />
          )
        }
      />
      <Loaded query={status}>
        {(data) => (
          <>
            {data.clock.doubt && (
              <div className="notice bad" role="alert">
                <strong>{t("overview.clockDoubted")}</strong>
                {t("overview.clockText", {
                  machine: dateTime(data.clock.doubt.machine),
                  expected: dateTime(data.clock.doubt.expected),
                })}
              </div>
            )}
            <div className="tiles">
              <FindingsTile />
              <ApplianceTile status={data} />
              <QueueTile queue={data.queue} />
              <BackupTile backup={data.backup} />
              <StorageTile storage={data.storage} />
              <ExpiryTile expiries={data.expiries} />
              <PublicPages />
            </div>
          </>
        )}
      </Loaded>
    </>
  );
}

function ApplianceTile({ status: { version, url, startedAt, dataDir } }: { status: ApplianceStatus }) {
  return (
    <section aria-labelledby="tile-appliance">
      <h2 id="tile-appliance">{t("overview.appliance")}</h2>
      <dl className="facts">
        <dt>{t("overview.version")}</dt>
        <dd>{version}</dd>
        <dt>{t("overview.address")}</dt>
        <dd>{url}</dd>
        <dt>{t("overview.startedAt")}</dt>
        <dd>
          <time dateTime={startedAt}>{dateTime(startedAt)}</time>
        </dd>
        <dt>{t("overview.dataDir")}</dt>
        <dd>
          <code>{dataDir}</code>
        </dd>
      </dl>
    </section>
  );
}

function QueueTile({ queue }: { queue: ApplianceStatus["queue"] }) {
  return (
    <section aria-labelledby="tile-queue">
      <h2 id="tile-queue">{t("overview.queue")}</h2>
      <p>
        {queue.dead > 0 ? (
          <StatusBadge tone="bad">{t("overview.dead", { count: queue.dead })}</StatusBadge>
        ) : (
          <StatusBadge tone="good">{t("overview.noneDead")}</StatusBadge>
        )}
      </p>
      <dl className="facts">
        <dt>{t("overview.queued")}</dt>
        <dd>{queue.queued}</dd>
        <dt>{t("overview.running")}</dt>
        <dd>{queue.running}</dd>
      </dl>
      <p className="after">
        <PageLink to="work">{t("work.nav")}</PageLink>
      </p>
    </section>
  );
}

/** The appliance's public pages, opened in the default browser. */
function PublicPages() {
  const open = useMutation({ mutationFn: (page: "start" | "docs" | "verify") => ask("openInBrowser", { page }) });
  return (
    <section aria-labelledby="tile-pages">
      <h2 id="tile-pages">{t("overview.pages")}</h2>
      <p className="soft">{t("overview.pagesHint")}</p>
      {open.isError && <Failure error={open.error} />}
      <div className="row">
        {(["start", "docs", "verify"] as const).map((page) => (
          <Button key={page} variant="default" onClick={() => open.mutate(page)}>
            {t(`overview.page.${page}`)}
          </Button>
        ))}
      </div>
    </section>
  );
}
