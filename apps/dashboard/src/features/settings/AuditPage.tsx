import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type AdminAuditEntry, listAdminAudit } from "../../../../../server/features/organization/people-contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { Pager } from "../../../../shared/ui/kit/Pager.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { useCan, useSession } from "../../session.tsx";
import { AuditExport } from "./AuditExport.tsx";
import { actorName, changesOf, sentenceOf } from "./audit-words.ts";

const pageSize = "30";

/** What was done to the organization itself, newest first. */
export function AuditPage() {
  const t = translator("settings");
  const canSee = useCan("org:manage");
  const acts = useInfiniteQuery({
    queryKey: [listAdminAudit.id, "pages"],
    queryFn: ({ pageParam, signal }) =>
      callEndpoint(listAdminAudit, {
        query: { limit: pageSize, ...(pageParam === null ? {} : { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    enabled: canSee,
    // Others act too: the page is read anew whenever it is opened.
    staleTime: 0,
  });
  const entries = acts.data?.pages.flatMap(({ data }) => data);
  return (
    <>
      <PageHeader title={t("audit.title")} description={t("audit.description")} />
      {!canSee && <Empty title={t("audit.forbidden")} text={t("audit.forbiddenText")} />}
      {canSee && acts.isPending && <Loading rows={6} height={48} />}
      {acts.isError && <Failure error={acts.error} />}
      {entries?.length === 0 && <Empty title={t("audit.none")} text={t("audit.noneText")} />}
      {entries && entries.length > 0 && (
        <ol className="audit-list">
          {entries.map((entry) => (
            <Entry key={entry.id} entry={entry} />
          ))}
        </ol>
      )}
      <Pager hasMore={acts.hasNextPage} loading={acts.isFetchingNextPage} onMore={() => void acts.fetchNextPage()} />
      {canSee && <AuditExport />}
    </>
  );
}

function Entry({ entry }: { entry: AdminAuditEntry }) {
  const t = translator("settings");
  const timeZone = useSession().organization?.timeZone;
  const changes = changesOf(entry);
  return (
    <li>
      <div>
        <p>
          <strong>{actorName(entry.actor)}</strong> {sentenceOf(entry)}
          {entry.target?.startsWith("env_") && (
            <>
              {" "}
              <Link to="/envelopes/$id" params={{ id: entry.target }}>
                {t("audit.envelope")}
              </Link>
            </>
          )}
        </p>
        {changes.length > 0 && (
          <ul>
            {changes.map((change) => (
              <li key={change}>{change}</li>
            ))}
          </ul>
        )}
      </div>
      <p className="audit-meta">
        <When at={entry.at} {...(timeZone ? { timeZone } : {})} />
        {entry.ip && ` · ${t("audit.from", { ip: entry.ip })}`}
      </p>
    </li>
  );
}
