import type { ApplianceStatus } from "../../../../../../server/features/appliance/status-contract.ts";
import { pageLanguage, translator } from "../../../../../shared/i18n.ts";
import { StatusBadge } from "../../../../../shared/ui/kit/StatusBadge.tsx";
import { When } from "../../../../../shared/ui/kit/When.tsx";
import { PageLink } from "../../PageLink.tsx";

const t = translator("console");
/** As the appliance's own check sees it: in intervals, and in hours. */
const lateAfter = 1.5;
const drillLateAfter = 90 * 24;

/** Whether a loss of this machine would be survived: the age of the last verified backup and of the last drill. */
export function BackupTile({ backup }: { backup: ApplianceStatus["backup"] }) {
  const { settings, last, lastVerified, lastDrill, nextAt } = backup;
  const late = lastVerified !== null && settings !== null && lastVerified.ageHours > settings.intervalHours * lateAfter;
  const failed = last?.status === "failed" || last?.status === "damaged";
  const passed = lastDrill?.status === "passed" || lastDrill?.status === "running";
  const drillTone =
    lastDrill?.status === "failed" ? "bad" : passed && lastDrill.ageHours <= drillLateAfter ? "good" : "waiting";
  return (
    <section aria-labelledby="tile-backup">
      <h2 id="tile-backup">{t("overview.backup.title")}</h2>
      <p className="badges">
        {settings === null ? (
          <StatusBadge tone="waiting">{t("backup.notSet")}</StatusBadge>
        ) : lastVerified === null ? (
          <StatusBadge tone="bad">{t("backup.neverVerified")}</StatusBadge>
        ) : (
          <StatusBadge tone={late ? "bad" : "good"}>
            {late ? t("overview.backup.late") : t("overview.backup.onTime")}
          </StatusBadge>
        )}
        {failed && <StatusBadge tone="bad">{t("overview.backup.lastFailed")}</StatusBadge>}
      </p>
      <dl className="facts">
        <dt>{t("overview.backup.verified")}</dt>
        <dd>{lastVerified === null ? "–" : <Ago at={lastVerified.at} hours={lastVerified.ageHours} />}</dd>
        <dt>{t("backup.lastDrill")}</dt>
        <dd>
          {lastDrill === null ? (
            t("backup.noDrill")
          ) : (
            <>
              <StatusBadge tone={drillTone}>{t(`backup.drillStatus.${lastDrill.status}`)}</StatusBadge>{" "}
              <Ago at={lastDrill.startedAt} hours={lastDrill.ageHours} />
            </>
          )}
        </dd>
        <dt>{t("overview.backup.next")}</dt>
        <dd>{nextAt === null ? "–" : <When at={nextAt} />}</dd>
      </dl>
      <p className="after">
        <PageLink to="backup">{t("backup.nav")}</PageLink>
      </p>
    </section>
  );
}

/** An age is what counts here, also beyond a day, where other moments are told by their date. */
function Ago({ at, hours }: { at: string; hours: number }) {
  const relative = new Intl.RelativeTimeFormat(pageLanguage());
  return (
    <time dateTime={at}>
      {hours < 48 ? relative.format(-hours, "hour") : relative.format(-Math.floor(hours / 24), "day")}
    </time>
  );
}
