import { Button, Group } from "@mantine/core";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useRef } from "react";
import type envelopes from "../../../../../locales/en/envelopes.json";
import { listEnvelopes } from "../../../../../server/features/envelopes/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { Pager } from "../../../../shared/ui/kit/Pager.tsx";
import { useMode } from "../../mode.tsx";
import { useCan } from "../../session.tsx";
import { EnvelopeRows } from "./EnvelopeRows.tsx";
import { Filters } from "./Filters.tsx";
import { type EnvelopesSearch, isFiltered } from "./search.ts";
import { useChanges } from "./useChanges.ts";
import { useTemplateNames } from "./useTemplateNames.ts";
import "./envelopes.css";

declare module "../../../../shared/i18n.ts" {
  interface Catalogues {
    envelopes: typeof envelopes;
  }
}

/** The envelopes of the chosen mode, newest first, as they change. */
export function EnvelopesPage() {
  const t = translator("envelopes");
  const { testMode } = useMode();
  const maySend = useCan("envelope:send");
  const search = useSearch({ from: "/workspace/envelopes" });
  const navigate = useNavigate();
  const list = useEnvelopes(search, testMode);
  const { following, more } = useFollowing(list);
  const templates = useTemplateNames();
  const show = useCallback(
    (next: EnvelopesSearch, replace = false) => navigate({ to: "/envelopes", search: next, replace }),
    [navigate],
  );
  const shown = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const filtered = isFiltered(search);
  return (
    <>
      <PageHeader
        title={t("title")}
        actions={
          maySend && (
            <Button component={Link} to="/send">
              {t("send")}
            </Button>
          )
        }
      />
      <Filters search={search} onSearch={show} templates={templates} />
      {!following && (
        <p className="soft envelopes-note" role="status">
          {t("pollingNotice")}
        </p>
      )}
      {list.isError && <Failure error={list.error} />}
      <p className="spoken" role="status">
        {list.isSuccess && !list.isPlaceholderData ? t("count", { count: shown.length }) : ""}
      </p>
      {list.isPending && <Loading rows={8} height={58} />}
      {shown.length > 0 && (
        <section aria-busy={list.isPlaceholderData} className="envelopes-found" aria-label={t("title")}>
          <EnvelopeRows envelopes={shown} templates={templates.names} />
          <Pager hasMore={list.hasNextPage} loading={list.isFetchingNextPage} onMore={() => void more()} />
        </section>
      )}
      {list.isSuccess &&
        shown.length === 0 &&
        (filtered ? (
          <Empty
            title={t("nothing.title")}
            text={t("nothing.text")}
            action={
              <Button variant="default" onClick={() => void show({})}>
                {t("clearFilters")}
              </Button>
            }
          />
        ) : (
          <NothingYet testMode={testMode} maySend={maySend} />
        ))}
    </>
  );
}

function NothingYet({ testMode, maySend }: { testMode: boolean; maySend: boolean }) {
  const t = translator("envelopes");
  return (
    <Empty
      title={testMode ? t("empty.testTitle") : t("empty.title")}
      text={t("empty.text")}
      action={
        <Group gap="sm" justify="center">
          {maySend && (
            <Button component={Link} to="/send">
              {t("send")}
            </Button>
          )}
          <Button component={Link} to="/templates" variant="default">
            {t("empty.templates")}
          </Button>
        </Group>
      }
    />
  );
}

function useEnvelopes(search: EnvelopesSearch, testMode: boolean) {
  return useInfiniteQuery({
    queryKey: [listEnvelopes.id, "pages", search, testMode],
    queryFn: ({ pageParam, signal }) =>
      callEndpoint(listEnvelopes, {
        query: {
          ...set(search),
          testMode: testMode ? "true" : "false",
          limit: "25",
          ...(pageParam === null ? {} : { cursor: pageParam }),
        },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ hasMore, nextCursor }) => (hasMore ? nextCursor : null),
    // Another filter of the same mode keeps what stands there until its answer comes; the other mode never shows through.
    placeholderData: (before, query) => (query?.queryKey.at(-1) === testMode ? before : undefined),
  });
}

/** Only the members that are set. */
function set({ status, seal, template, q }: EnvelopesSearch) {
  return { ...(status && { status }), ...(seal && { seal }), ...(template && { template }), ...(q && { q }) };
}

/**
 * Fetches the shown pages anew when an envelope changes; rows keep their places, and so does the window. One fetch of a list
 * ends another, so news waits for a page that is on its way, and is not lost when a page is asked for meanwhile.
 */
function useFollowing({ isFetching, isFetchingNextPage, fetchNextPage }: ReturnType<typeof useEnvelopes>) {
  const queries = useQueryClient();
  const missed = useRef(false);
  const renew = () => queries.invalidateQueries({ queryKey: [listEnvelopes.id] });
  const following = useChanges(() => {
    if (isFetchingNextPage) missed.current = true;
    else void renew();
  });
  const more = async () => {
    missed.current ||= isFetching;
    await fetchNextPage();
    if (!missed.current) return;
    missed.current = false;
    await renew();
  };
  return { following, more };
}
