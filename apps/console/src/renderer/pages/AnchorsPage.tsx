import { Button } from "@mantine/core";
import { anchorNow, listManagedAnchors } from "../../../../../server/features/evidence/anchors/managed-contract.ts";
import { dateTime, translator } from "../../../../shared/i18n.ts";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { Failure } from "../Failure.tsx";
import { Loaded } from "../Loaded.tsx";
import { useLocal, useLocalAct } from "../local.ts";
import { HeldAnchors } from "./anchors/HeldAnchors.tsx";

const t = translator("console");

/** The latest anchors with who witnessed them, and what waits for the next one. */
export function AnchorsPage() {
  const anchors = useLocal(listManagedAnchors, {});
  const now = useLocalAct(anchorNow, {
    changes: [listManagedAnchors],
    onDone: ({ sequence }) =>
      notify({ message: sequence === null ? t("anchors.nothing") : t("anchors.made", { sequence }) }),
  });
  return (
    <>
      <PageHeader
        title={t("anchors.nav")}
        description={t("anchors.description")}
        actions={
          <Button
            variant="default"
            disabled={anchors.data?.held != null}
            loading={now.isPending}
            onClick={() => now.mutate({})}
          >
            {t("anchors.now")}
          </Button>
        }
      />
      {now.isError && <Failure error={now.error} />}
      <Loaded query={anchors}>
        {({ treeSize, waiting, intervalSeconds, witnesses, held, resumed, data }) => (
          <>
            {held && <HeldAnchors held={held} latest={data[0]?.sequence ?? 0} />}
            {resumed && (
              <p className="notice">
                {t("anchors.resumedSince", { at: dateTime(resumed.at), since: dateTime(resumed.since) })}
              </p>
            )}
            <div className="tiles">
              <section aria-labelledby="tree">
                <h2 id="tree">{t("anchors.tree")}</h2>
                <dl className="facts">
                  <dt>{t("anchors.size")}</dt>
                  <dd>{treeSize}</dd>
                  <dt>{t("anchors.waiting")}</dt>
                  <dd>{waiting}</dd>
                  <dt>{t("anchors.interval")}</dt>
                  <dd>{t("anchors.seconds", { count: intervalSeconds })}</dd>
                </dl>
              </section>
              <section aria-labelledby="witnesses">
                <h2 id="witnesses">{t("anchors.witnesses")}</h2>
                {witnesses.length === 0 ? (
                  <p className="soft">{t("anchors.noWitness")}</p>
                ) : (
                  <ul>
                    {witnesses.map(({ witness, target }) => (
                      <li key={`${witness} ${target}`}>
                        {t(`anchors.kind.${witness}`)}: <code>{target}</code>
                      </li>
                    ))}
                  </ul>
                )}
              </section>
            </div>
            <h2>{t("anchors.latest")}</h2>
            {data.length === 0 ? (
              <Empty title={t("anchors.empty")} text={t("anchors.emptyText")} />
            ) : (
              <table className="list-table">
                <thead>
                  <tr>
                    <th scope="col">{t("anchors.anchor")}</th>
                    <th scope="col">{t("anchors.root")}</th>
                    <th scope="col">{t("anchors.confirmed")}</th>
                  </tr>
                </thead>
                <tbody>
                  {data.map(({ sequence, treeSize: size, createdAt, rootHash, timestamped, receipts }) => (
                    <tr key={sequence}>
                      <th scope="row">
                        {t("anchors.number", { sequence })}
                        <small>
                          <When at={createdAt} />, {t("anchors.seals", { count: size })}
                        </small>
                      </th>
                      <td data-label={t("anchors.root")}>
                        <code className="hash">{rootHash}</code>
                      </td>
                      <td data-label={t("anchors.confirmed")}>
                        {timestamped && <StatusBadge tone="good">{t("anchors.timestamped")}</StatusBadge>}
                        {receipts.map(({ witness, at }) => (
                          <small key={witness}>
                            {witness} <When at={at} />
                          </small>
                        ))}
                        {!timestamped && receipts.length === 0 && t("anchors.nobody")}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}
