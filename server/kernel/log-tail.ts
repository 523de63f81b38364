import { createEvents } from "./events.ts";

/** The latest lines of the log, as they were written: redacted before they come here. */

export type TailLine = {
  seq: number;
  at: string;
  level: string;
  message: string /** JSON, or null. */;
  data: string | null;
};

export type LogTail = {
  /** Takes one line of JSON, as the log writes it. */
  write(line: string): void;
  /** Oldest first, those after the line with this number. */
  lines(after: number): TailLine[];
  /** Called after each new line. @returns a function that ends it */
  onLine(listener: () => void): () => void;
};

const newLine = "line";
/** A line that is longer than this is cut: an error with all its causes may be of any length. */
const longestData = 8000;

/** @param capacity how many lines are kept */
export function createLogTail(capacity = 2000): LogTail {
  // Read only when somebody asks: a busy appliance writes thousands of lines a second.
  const kept: { seq: number; line: string }[] = [];
  const events = createEvents();
  let seq = 0;
  return {
    write(line) {
      seq += 1;
      kept.push({ seq, line });
      // In batches, so that not every line moves all others.
      if (kept.length >= capacity * 1.25) kept.splice(0, kept.length - capacity);
      events.publish(newLine);
    },
    lines(after) {
      const from = kept.findIndex((line) => line.seq > after);
      const shown = from === -1 ? [] : kept.slice(Math.max(from, kept.length - capacity));
      return shown.map((entry) => read(entry.seq, entry.line));
    },
    onLine: (listener) => events.subscribe(newLine, listener),
  };
}

function read(seq: number, line: string): TailLine {
  try {
    const { level, time, msg, ...rest }: Record<string, unknown> = JSON.parse(line);
    const data = Object.keys(rest).length === 0 ? null : JSON.stringify(rest).slice(0, longestData);
    return { seq, at: String(time), level: String(level), message: typeof msg === "string" ? msg : "", data };
  } catch {
    return { seq, at: new Date().toISOString(), level: "info", message: line.trim().slice(0, longestData), data: null };
  }
}
