import { stringify } from "yaml";
import type { Deps } from "./kernel/deps.ts";
import type { EndpointSpec } from "./kernel/endpoint.ts";
import type { OpenApiDocument } from "./kernel/openapi.ts";
import { equalInConstantTime } from "./kernel/secrets.ts";

export type OperationsReply = { status: number; headers: Record<string, string>; body: string };

const json = { "content-type": "application/json; charset=utf-8" };

/** What machines ask besides /v1: health, readiness, metrics, and the description of the interface. */
export function createOperations(deps: Deps, endpoints: readonly EndpointSpec[]) {
  let stopping = false;
  let document: Promise<OpenApiDocument> | undefined;

  const describe = (): Promise<OpenApiDocument> => {
    // Loaded at the first request: building it costs more than the rest of the start.
    document ??= Promise.all([
      import("./kernel/openapi.ts"),
      import("./examples.json", { with: { type: "json" } }),
    ]).then(([{ describeApi }, { default: examples }]) =>
      describeApi(endpoints, { serverUrl: deps.config.baseUrl, examples }),
    );
    return document;
  };

  /** Written once: the text takes a tenth of a second to make, and anybody may ask for it. */
  const asJson = once(async () => JSON.stringify(await describe()));
  const asYaml = once(async () => stringify(await describe(), { aliasDuplicateObjects: false }));

  const routes: Record<string, (authorization: string) => Promise<OperationsReply | null>> = {
    "/healthz": async () => ({ status: 200, headers: json, body: '{"status":"ok"}' }),
    "/readyz": ready,
    "/metrics": metrics,
    "/openapi.json": async () => ({ status: 200, headers: json, body: await asJson() }),
    "/openapi.yaml": async () => ({
      status: 200,
      headers: { "content-type": "application/yaml; charset=utf-8" },
      body: await asYaml(),
    }),
  };

  async function ready(): Promise<OperationsReply> {
    try {
      if (stopping) throw new Error("stopping");
      await deps.db.read.selectFrom("organizations").select("id").limit(1).execute();
      return { status: 200, headers: json, body: '{"status":"ready"}' };
    } catch (error) {
      const cause = stopping ? "stopping" : "the database does not answer";
      if (!stopping) deps.log.error({ err: error }, "not ready");
      return { status: 503, headers: json, body: JSON.stringify({ status: "not ready", cause }) };
    }
  }

  /** Only with the configured token; without one there is no such page on the network. */
  async function metrics(authorization: string): Promise<OperationsReply | null> {
    const token = deps.config.metricsToken;
    if (token === undefined) return null;
    if (!equalInConstantTime(authorization, `Bearer ${token}`)) {
      return {
        status: 401,
        headers: { "content-type": "text/plain; charset=utf-8", "www-authenticate": "Bearer" },
        body: "A bearer token is needed.\n",
      };
    }
    const { contentType, text } = await deps.metrics.render();
    return { status: 200, headers: { "content-type": contentType }, body: text };
  }

  return {
    stopping() {
      stopping = true;
    },
    /** @returns whether the path was one of these and the reply was given to `send` */
    async answer(
      method: string,
      path: string,
      authorization: string,
      send: (reply: OperationsReply) => void,
    ): Promise<boolean> {
      const route = method === "GET" || method === "HEAD" ? routes[path] : undefined;
      const reply = (await route?.(authorization)) ?? null;
      if (reply) send(reply);
      return reply !== null;
    },
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
