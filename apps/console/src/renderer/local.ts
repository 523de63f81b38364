import { keepPreviousData, type UseQueryResult, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState } from "react";
import type { EndpointSpec } from "../../../../server/kernel/endpoint.ts";
import type { LocalAnswer, LocalEvent, LocalInput } from "../../../../server/local-client.ts";
import { Message } from "../shared/ipc.ts";
import { localName } from "../shared/local-methods.ts";
import { ask, askByName, errorOf } from "./bridge.ts";

/** TanStack Query over the endpoints of the admin socket: a query's key is the endpoint's id and its input. */

/** Calls an endpoint; the main process has checked the answer by the endpoint's schema. @throws Refused, ProblemResponse */
export async function callAppliance<const E extends EndpointSpec>(
  endpoint: E,
  input: LocalInput<E>,
): Promise<LocalAnswer<E>> {
  return (await askByName(localName(endpoint), input)) as LocalAnswer<E>;
}

type QueryOptions = { enabled?: boolean; refetchInterval?: number | false; keepPrevious?: boolean };

/**
 * What an endpoint answers.
 * @example const tls = useLocal(getTls, {}); return <Loaded query={tls}>{(state) => …}</Loaded>
 */
export function useLocal<const E extends EndpointSpec>(
  endpoint: E,
  input: LocalInput<E>,
  { enabled = true, refetchInterval = false, keepPrevious = false }: QueryOptions = {},
): UseQueryResult<LocalAnswer<E>> {
  return useQuery({
    queryKey: [endpoint.id, input],
    queryFn: () => callAppliance(endpoint, input),
    enabled,
    refetchInterval,
    ...(keepPrevious ? { placeholderData: keepPreviousData } : {}),
  });
}

/**
 * A call that changes something.
 * @param options.changes endpoints whose answers are stale afterwards
 */
export function useLocalAct<const E extends EndpointSpec>(
  endpoint: E,
  options: { changes?: readonly EndpointSpec[]; onDone?: (answer: LocalAnswer<E>) => void } = {},
) {
  const queries = useQueryClient();
  return useMutation<LocalAnswer<E>, Error, LocalInput<E>>({
    mutationFn: (input) => callAppliance(endpoint, input),
    onSuccess: async (answer) => {
      options.onDone?.(answer);
      await Promise.all((options.changes ?? []).map(({ id }) => queries.invalidateQueries({ queryKey: [id] })));
    },
  });
}

/**
 * A call with a secret in it: nothing of the input is kept, neither here nor in the cache of queries and mutations.
 * @param changes endpoints whose answers are stale afterwards
 */
export function useLocalSecret<const E extends EndpointSpec>(endpoint: E, changes: readonly EndpointSpec[]) {
  const queries = useQueryClient();
  const [state, setState] = useState<{ pending: boolean; error: unknown; answer: LocalAnswer<E> | null }>(calm);
  /** @returns whether it was done */
  async function run(input: LocalInput<E>): Promise<boolean> {
    setState({ ...calm, pending: true });
    try {
      const answer = await callAppliance(endpoint, input);
      await Promise.all(changes.map(({ id }) => queries.invalidateQueries({ queryKey: [id] })));
      setState({ ...calm, answer });
      return true;
    } catch (error) {
      setState({ ...calm, error });
      return false;
    }
  }
  return { ...state, run };
}
const calm = { pending: false, error: null, answer: null };

export type Following = { state: "off" | "open" | "ended"; error: Error | null };
let subscriptions = 0;

/**
 * Follows an event stream while the component is shown and `enabled`; another input begins anew.
 * @param onEvent gets each event in its order
 */
export function useLocalFollow<const E extends EndpointSpec>(
  endpoint: E,
  input: LocalInput<E>,
  onEvent: (event: LocalEvent<E>) => void,
  { enabled = true }: { enabled?: boolean } = {},
): Following {
  const [following, setFollowing] = useState<Following>({ state: "off", error: null });
  const told = useEffectEvent(onEvent);
  const method = localName(endpoint);
  const asked = JSON.stringify(input);
  useEffect(() => {
    if (!enabled) return setFollowing({ state: "off", error: null });
    subscriptions += 1;
    const subscription = `${method}-${subscriptions}`.replaceAll(".", "-");
    const unlisten = window.signet.listen((raw) => {
      const message = Message.parse(raw);
      if (message.kind === "page" || message.subscription !== subscription) return;
      // The main process has checked it by the endpoint's schema.
      if (message.kind === "event") told(message.event as LocalEvent<E>);
      else setFollowing({ state: "ended", error: message.refusal && errorOf(message.refusal) });
    });
    setFollowing({ state: "open", error: null });
    askByName(method, { input: JSON.parse(asked), subscription }).catch((error: unknown) =>
      setFollowing({ state: "ended", error: error instanceof Error ? error : new Error(String(error)) }),
    );
    return () => {
      unlisten();
      // It ends by itself with the window; a failure here changes nothing.
      ask("unfollow", { subscription }).catch(() => undefined);
    };
  }, [method, asked, enabled]);
  return following;
}

/**
 * Saves what an endpoint sends as bytes in a file that the person names.
 * @returns where it lies; null when the person chose no place
 * @throws Refused, ProblemResponse
 */
export async function saveFromAppliance<const E extends EndpointSpec>(
  endpoint: E,
  input: LocalInput<E>,
  name: string,
): Promise<string | null> {
  const { saved } = (await askByName(localName(endpoint), { input, name })) as { saved: string | null };
  return saved;
}
