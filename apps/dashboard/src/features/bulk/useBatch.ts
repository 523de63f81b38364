import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { createEnvelope, listEnvelopes } from "../../../../../server/features/envelopes/contract.ts";
import { callEndpoint, NoAnswer, ProblemResponse } from "../../../../shared/api/client.ts";
import { type Batch, fingerprint, keepBatch, rowKey } from "./batch.ts";
import { contentOf, type Row } from "./rows.ts";
import { createRun, type Outcome, type Run, type RunState } from "./run.ts";

/** Codes that every further row would get too: somebody has to act first. */
const blocking = new Set([
  "unauthorized",
  "forbidden",
  "csrf-rejected",
  "payment-required",
  "plan-upgrade-required",
  "feature-disabled",
  "no-published-version",
]);

const keepEveryMs = 300;

type Options = { place: string; testMode: boolean };

/** What is sent, decided only when no other tab sends it; null when there is nothing to be sent after all. */
type Prepare = () => { batch: Batch; rows: readonly Row[] } | null;

/**
 * Runs a batch over the service and remembers how far it came. `kept` is false where the browser stores nothing,
 * `elsewhere` true when another tab is sending the same file.
 */
export function useBatch({ place, testMode }: Options) {
  const queries = useQueryClient();
  const [run, setRun] = useState<Run | null>(null);
  const [kept, setKept] = useState(true);
  const [elsewhere, setElsewhere] = useState(false);
  const present = useRef<{ batch: Batch; run: Run; timer: number | null } | null>(null);
  const release = useRef<(() => void) | null>(null);

  const letGo = useCallback(() => {
    release.current?.();
    release.current = null;
  }, []);
  /** Does something while no other tab sends this file; the place is then held until the rows are through. */
  const alone = useCallback(
    async (action: () => boolean): Promise<void> => {
      if (release.current !== null) return void action();
      await whenFree(place, (free) => {
        setElsewhere(!free);
        if (!free) return null;
        const held = new Promise<void>((resolve) => {
          release.current = resolve;
        });
        if (!action()) letGo();
        return held;
      });
    },
    [place, letGo],
  );

  const flush = useCallback(() => {
    const now = present.current;
    if (now === null) return;
    if (now.timer !== null) window.clearTimeout(now.timer);
    now.timer = null;
    setKept(keepBatch(place, now.batch));
  }, [place]);

  useEffect(() => {
    window.addEventListener("pagehide", flush);
    return () => {
      window.removeEventListener("pagehide", flush);
      flush();
      present.current?.run.cancel();
      letGo();
    };
  }, [flush, letGo]);

  const start = useCallback(
    (batch: Batch, rows: readonly Row[]) => {
      const byNumber = new Map(rows.map((row) => [row.number, row]));
      const send = async (number: number): Promise<Outcome> => {
        const row = byNumber.get(number);
        if (row === undefined) throw new Error(`row ${number} is not in the file`);
        const refused = batch.refused[String(number)] ?? 0;
        const idempotencyKey = await rowKey(batch.id, number, JSON.stringify(row.request), refused);
        const outcome: Outcome & { stored?: boolean } = await callEndpoint(createEnvelope, {
          query: { test_mode: testMode ? "1" : "0" },
          body: row.request,
          idempotencyKey,
        }).then(answered, failed);
        if (outcome.kind === "sent") {
          batch.contents[String(number)] = await fingerprint(batch.id, contentOf(row));
          batch.sent[String(number)] = outcome.envelope;
        }
        // A refusal is stored under its key: the next try needs another one.
        if (outcome.kind === "refused" || outcome.stored === true) {
          batch.refused[String(number)] = refused + 1;
        }
        const now = present.current;
        if (now?.batch === batch) now.timer ??= window.setTimeout(flush, keepEveryMs);
        return outcome;
      };
      const created = createRun({ rows: rows.map(({ number }) => number), sent: batch.sent, send, wait: restOrOnline });
      const guarded: Run = {
        ...created,
        start: () => void alone(() => done(created.start)),
        retryFailed: () => void alone(() => done(created.retryFailed)),
      };
      present.current = { batch, run: guarded, timer: null };
      // Before anything is sent: whoever closes the page at once still goes on with the same batch.
      flush();
      created.subscribe(() => {
        if (created.state().phase === "done") void queries.invalidateQueries({ queryKey: [listEnvelopes.id] });
        if (atRest(created.state())) {
          flush();
          letGo();
        }
      });
      setRun(guarded);
      created.start();
    },
    [alone, flush, letGo, queries, testMode],
  );

  const begin = useCallback(
    (prepare: Prepare) =>
      void alone(() => {
        const prepared = prepare();
        if (prepared === null) return false;
        start(prepared.batch, prepared.rows);
        return true;
      }),
    [alone, start],
  );

  const end = useCallback(() => {
    flush();
    present.current?.run.cancel();
    present.current = null;
    setRun(null);
    letGo();
  }, [flush, letGo]);

  return { run, begin, end, kept, elsewhere };
}

function done(action: () => void): true {
  action();
  return true;
}

/** Whether nothing is on its way any more and nothing will be sent by itself. */
function atRest({ phase, rows }: RunState): boolean {
  if (phase === "done") return true;
  return phase === "cancelled" && rows.values().every(({ kind }) => kind !== "sending");
}

/** Runs while no other tab holds the name, and holds it until what is returned has come to its end. */
async function whenFree(name: string, hold: (free: boolean) => Promise<void> | null): Promise<void> {
  // Pages that came without encryption have no locks.
  if (!("locks" in navigator)) return void hold(true);
  await navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
    await hold(lock !== null);
  });
}

type Answered = Awaited<ReturnType<typeof callEndpoint<typeof createEnvelope>>>;

function answered(answer: Answered): Outcome {
  if ("dryRun" in answer) throw new Error("a dry run was answered");
  // A new envelope is still being drawn when it is answered; one found by its reference has usually gone on.
  return { kind: "sent", envelope: answer.id, existed: answer.status !== "rendering" };
}

/** What a failed call means for the row, and for the rows behind it. */
export function failed(error: unknown): Outcome & { stored?: boolean } {
  if (error instanceof ProblemResponse) {
    const { code, status, detail, errors = [], requestId, retryAfter } = error.problem;
    const message = [detail, ...errors.map((one) => one.detail)].join(" ");
    const afterMs = retryAfter === undefined ? null : Math.max(1, retryAfter) * 1000;
    if (blocking.has(code))
      return { kind: "blocked", message, requestId, stored: code !== "unauthorized" && code !== "forbidden" };
    if (status === 429) return { kind: "later", afterMs: afterMs ?? 5000, message, requestId, offline: false };
    if (code === "idempotency-in-progress")
      return { kind: "later", afterMs: afterMs ?? 1000, message, requestId, offline: false };
    if (status === 503 && afterMs !== null) return { kind: "later", afterMs, message, requestId, offline: false };
    if (status >= 500) return { kind: "later", afterMs: null, message, requestId, offline: false };
    return { kind: "refused", message, requestId };
  }
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof NoAnswer) {
    // With a request id the service was there, and said something that is no answer.
    return { kind: "later", afterMs: null, message, requestId: error.requestId, offline: error.requestId === null };
  }
  return { kind: "refused", message, requestId: null };
}

/** Waits; for whoever is offline no longer than until the network is back. */
function restOrOnline(ms: number, offline: boolean): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      window.clearTimeout(timer);
      window.removeEventListener("online", done);
      resolve();
    };
    const timer = window.setTimeout(done, ms);
    if (offline) window.addEventListener("online", done);
  });
}
