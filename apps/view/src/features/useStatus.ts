import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { getViewerEnvelope, type ViewerEnvelope } from "../../../../server/features/viewers/contract.ts";
import { callEndpoint } from "../../../shared/api/client.ts";
import { type Access, exchange, isRefused } from "./access.ts";

/** How long to wait before access is asked for again: whatever refused it gets time. */
const pauseMs = 3000;

/**
 * The status, kept up to date by the service's event stream. Access that runs out is renewed with the link while the page
 * has it.
 * @param onEnd told why when there is no access any more
 */
export function useStatus(
  access: Access,
  onEnd: (reason: unknown) => void,
): { token: string; status: ViewerEnvelope; live: boolean } {
  const queries = useQueryClient();
  const [token, setToken] = useState(access.token);
  const [attempt, setAttempt] = useState(0);
  const [live, setLive] = useState(true);
  const end = useRef(onEnd);
  end.current = onEnd;
  const { data } = useQuery({
    queryKey: [getViewerEnvelope.id],
    queryFn: ({ signal }) => callEndpoint(getViewerEnvelope, { token, signal }),
    initialData: access.status,
  });
  const { link } = access;
  useEffect(() => {
    let timer: number | undefined;
    const source = new EventSource(`/v1/viewer/stream?access_token=${encodeURIComponent(token)}`);
    const refresh = () => void queries.invalidateQueries({ queryKey: [getViewerEnvelope.id] });
    const renew = async () => {
      try {
        if (link === null) {
          // Without the link only the access of this tab is left: when it is over, the answer says why.
          await callEndpoint(getViewerEnvelope, { token });
          setAttempt(attempt + 1);
        } else setToken(await exchange(link));
      } catch (error) {
        if (isRefused(error)) end.current(error);
        else timer = window.setTimeout(renew, pauseMs);
      }
    };
    source.addEventListener("open", () => {
      setLive(true);
      refresh();
    });
    source.addEventListener("update", refresh);
    source.addEventListener("expired", () => {
      source.close();
      void renew();
    });
    source.addEventListener("error", () => {
      setLive(false);
      // The browser connects again by itself unless the service refused.
      if (source.readyState === EventSource.CLOSED) timer = window.setTimeout(renew, pauseMs);
    });
    return () => {
      source.close();
      window.clearTimeout(timer);
    };
  }, [token, link, queries, attempt]);
  return { token, status: data, live };
}
