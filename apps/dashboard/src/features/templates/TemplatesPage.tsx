import { Button, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { z } from "zod";
import type templates from "../../../../../locales/en/templates.json";
import { listTemplates, type Template } from "../../../../../server/features/templates/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Pages } from "../../../../shared/ui/icons.tsx";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { Pager } from "../../../../shared/ui/kit/Pager.tsx";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { useCan } from "../../session.tsx";
import "../../../../shared/ui/kit/table.css";
import "./templates.css";

declare module "../../../../shared/i18n.ts" {
  interface Catalogues {
    templates: typeof templates;
  }
}

// Most visits make none, so it is not part of the first load.
const NewTemplate = lazy(async () => ({ default: (await import("./NewTemplate.tsx")).NewTemplate }));

const Search = z.object({ q: z.coerce.string().max(200).optional().catch(undefined) });

/** All templates of the organization, newest first. */
export function TemplatesPage() {
  const t = translator("templates");
  const { q } = Search.parse(useSearch({ strict: false }));
  const navigate = useNavigate();
  const canWrite = useCan("template:write");
  const [text, setText] = useState(q ?? "");
  const [creating, setCreating] = useState(false);
  const search = useDebouncedCallback((next: string) => {
    void navigate({ to: "/templates", search: next ? { q: next } : {}, replace: true });
  }, 250);
  const list = useInfiniteQuery({
    queryKey: [listTemplates.id, "pages", q ?? ""],
    queryFn: ({ pageParam, signal }) =>
      callEndpoint(listTemplates, {
        query: { ...(q ? { q } : {}), ...(pageParam ? { cursor: pageParam } : {}) },
        signal,
      }),
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  });
  const templates = list.data?.pages.flatMap((page) => page.data) ?? [];
  const create = canWrite && <Button onClick={() => setCreating(true)}>{t("new.open")}</Button>;
  const nothing = list.isSuccess && templates.length === 0;
  return (
    <div className="templates">
      <PageHeader title={t("list.title")} description={t("list.description")} actions={create} />
      {(!nothing || q) && (
        <TextInput
          className="templates-search"
          type="search"
          label={t("list.search")}
          placeholder={t("list.searchHint")}
          maxLength={200}
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
            search(event.currentTarget.value.trim());
          }}
        />
      )}
      {list.isPending && <Loading rows={6} />}
      {list.isError && <Failure error={list.error} />}
      {nothing &&
        (q ? (
          <Empty title={t("list.noneFound")} text={t("list.noneFoundText", { q })} />
        ) : (
          <Empty icon={<Pages size={32} />} title={t("list.empty")} text={t("list.emptyText")} action={create} />
        ))}
      {templates.length > 0 && <TemplateTable templates={templates} />}
      <Pager hasMore={list.hasNextPage} loading={list.isFetchingNextPage} onMore={() => void list.fetchNextPage()} />
      {creating && (
        <Suspense>
          <NewTemplate onClose={() => setCreating(false)} />
        </Suspense>
      )}
    </div>
  );
}

function TemplateTable({ templates }: { templates: readonly Template[] }) {
  const t = translator("templates");
  return (
    <table className="list-table">
      <thead>
        <tr>
          <th scope="col">{t("list.name")}</th>
          <th scope="col">{t("list.version")}</th>
          <th scope="col">{t("list.roles")}</th>
          <th scope="col">{t("list.updated")}</th>
        </tr>
      </thead>
      <tbody>
        {templates.map((template) => (
          <tr key={template.id}>
            <th scope="row">
              <Link to="/templates/$id" params={{ id: template.id }}>
                {template.name}
              </Link>
              <small>{t(`mode.${template.mode}`)}</small>
            </th>
            <td data-label={t("list.version")}>
              <VersionBadges template={template} />
            </td>
            <td data-label={t("list.roles")}>{template.roles.join(", ") || "–"}</td>
            <td data-label={t("list.updated")}>
              <When at={template.updatedAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function VersionBadges({ template }: { template: Pick<Template, "latestVersion" | "hasDraft"> }) {
  const t = translator("templates");
  return (
    <span className="badges">
      {template.latestVersion !== null && (
        <StatusBadge tone="good">{t("version.number", { version: template.latestVersion })}</StatusBadge>
      )}
      {template.hasDraft && <StatusBadge tone="waiting">{t("version.draft")}</StatusBadge>}
      {template.latestVersion === null && !template.hasDraft && (
        <StatusBadge tone="neutral">{t("version.nothing")}</StatusBadge>
      )}
    </span>
  );
}
