import type { RunningHost } from "../../feature.ts";
import { createBell, pingMs } from "../../kernel/bell.ts";
import type { ServerSentEvent } from "../../kernel/endpoint.ts";
import type { LogTail, TailLine } from "../../kernel/log-tail.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { type LogLine, type LogPage, logLevels } from "./logs-contract.ts";

/** The log as it is in memory: what the running process wrote last. */

export type LogFilter = { level?: LogLine["level"] | undefined; search?: string | undefined };

export function readLog(
  { log: { tail, keptIn } }: Pick<RunningHost, "log">,
  level: LogPage["level"],
  query: LogFilter & { since?: string | undefined; after?: number | undefined; limit: number },
): LogPage {
  const all = tail.lines(0);
  const { since } = query;
  const data = matching(tail, query.after ?? 0, query).filter(({ at }) => since === undefined || at >= since);
  return { data: data.slice(-query.limit), oldestSeq: all[0]?.seq ?? null, level, keptIn };
}

/** New lines from now on, until the reader goes away. */
export async function* followLog(
  { log: { tail } }: Pick<RunningHost, "log">,
  filter: LogFilter,
  { signal }: Pick<RequestInfo, "signal">,
): AsyncGenerator<ServerSentEvent> {
  const bell = createBell(signal);
  const unsubscribe = tail.onLine(bell.ring);
  let last = tail.lines(0).at(-1)?.seq ?? 0;
  try {
    yield { retry: 3000 };
    while (!signal.aborted) {
      const fresh = tail.lines(last);
      last = fresh.at(-1)?.seq ?? last;
      for (const line of fresh.flatMap((one) => shown(one, filter)))
        yield { id: String(line.seq), data: JSON.stringify(line) };
      if (!(await bell.wait(pingMs))) yield { comment: "ping" };
    }
  } finally {
    unsubscribe();
    bell.close();
  }
}

const matching = (tail: LogTail, after: number, filter: LogFilter): LogLine[] =>
  tail.lines(after).flatMap((line) => shown(line, filter));

function shown({ level: name, ...line }: TailLine, { level: least, search }: LogFilter): LogLine[] {
  const level = logLevels.find((one) => one === name) ?? "info";
  if (least !== undefined && logLevels.indexOf(level) < logLevels.indexOf(least)) return [];
  const wanted = search?.toLowerCase() ?? "";
  const found = wanted === "" || `${line.message} ${line.data ?? ""}`.toLowerCase().includes(wanted);
  return found ? [{ ...line, level }] : [];
}
