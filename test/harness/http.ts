import { connect } from "node:net";
import { expect } from "vitest";
import { Problem } from "../../server/kernel/problem.ts";

/** Exactly the members of a problem document (contract §1), checked against its own status and header. */
export function problemOf(answer: { status: number; headers: Headers; body: unknown }): Problem {
  expect(answer.headers.get("content-type")).toBe("application/problem+json; charset=utf-8");
  const problem = Problem.strict().parse(answer.body);
  expect(problem.status).toBe(answer.status);
  expect(problem.type.endsWith(`/errors/${problem.code}`)).toBe(true);
  expect(problem.requestId).toBe(answer.headers.get("x-request-id"));
  if (problem.status === 401) expect(answer.headers.get("www-authenticate")).toBe("Bearer");
  return problem;
}

/** What each error points at, with its code. */
export function placesOf(problem: Problem): string[] {
  return (problem.errors ?? []).map((error) => {
    const place = "pointer" in error ? error.pointer : "parameter" in error ? `?${error.parameter}` : error.header;
    return `${place} ${error.code}`;
  });
}

export type RawAnswer = { status: number; headers: Headers; body: unknown; text: string };

/** Sends bytes as they are, which no HTTP client would, and reads one answer until the server closes. */
export async function raw(url: string, request: string | readonly (string | Uint8Array)[]): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  // The server may close before everything was sent; what it answered counts.
  socket.on("error", () => undefined);
  for (const part of typeof request === "string" ? [request] : request) socket.write(part);
  await ended;
  const text = Buffer.concat(chunks).toString("utf8");
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const [start = "", ...lines] = head.split("\r\n");
  const headers = new Headers(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const bodyText = rest.join("\r\n\r\n");
  let body: unknown = null;
  try {
    body = JSON.parse(bodyText);
  } catch {
    body = bodyText;
  }
  return { status: Number(start.split(" ")[1] ?? 0), headers, body, text };
}
