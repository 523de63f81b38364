import { z } from "zod";
import { localEndpoint } from "../../kernel/endpoint.ts";
import { Ts } from "../../kernel/wire.ts";

export const logLevels = ["debug", "info", "warn", "error", "fatal"] as const;

export const LogLine = z.object({
  /** Counts from the start of the process. */
  seq: z.int(),
  at: Ts,
  level: z.enum(logLevels),
  message: z.string(),
  /** Everything else of the entry as one line of JSON; null when there is nothing. */
  data: z.string().nullable(),
});
export type LogLine = z.infer<typeof LogLine>;

export const LogPage = z
  .object({
    /** Oldest first. */
    data: z.array(LogLine),
    /** Lines before this one are no longer in memory. */
    oldestSeq: z.int().nullable(),
    level: z.enum([...logLevels, "silent"]),
    /** Where all lines are kept: a command or a file; null when they only went to the terminal. */
    keptIn: z.string().nullable(),
  })
  .meta({ id: "LogPage" });
export type LogPage = z.infer<typeof LogPage>;

const Filter = {
  /** Of this level or above. */
  level: z.enum(logLevels).optional(),
  /** In the message or the data, in any case. */
  search: z.string().max(200).optional(),
};

export const readLog = localEndpoint({
  method: "GET",
  path: "/local/logs",
  id: "readLog",
  summary: "The latest lines of the log",
  query: z.object({
    ...Filter,
    since: Ts.optional(),
    /** Lines after this one. */
    after: z.coerce.number().int().min(0).optional(),
    limit: z.coerce.number().int().min(1).max(2000).default(200),
  }),
  responses: { 200: { kind: "json", schema: LogPage } },
});

export const followLog = localEndpoint({
  method: "GET",
  path: "/local/logs/stream",
  id: "followLog",
  summary: "New lines of the log as they are written",
  query: z.object(Filter),
  responses: { 200: { kind: "events", schema: LogLine } },
});

export const logsEndpoints = [readLog, followLog];
