import { keepPreviousData, type UseQueryResult, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { EndpointSpec } from "../../../server/kernel/endpoint.ts";
import { type Answer, type CallInput, callEndpoint } from "./client.ts";
import { allPages } from "./pages.ts";

/** TanStack Query over the endpoint table: a query's key is the endpoint's id and its input. */

export function useEndpoint<const E extends EndpointSpec>(
  endpoint: E,
  input: CallInput<E>,
  options: { enabled?: boolean; refetchInterval?: number | false; keepPrevious?: boolean } = {},
): UseQueryResult<Answer<E>> {
  const { enabled = true, refetchInterval = false, keepPrevious = false } = options;
  return useQuery({
    queryKey: [endpoint.id, input],
    queryFn: ({ signal }) => callEndpoint(endpoint, { ...input, signal }),
    enabled,
    refetchInterval,
    ...(keepPrevious ? { placeholderData: keepPreviousData } : {}),
  });
}

/** Every entry of a list that is shown whole. */
export function useWholeList<T>(
  { id }: EndpointSpec,
  load: (input: {
    query: { limit: string; cursor?: string };
    signal: AbortSignal;
  }) => Promise<{ data: T[]; nextCursor: string | null }>,
  { enabled = true }: { enabled?: boolean } = {},
): UseQueryResult<T[]> {
  return useQuery({
    queryKey: [id, "whole"],
    queryFn: ({ signal }) => allPages((query) => load({ query, signal })),
    enabled,
  });
}

/**
 * A call that changes something.
 * @param options.changes endpoints whose answers are stale afterwards
 */
export function useAct<const E extends EndpointSpec>(
  endpoint: E,
  options: { changes?: readonly EndpointSpec[]; onDone?: (answer: Answer<E>) => void } = {},
) {
  const queries = useQueryClient();
  return useMutation<Answer<E>, Error, CallInput<E>>({
    mutationFn: (input) => callEndpoint(endpoint, input),
    onSuccess: async (answer) => {
      options.onDone?.(answer);
      await Promise.all((options.changes ?? []).map(({ id }) => queries.invalidateQueries({ queryKey: [id] })));
    },
  });
}
