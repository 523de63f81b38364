import { Button } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { listTemplateVersions } from "../../../../../server/features/templates/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { Pager } from "../../../../shared/ui/kit/Pager.tsx";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { CompareDialog } from "./CompareDialog.tsx";

/** The draft and every published version, who published it and when. */
export function VersionsPanel({ template, shown }: { template: string; shown: string }) {
  const t = translator("templates");
  const [comparing, setComparing] = useState(false);
  const list = useInfiniteQuery({
    queryKey: [listTemplateVersions.id, "pages", template],
    queryFn: ({ pageParam, signal }) =>
      callEndpoint(listTemplateVersions, {
        params: { id: template },
        query: { limit: "20", ...(pageParam ? { cursor: pageParam } : {}) },
        signal,
      }),
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  });
  const versions = list.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <section aria-label={t("versions.title")} className="panel-section">
      {versions.length > 1 && (
        <div>
          <Button size="compact-sm" variant="default" onClick={() => setComparing(true)}>
            {t("compare.open")}
          </Button>
        </div>
      )}
      {comparing && <CompareDialog template={template} versions={versions} onClose={() => setComparing(false)} />}
      {list.isPending && <Loading rows={3} />}
      {list.isError && <Failure error={list.error} />}
      <ul className="version-list">
        {versions.map((version) => {
          const name = version.version === null ? "draft" : String(version.version);
          return (
            <li key={name} data-shown={name === shown || undefined}>
              <Link
                to="/templates/$id"
                params={{ id: template }}
                search={{ version: name, tab: "versions" }}
                {...(name === shown ? { "aria-current": "page" as const } : {})}
              >
                {version.version === null ? t("version.draft") : t("version.number", { version: version.version })}
              </Link>
              {version.version === null ? (
                <StatusBadge tone="waiting">{t("versions.editing")}</StatusBadge>
              ) : (
                <span className="soft">{version.publishedBy?.name ?? version.publishedBy?.email ?? ""}</span>
              )}
              <span className="soft">
                <When at={version.publishedAt ?? version.updatedAt} />
              </span>
            </li>
          );
        })}
      </ul>
      <Pager hasMore={list.hasNextPage} loading={list.isFetchingNextPage} onMore={() => void list.fetchNextPage()} />
    </section>
  );
}
