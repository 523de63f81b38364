import { Code } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { listOperatorAudit } from "../../../../../server/features/operators/contract.ts";
import { dateTime, translator } from "../../../../shared/i18n.ts";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { Pager } from "../../../../shared/ui/kit/Pager.tsx";
import { Loaded } from "../Loaded.tsx";
import { callAppliance } from "../local.ts";
import { verbatim } from "../Said.tsx";

const t = translator("console");

/** What the machine's administrators did, newest first, and whether the chain of their acts holds. */
export function AuditPage() {
  const audit = useInfiniteQuery({
    queryKey: [listOperatorAudit.id],
    queryFn: ({ pageParam }) =>
      callAppliance(listOperatorAudit, { query: { limit: 50, ...(pageParam === null ? {} : { before: pageParam }) } }),
    initialPageParam: null as number | null,
    getNextPageParam: ({ data, hasMore }) => (hasMore ? (data.at(-1)?.seq ?? null) : null),
  });
  return (
    <>
      <PageHeader title={t("audit.nav")} description={t("audit.description")} />
      <Loaded query={audit}>
        {({ pages: [first, ...more] }) => {
          if (!first) return null;
          const { verification } = first;
          const entries = [first, ...more].flatMap(({ data }) => data);
          return (
            <>
              <div
                className={verification.valid ? "notice" : "notice bad"}
                role={verification.valid ? "status" : "alert"}
              >
                <strong>
                  {verification.valid
                    ? t("audit.valid", { count: verification.length })
                    : t("audit.broken", { seq: verification.brokenAtSeq ?? 0 })}
                </strong>
                <small>
                  {t("audit.head")} <code>{verification.headHash}</code>
                </small>
              </div>
              {entries.length === 0 ? (
                <Empty title={t("audit.empty")} text={t("audit.emptyText")} />
              ) : (
                <table className="list-table">
                  <thead>
                    <tr>
                      <th scope="col">{t("audit.seq")}</th>
                      <th scope="col">{t("audit.at")}</th>
                      <th scope="col">{t("audit.who")}</th>
                      <th scope="col">{t("audit.what")}</th>
                    </tr>
                  </thead>
                  <tbody>
                    {entries.map(({ seq, at, actor, action, target, data }) => (
                      <tr key={seq}>
                        <td data-label={t("audit.seq")}>{seq}</td>
                        <td data-label={t("audit.at")}>
                          <time dateTime={at}>{dateTime(at)}</time>
                        </td>
                        <td data-label={t("audit.who")}>{actor.name ?? actor.type}</td>
                        <td data-label={t("audit.what")}>
                          <strong>{action}</strong> {target}
                          {Object.keys(data).length > 0 && (
                            <small>
                              <Code {...verbatim()}>{JSON.stringify(data)}</Code>
                            </small>
                          )}
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              )}
              <Pager
                hasMore={audit.hasNextPage}
                loading={audit.isFetchingNextPage}
                onMore={() => void audit.fetchNextPage()}
              />
            </>
          );
        }}
      </Loaded>
    </>
  );
}
