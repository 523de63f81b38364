import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useCallback } from "react";
import type { DashboardSession } from "../../../../../server/features/identity/session-contract.ts";
import { enterSession } from "../../session.tsx";
import { localPath } from "./local-path.ts";

/** Goes on as the person who has just signed in. */
export function useEnter(): (session: DashboardSession, returnTo?: string | null) => void {
  const queries = useQueryClient();
  const router = useRouter();
  return useCallback(
    (session, returnTo) => {
      enterSession(queries, session);
      router.history.replace(localPath(returnTo));
    },
    [queries, router],
  );
}
