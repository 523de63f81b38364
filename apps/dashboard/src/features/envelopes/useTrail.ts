import { useEffect, useRef, useState } from "react";
import { z } from "zod";
import { AuditEntry } from "../../../../../server/features/envelopes/audit-contract.ts";
import { parsed, whileVisible } from "./visible.ts";

/** As the contract says, but a type that this page does not know yet is shown all the same. */
const Entry = AuditEntry.extend({ type: z.string() });
export type TrailEntry = z.output<typeof Entry>;

export type Trail = { entries: readonly TrailEntry[]; state: "connecting" | "following" | "interrupted" | "ended" };

const againMs = 15_000;
/** Entries that come together are told together. */
const gatherMs = 200;

/**
 * The audit trail of an envelope as it grows.
 * @param end how the envelope ended, null while it goes on: when an end is followed by another state, because a failed
 *   seal was tried again, the trail is followed anew
 * @param onEntry told once for entries that arrive together
 */
export function useTrail(envelope: string, end: string | null, onEntry: () => void): Trail {
  const [trail, setTrail] = useState<Trail>({ entries: [], state: "connecting" });
  const report = useRef(onEntry);
  report.current = onEntry;
  const [round, setRound] = useState(0);
  const before = useRef(end);
  useEffect(() => {
    if (before.current !== null && before.current !== end) setRound((last) => last + 1);
    before.current = end;
  }, [end]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each round opens the stream anew
  useEffect(() => {
    let over = false;
    return whileVisible(() => {
      if (over) return () => {};
      return follow(envelope, {
        entry: (entry) => setTrail(({ entries, state }) => ({ entries: withEntry(entries, entry), state })),
        gathered: () => report.current(),
        state: (state) => {
          over = state === "ended";
          setTrail(({ entries }) => ({ entries, state }));
        },
      });
    });
  }, [envelope, round]);
  return trail;
}

type Told = { entry(entry: TrailEntry): void; gathered(): void; state(state: Trail["state"]): void };

function follow(envelope: string, told: Told): () => void {
  let stream: EventSource | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  let gathering: ReturnType<typeof setTimeout> | undefined;
  const open = () => {
    stream = new EventSource(`/v1/envelopes/${encodeURIComponent(envelope)}/events/stream`);
    stream.addEventListener("open", () => told.state("following"));
    stream.addEventListener("message", ({ data }: MessageEvent<string>) => {
      const entry = Entry.safeParse(parsed(data));
      if (!entry.success) return;
      told.entry(entry.data);
      gathering ??= setTimeout(() => {
        gathering = undefined;
        told.gathered();
      }, gatherMs);
    });
    stream.addEventListener("end", () => {
      stream?.close();
      told.state("ended");
    });
    stream.addEventListener("error", () => {
      told.state("interrupted");
      if (stream?.readyState === EventSource.CLOSED) again = setTimeout(open, againMs);
    });
  };
  open();
  return () => {
    stream?.close();
    clearTimeout(again);
    clearTimeout(gathering);
  };
}

/** In order of `seq`; what is known already, because the stream began anew, changes nothing. */
function withEntry(entries: readonly TrailEntry[], entry: TrailEntry): readonly TrailEntry[] {
  const last = entries.at(-1)?.seq ?? 0;
  if (entry.seq > last) return [...entries, entry];
  if (entries.some(({ seq }) => seq === entry.seq)) return entries;
  return [...entries, entry].toSorted((a, b) => a.seq - b.seq);
}
