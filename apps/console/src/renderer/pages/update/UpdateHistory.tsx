import { type Loss, listUpdates, type UpdateRun } from "../../../../../../server/features/update/contract.ts";
import { dateTime, translator } from "../../../../../shared/i18n.ts";
import { Empty } from "../../../../../shared/ui/kit/Empty.tsx";
import { StatusBadge } from "../../../../../shared/ui/kit/StatusBadge.tsx";
import { Loaded } from "../../Loaded.tsx";
import { useLocal } from "../../local.ts";
import { Said } from "../../Said.tsx";

const t = translator("console");

/** What became of the updates so far. */
export function UpdateHistory() {
  const history = useLocal(listUpdates, {}, { refetchInterval: 10_000 });
  return (
    <Loaded query={history}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title={t("update.empty")} />
        ) : (
          <table className="list-table">
            <thead>
              <tr>
                <th scope="col">{t("update.version")}</th>
                <th scope="col">{t("update.when")}</th>
                <th scope="col">{t("update.backup")}</th>
                <th scope="col">{t("update.outcome")}</th>
              </tr>
            </thead>
            <tbody>
              {data.map((run) => (
                <tr key={run.id}>
                  <th scope="row">
                    {run.from} → {run.to}
                    <small>{t(`update.kind.${run.kind}`)}</small>
                  </th>
                  <td data-label={t("update.when")}>
                    <time dateTime={run.startedAt}>{dateTime(run.startedAt)}</time>
                    <small>{run.operator}</small>
                  </td>
                  <td data-label={t("update.backup")}>
                    {run.backup === null ? t("update.noBackup") : <code>{run.backup}</code>}
                  </td>
                  <td data-label={t("update.outcome")}>
                    <Outcome run={run} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )
      }
    </Loaded>
  );
}

/** How a run ended, why, and what it took away. */
export function Outcome({ run: { outcome, phase, cause, loss } }: { run: UpdateRun }) {
  return (
    <>
      <StatusBadge tone={outcome === "applied" ? "good" : outcome === null ? "busy" : "bad"}>
        {outcome === null ? t(`update.phase.${phase}`) : t(`update.outcomes.${outcome}`)}
      </StatusBadge>
      {cause !== null && (
        <small>
          <Said>{cause}</Said>
        </small>
      )}
      {loss !== null && outcome === "applied" && <small>{lossText(loss)}</small>}
    </>
  );
}

const losses = [
  "envelopes",
  "signatures",
  "leaves",
  "anchors",
  "deleted",
  "events",
  "organizations",
  "members",
  "invitations",
  "passkeys",
  "apiKeys",
  "keys",
  "templates",
  "acts",
  "operatorActs",
] as const;

function lossText(loss: Loss): string {
  const lost = losses.filter((what) => loss[what] > 0).map((what) => t(`update.lost.${what}`, { count: loss[what] }));
  return lost.length === 0 ? t("update.nothingLost") : t("update.lostAll", { what: lost.join(", ") });
}
