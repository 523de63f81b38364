import { type DestinationStream, destination, type Logger, pino } from "pino";

/** Structured log: `log.info({ envelope: id }, "envelope sealed")`. Never give it a payload or a request body. */
export type Log = Pick<Logger, "debug" | "info" | "warn" | "error" | "fatal"> & { child(bindings: object): Log };

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

const secretNames = [
  "authorization",
  "cookie",
  "set-cookie",
  "x-api-key",
  "token",
  "password",
  "secret",
  "code",
  "key",
  "pin",
  "otp",
];
/** At the top, one and two levels down, which is as deep as we log. */
const paths = secretNames.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]);

/** Error codes such as ENOENT are no secrets and are kept by the error serializer, which runs before the redaction. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name: type, message, stack } = error;
  const reason = "code" in error && typeof error.code === "string" ? { errorCode: error.code } : {};
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) };
  return { type, message, stack, ...reason, ...cause };
}

/** Standard output, and somebody who reads along. */
export function standardOutputAnd(reader: { write(line: string): void }): DestinationStream {
  const output = destination({ dest: 1, sync: true });
  return {
    write(line: string) {
      output.write(line);
      reader.write(line);
    },
  };
}

/** A JSON line an entry, to standard output unless a destination is given. */
export function createLog(level: LogLevel, to?: DestinationStream): Log {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths, censor: "[redacted]" },
    serializers: { err: describeError, error: describeError },
  };
  return to === undefined ? pino(options) : pino(options, to);
}
