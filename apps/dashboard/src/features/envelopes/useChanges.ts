import { useEffect, useRef, useState } from "react";
import { z } from "zod";
import { parsed, whileVisible } from "./visible.ts";

const Change = z.object({ id: z.string() });
const pollMs = 15_000;
/** Changes that come together are looked at together. */
const gatherMs = 250;

type OnChange = (ids: ReadonlySet<string> | null) => void;

/**
 * Follows the changes of the organization's envelopes.
 * @param onChange told the ids that changed; null when it is not known which: after an interruption, and at every look
 *   while the stream fails
 * @returns whether the stream works
 */
export function useChanges(onChange: OnChange): boolean {
  const [following, setFollowing] = useState(true);
  const report = useRef(onChange);
  report.current = onChange;
  useEffect(() => {
    let first = true;
    return whileVisible(() => {
      if (!first) report.current(null);
      first = false;
      return follow((ids) => report.current(ids), setFollowing);
    });
  }, []);
  return following;
}

function follow(onChange: OnChange, onState: (following: boolean) => void): () => void {
  let stream: EventSource | undefined;
  let polling: ReturnType<typeof setInterval> | undefined;
  let gathering: ReturnType<typeof setTimeout> | undefined;
  let changed = new Set<string>();
  const gather = (id: string) => {
    changed.add(id);
    gathering ??= setTimeout(() => {
      const ids = changed;
      changed = new Set();
      gathering = undefined;
      onChange(ids);
    }, gatherMs);
  };
  const look = () => {
    onChange(null);
    // The browser reconnects by itself unless the server refused: then it is asked anew.
    if (stream?.readyState === EventSource.CLOSED) open();
  };
  const open = () => {
    stream = new EventSource("/auth/changes");
    stream.addEventListener("open", () => {
      onState(true);
      if (polling === undefined) return;
      clearInterval(polling);
      polling = undefined;
      onChange(null);
    });
    stream.addEventListener("envelope", ({ data }: MessageEvent<string>) => {
      const change = Change.safeParse(parsed(data));
      if (change.success) gather(change.data.id);
    });
    stream.addEventListener("error", () => {
      onState(false);
      polling ??= setInterval(look, pollMs);
    });
  };
  open();
  return () => {
    stream?.close();
    clearInterval(polling);
    clearTimeout(gathering);
  };
}
