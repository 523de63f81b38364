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
/** How long to check often after a delivery was requested: it starts a moment later. */
const expectedMs = 20_000;

/** The log of an endpoint, newest first, one page after the other. It is read anew while the page can be seen. */
export type DeliveryLog = ReturnType<typeof useDeliveries>;

/** @param often how often to read it anew, in milliseconds: while something is under way, and otherwise */
export function useDeliveries(id: string, often: { busyMs: number; idleMs: number }) {
  const [status, setStatus] = useState<DeliveryStatus | null>(null);
  /** When deliveries were last requested on this page, in milliseconds; null once they are no longer expected. */
  const [askedAt, setAskedAt] = useState<number | null>(null);
  useEffect(() => {
    if (askedAt === null) return;
    const timer = setTimeout(setAskedAt, expectedMs, null);
    return () => clearTimeout(timer);
  }, [askedAt]);
  const expected = askedAt !== null;
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
    /** Call it after requesting a delivery. */
    expect: () => setAskedAt(Date.now()),
  };
}

/** Whether an attempt is under way or about to be. One that has been due for long waits for something else: its endpoint is paused. */
function isBusy(entries: readonly WebhookDelivery[] = []): boolean {
  return entries.some(({ status, nextAttemptAt }) => {
    if (status !== "pending" || nextAttemptAt === null) return false;
    return Math.abs(Date.parse(nextAttemptAt) - Date.now()) < soonMs;
  });
}
