import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import {
  type DeliveryStatus,
  listWebhookDeliveries,
  type WebhookDelivery,
} from "../../../../../server/features/webhooks/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";

const pageSize = "25";
/** An attempt that is due within this time is waited for. */
const soonMs = 60_000;
/** For so long after somebody asked for deliveries they are looked for often: they begin a moment later. */
const expectedMs = 20_000;

/** The log of an endpoint, newest first, one page after the other. It is read anew while the page can be seen. */
export type DeliveryLog = ReturnType<typeof useDeliveries>;

/** @param often how often to read it anew, in milliseconds: while something is under way, and otherwise */
export function useDeliveries(id: string, often: { busyMs: number; idleMs: number }) {
  const [status, setStatus] = useState<DeliveryStatus | null>(null);
  /** How often deliveries were asked for on this page; null when the latest are no longer waited for. */
  const [asked, setAsked] = useState<number | null>(null);
  useEffect(() => {
    if (asked === null) return;
    const timer = setTimeout(setAsked, expectedMs, null);
    return () => clearTimeout(timer);
  }, [asked]);
  const expected = asked !== null;
  const pages = useInfiniteQuery({
    queryKey: [listWebhookDeliveries.id, id, status],
    queryFn: ({ pageParam, signal }) =>
      callEndpoint(listWebhookDeliveries, {
        params: { id },
        query: {
          limit: pageSize,
          ...(status === null ? {} : { status }),
          ...(pageParam === null ? {} : { cursor: pageParam }),
        },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    staleTime: 0,
    refetchInterval: ({ state }) =>
      expected || isBusy(state.data?.pages.flatMap(({ data }) => data)) ? often.busyMs : often.idleMs,
  });
  const entries = pages.data?.pages.flatMap(({ data }) => data);
  return {
    status,
    setStatus,
    pages,
    entries,
    busy: expected || isBusy(entries),
    /** To be called when somebody has asked for deliveries. */
    expect: () => setAsked((before) => (before ?? 0) + 1),
  };
}

/** Whether an attempt is under way or about to be. One that has been due for long waits for something else: its endpoint is paused. */
function isBusy(entries: readonly WebhookDelivery[] = []): boolean {
  return entries.some(({ status, nextAttemptAt }) => {
    if (status !== "pending" || nextAttemptAt === null) return false;
    return Math.abs(Date.parse(nextAttemptAt) - Date.now()) < soonMs;
  });
}
