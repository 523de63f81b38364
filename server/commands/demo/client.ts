import type { z } from "zod";
import { Problem } from "../../kernel/problem.ts";

/** An answer that is not what was asked for; the message holds the problem document's sentence. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly code: string;

  constructor(target: string, status: number, text: string) {
    const problem = Problem.safeParse(tryJson(text));
    const code = problem.success ? problem.data.code : "unknown";
    super(`${target} answered ${status} ${code}: ${problem.success ? explain(problem.data) : text.slice(0, 200)}`);
    this.name = "ApiFailure";
    this.status = status;
    this.code = code;
  }
}

function explain(problem: Problem): string {
  const errors = problem.errors?.map((error) => `${"pointer" in error ? error.pointer : ""} ${error.detail}`) ?? [];
  return [problem.detail, ...errors].join(" ");
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export type Client = {
  /** Calls and parses the answer. @throws ApiFailure when the status is 400 or more */
  json<S extends z.ZodType>(
    schema: S,
    path: string,
    options?: { json?: unknown; method?: string; headers?: Record<string, string> },
  ): Promise<z.output<S>>;
  bytes(path: string): Promise<Uint8Array>;
  upload<S extends z.ZodType>(schema: S, path: string, type: string, bytes: Uint8Array): Promise<z.output<S>>;
};

/** A small HTTP client for one server and one bearer credential. */
export function createClient(url: string, token: string | null): Client {
  const send = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (token !== null) headers.set("authorization", `Bearer ${token}`);
    const response = await fetch(new URL(path, url), { ...init, headers });
    if (response.status >= 400)
      throw new ApiFailure(`${init.method ?? "GET"} ${path}`, response.status, await response.text());
    return response;
  };
  return {
    async json(schema, path, { json, method, headers = {} } = {}) {
      const response = await send(path, {
        method: method ?? (json === undefined ? "GET" : "POST"),
        headers: { ...headers, ...(json === undefined ? {} : { "content-type": "application/json" }) },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      });
      const text = await response.text();
      return schema.parse(text === "" ? null : JSON.parse(text));
    },
    async bytes(path) {
      return new Uint8Array(await (await send(path, {})).arrayBuffer());
    },
    async upload(schema, path, type, bytes) {
      const response = await send(path, {
        method: "POST",
        headers: { "content-type": type },
        body: Buffer.from(bytes),
      });
      return schema.parse(await response.json());
    },
  };
}
