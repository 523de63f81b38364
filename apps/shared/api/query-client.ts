import { QueryClient } from "@tanstack/react-query";

/**
 * The cache of a web page's queries. The appliance is often on this machine or in a network of its own, and a browser that says it
 * is offline knows neither: calls are made, and fail, at once. Held back, an act would show no end, and be done by itself once the
 * browser thinks otherwise, when nobody looks any more.
 */
export const createQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: { retry: false, networkMode: "always", refetchOnReconnect: true, refetchOnWindowFocus: false },
      mutations: { networkMode: "always" },
    },
  });
