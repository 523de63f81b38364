import { dateTime, translator } from "../../../shared/i18n.ts";
import type { ApplianceState, ApplianceStatus } from "../shared/ipc.ts";

type Props = { status: ApplianceStatus | null; failed: boolean; checking: boolean; onCheck: () => void };

/** How the appliance was found at the last look. */
export function StatusCard({ status, failed, checking, onCheck }: Props) {
  const t = translator("console");
  const tone = failed ? "bad" : status ? tones[status.found.state] : "quiet";
  return (
    <section className="card" aria-labelledby="status-title">
      <div className="split">
        <div role="status">
          <h2 id="status-title" className="state">
            <span className={`dot ${tone}`} aria-hidden="true" />
            {failed ? t("state.failed") : status ? t(`state.${status.found.state}`) : t("state.looking")}
          </h2>
          <p>{failed ? t("advice.failed") : status ? advice(status.found) : ""}</p>
        </div>
        <button type="button" className="button" onClick={onCheck} aria-busy={checking}>
          {t("check")}
        </button>
      </div>
      {status && !failed && (
        <dl>
          <dt>{t("address")}</dt>
          <dd>{status.url}</dd>
          {status.found.state === "running" && status.found.apiVersion && (
            <>
              <dt>{t("apiVersion")}</dt>
              <dd>{status.found.apiVersion}</dd>
            </>
          )}
          <dt>{t("since")}</dt>
          <dd>
            <time dateTime={status.since}>{dateTime(status.since)}</time>
          </dd>
        </dl>
      )}
    </section>
  );
}

const tones: Readonly<Record<ApplianceState["state"], "good" | "warn" | "bad">> = {
  running: "good",
  starting: "warn",
  "not-ready": "warn",
  stopped: "bad",
  unreachable: "bad",
};

function advice(found: ApplianceState): string {
  const t = translator("console");
  if (found.state === "unreachable") return t(`advice.unreachable.${found.cause}`);
  if (found.state === "not-ready") return t("advice.not-ready", { cause: found.cause });
  return t(`advice.${found.state}`);
}
