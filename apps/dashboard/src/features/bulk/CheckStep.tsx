import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useId, useState } from "react";
import { createEnvelope } from "../../../../../server/features/envelopes/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { explain } from "../send/explain.ts";
import { Warnings } from "../templates/Warnings.tsx";
import type { Row } from "./rows.ts";

const t = translator("send");
const atOnce = 50;

/** What is wrong with which row, before anything is sent; and the service's own word on the first good one. */
export function CheckStep({ rows, testMode }: { rows: readonly Row[]; testMode: boolean }) {
  const id = useId();
  const [shown, setShown] = useState(atOnce);
  const wrong = rows.filter(({ findings }) => findings.length > 0);
  const first = rows.find(({ findings }) => findings.length === 0);
  const good = rows.length - wrong.length;
  const trial = useMutation({
    mutationFn: (row: Row) =>
      callEndpoint(createEnvelope, {
        query: { dry_run: "1", test_mode: testMode ? "1" : "0" },
        body: row.request,
      }),
  });
  const tried = trial.data && "dryRun" in trial.data ? trial.data : null;
  return (
    <section className="bulk-card" aria-labelledby={id}>
      <h2 id={id}>{t("bulk.check.title")}</h2>
      <p role="status">
        {t("bulk.check.good", { count: good })} {wrong.length > 0 && t("bulk.check.bad", { count: wrong.length })}
      </p>
      {wrong.length > 0 && (
        <table className="bulk-table" aria-label={t("bulk.check.table")}>
          <thead>
            <tr>
              <th scope="col">{t("bulk.check.row")}</th>
              <th scope="col">{t("bulk.check.who")}</th>
              <th scope="col">{t("bulk.check.column")}</th>
              <th scope="col">{t("bulk.check.wrong")}</th>
            </tr>
          </thead>
          <tbody>
            {wrong.slice(0, shown).flatMap((row) =>
              row.findings.map((finding, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the findings of a row have no other identity
                <tr key={`${row.number} ${index}`}>
                  <th scope="row">
                    <span className="bulk-narrow">{t("bulk.check.row")} </span>
                    {row.number}
                  </th>
                  <td data-label={t("bulk.check.who")}>{row.label}</td>
                  <td data-label={t("bulk.check.column")}>{finding.column ?? t("bulk.check.wholeRow")}</td>
                  <td data-label={t("bulk.check.wrong")}>{explain({ ...finding, pointer: finding.at })}</td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      )}
      {wrong.length > shown && (
        <Button variant="default" size="sm" onClick={() => setShown(shown + 4 * atOnce)}>
          {t("bulk.rows.more")}
        </Button>
      )}
      {first && (
        <div className="bulk-trial">
          <Button variant="default" size="sm" loading={trial.isPending} onClick={() => trial.mutate(first)}>
            {t("bulk.check.try", { row: first.number })}
          </Button>
          <div role="status">{tried && t("bulk.check.tried", { row: first.number, count: tried.pageCount })}</div>
          <Warnings warnings={tried?.warnings} />
          {trial.isError && <Failure error={trial.error} />}
        </div>
      )}
    </section>
  );
}
