import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { Connection } from "../shared/native.ts";
import { ask } from "./bridge.ts";

/** How often the appliance is looked at while the window is visible, in milliseconds. */
const everyMs = 5000;
const queryKey = ["connection"];

/** How the appliance was found at the last look. */
export function useConnection(): UseQueryResult<Connection> {
  return useQuery({ queryKey, queryFn: () => ask("connection.look"), refetchInterval: everyMs });
}

/** Asks everything anew when the appliance is back, or another one is looked at. */
export function useFreshAfterReturn(connection: Connection | undefined): void {
  const queries = useQueryClient();
  const seen = useRef<string | null>(null);
  const now = connection?.state === "running" ? connection.socket : null;
  useEffect(() => {
    if (now !== null && seen.current !== null && seen.current !== now)
      void queries.invalidateQueries({ predicate: ({ queryKey: [key] }) => key !== "connection" });
    if (connection) seen.current = now ?? "none";
  }, [connection, now, queries]);
}
