import { Button, NativeSelect } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { translator } from "../../../../shared/i18n.ts";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import type { Row } from "./rows.ts";
import type { RowState } from "./run.ts";

const t = translator("send");
const atOnce = 100;
const filters = ["all", "failed", "sent", "waiting"] as const;
type Filter = (typeof filters)[number];

/** What became of each row. */
export function RowsTable({ rows, states }: { rows: readonly Row[]; states: ReadonlyMap<number, RowState> }) {
  const [filter, setFilter] = useState<Filter>("all");
  const [shown, setShown] = useState(atOnce);
  const chosen = rows.filter(({ number }) => {
    const kind = states.get(number)?.kind;
    return filter === "all" || kind === filter || (filter === "waiting" && kind === "sending");
  });
  return (
    <div className="bulk-rows">
      <NativeSelect
        className="bulk-filter"
        size="sm"
        label={t("bulk.rows.show")}
        value={filter}
        data={filters.map((value) => ({ value, label: t(`bulk.rows.${value}`) }))}
        onChange={(event) => {
          setFilter(filters.find((one) => one === event.currentTarget.value) ?? "all");
          setShown(atOnce);
        }}
      />
      {chosen.length === 0 ? (
        <p className="soft">{t("bulk.rows.none")}</p>
      ) : (
        <table className="bulk-table" aria-label={t("bulk.rows.title")}>
          <thead>
            <tr>
              <th scope="col">{t("bulk.check.row")}</th>
              <th scope="col">{t("bulk.check.who")}</th>
              <th scope="col">{t("bulk.rows.result")}</th>
            </tr>
          </thead>
          <tbody>
            {chosen.slice(0, shown).map(({ number, label }) => (
              <tr key={number} data-row={number} data-state={states.get(number)?.kind}>
                <th scope="row">
                  <span className="bulk-narrow">{t("bulk.check.row")} </span>
                  {number}
                </th>
                <td data-label={t("bulk.check.who")}>{label}</td>
                <td data-label={t("bulk.rows.result")}>
                  <Result row={number} state={states.get(number)} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {chosen.length > shown && (
        <Button variant="default" size="sm" onClick={() => setShown(shown + 4 * atOnce)}>
          {t("bulk.rows.more")}
        </Button>
      )}
    </div>
  );
}

function Result({ row, state }: { row: number; state: RowState | undefined }) {
  switch (state?.kind) {
    case "sent":
      return (
        <>
          <StatusBadge tone="good">{state.existed ? t("bulk.rows.existed") : t("bulk.rows.sent")}</StatusBadge>{" "}
          <Link to="/envelopes/$id" params={{ id: state.envelope }} aria-label={t("bulk.rows.openOf", { row })}>
            {t("bulk.rows.open")}
          </Link>
        </>
      );
    case "failed":
      return (
        <>
          <StatusBadge tone="bad">{t("bulk.rows.failed")}</StatusBadge> {state.message}
          {state.requestId && (
            <small className="soft">
              {" "}
              {translator("common")("requestId")}: <code>{state.requestId}</code>
            </small>
          )}
        </>
      );
    case "sending":
      return <StatusBadge tone="busy">{t("bulk.rows.sending")}</StatusBadge>;
    default:
      return <StatusBadge tone="neutral">{t("bulk.rows.waiting")}</StatusBadge>;
  }
}
