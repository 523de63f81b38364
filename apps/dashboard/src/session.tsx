import type { QueryClient } from "@tanstack/react-query";
import { useQuery } from "@tanstack/react-query";
import type { DashboardSession } from "../../../server/features/identity/session-contract.ts";
import { getSession } from "../../../server/features/sign-in/contract.ts";
import type { Permission } from "../../../server/kernel/wire.ts";
import { callEndpoint, ProblemResponse, showOrganization } from "../../shared/api/client.ts";
import { forgetPerson, tellTabs } from "./tabs.ts";

const sessionKey = [getSession.id, {}];

/** The question who is signed in; its key is the one of `useEndpoint(getSession, {})`, so that `changes: [getSession]` renews it. */
export const sessionQuery = {
  queryKey: sessionKey,
  queryFn: async ({ signal, client }: { signal: AbortSignal; client: QueryClient }) => {
    const session = await callEndpoint(getSession, { signal });
    const before = client.getQueryData<DashboardSession>(sessionKey);
    // Another tab went to work in another organization, or somebody else signed in there, and this one follows.
    if (before && !sameWork(before, session)) forget(client);
    return session;
  },
};

/** Whether one page may serve both: the same person in the same organization. */
export function sameWork(one: DashboardSession, other: DashboardSession): boolean {
  return one.user.id === other.user.id && one.organization?.id === other.organization?.id;
}

/** Says with every call which organization the session is thought to work in. */
export function shareOrganization(queries: QueryClient): void {
  showOrganization(() => queries.getQueryData<DashboardSession>(sessionKey)?.organization?.id ?? null);
}

/** Drops every answer but who is signed in: it belongs to another person or organization. */
function forget(queries: QueryClient): void {
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== getSession.id });
}

/** Who is signed in; every page of the workspace stands below a known session. */
export function useSession(): DashboardSession {
  const { data } = useQuery({ ...sessionQuery, staleTime: 60_000, refetchOnWindowFocus: "always" });
  if (!data) throw new Error("useSession needs a page of the workspace.");
  return data;
}

/** Whether the person may do this in the present organization. */
export function useCan(permission: Permission): boolean {
  return useSession().organization?.permissions.includes(permission) ?? false;
}

/** The session, asked for only when it is not known yet; null for whoever is signed out. */
export async function loadSession(queries: QueryClient): Promise<DashboardSession | null> {
  try {
    return await queries.ensureQueryData(sessionQuery);
  } catch (error) {
    if (error instanceof ProblemResponse && error.problem.status === 401) return null;
    throw error;
  }
}

/** Takes the answer of a sign-in: nothing of another person or organization is kept. */
export function enterSession(queries: QueryClient, session: DashboardSession): void {
  forget(queries);
  queries.setQueryData(sessionKey, session);
  tellTabs("changed");
}

/** After the session was ended by hand: nothing of the person stays, in no tab. */
export function leaveSession(queries: QueryClient): void {
  queries.clear();
  forgetPerson();
  tellTabs("out");
}
