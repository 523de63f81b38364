import { stringify } from "yaml";
import { z } from "zod";
import type { Deps } from "./kernel/deps.ts";
import { once } from "./kernel/once.ts";
import type { OpenApiDocument } from "./kernel/openapi.ts";
import { equalInConstantTime } from "./kernel/secrets.ts";
import { parseParameters } from "./kernel/validate.ts";

type Asked = { method: string; path: string; querystring: string };
export type OperationsReply = { status: number; headers: Record<string, string>; body: string };

const json = { "content-type": "application/json; charset=utf-8" };
const noParameters = z.strictObject({});

export type Operations = ReturnType<typeof createOperations>;

/**
 * What machines ask besides /v1: health, readiness, metrics, and the description of the interface.
 * @param inMaintenance whether nothing new is taken at present
 */
export function createOperations(deps: Deps, inMaintenance: () => boolean) {
  let stopping = false;
  let document: Promise<OpenApiDocument> | undefined;

  const describe = (): Promise<OpenApiDocument> => {
    // Loaded at the first request: building it costs more than the rest of the start.
    document ??= import("./openapi.ts").then(({ describeService }) => describeService(deps.config.baseUrl));
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
    const cause = (await trouble()) ?? (inMaintenance() ? "an update is under way" : null);
    return cause === null ? { status: 200, headers: json, body: '{"status":"ready"}' } : notReady(cause);
  }

  /** What keeps it from serving, whatever maintenance says. */
  async function trouble(): Promise<string | null> {
    if (stopping) return "stopping";
    if (deps.clock.doubt?.()) return "the clock of this machine cannot be right";
    if (deps.capacity.halted()) return `storage: ${deps.capacity.state().storage}`;
    try {
      await deps.db.read.selectFrom("organizations").select("id").limit(1).execute();
      return null;
    } catch (error) {
      deps.log.error({ err: error }, "not ready");
      return "the database does not answer";
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
    return await renderMetrics(deps);
  }

  return {
    stopping() {
      stopping = true;
    },
    trouble,
    /** The same on the admin socket, where no token is asked for. */
    async answerLocally(asked: Asked, send: (reply: OperationsReply) => void): Promise<boolean> {
      const { method, path } = asked;
      if (path !== "/metrics") return await this.answer(asked, "", send);
      if (method !== "GET" && method !== "HEAD") return false;
      send(await renderMetrics(deps));
      return true;
    },
    /**
     * @returns whether the path was one of these and the reply was given to `send`
     * @throws AppError `validation-failed` for parameters of an interface description. Health, readiness and metrics ignore
     * theirs, the only operations of ours that do: load balancers and monitors add some of their own.
     */
    async answer(
      { method, path, querystring }: Asked,
      authorization: string,
      send: (reply: OperationsReply) => void,
    ): Promise<boolean> {
      const route = method === "GET" || method === "HEAD" ? routes[path] : undefined;
      if (route && path.startsWith("/openapi."))
        parseParameters(noParameters, Object.fromEntries(new URLSearchParams(querystring)));
      const reply = (await route?.(authorization)) ?? null;
      if (reply) send(reply);
      return reply !== null;
    },
  };
}

const notReady = (cause: string): OperationsReply => ({
  status: 503,
  headers: json,
  body: JSON.stringify({ status: "not ready", cause }),
});

async function renderMetrics({ metrics }: Pick<Deps, "metrics">): Promise<OperationsReply> {
  const { contentType, text } = await metrics.render();
  return { status: 200, headers: { "content-type": contentType }, body: text };
}
