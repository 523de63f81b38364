import type { Deps } from "./deps.ts";
import type { AnyReply, Call, EndpointSpec, Reply } from "./endpoint.ts";

/** What the kernel calls for an endpoint, its types erased; made by `bind` only. */
export type Binding = {
  endpoint: EndpointSpec;
  // Methods, so that a binding for one endpoint's types is assignable here without a cast.
  load?(deps: Deps, call: LoadCall<EndpointSpec>): Promise<unknown>;
  handle(deps: Deps, call: Call<EndpointSpec>, resource: unknown): Promise<AnyReply>;
};

export type LoadCall<E extends EndpointSpec> = Omit<Call<E>, "query" | "body">;

/**
 * Ties an endpoint to its use case: `bind(getEnvelope)({ load, handle })`. In two calls, so that the endpoint's types are
 * known before the use case is checked against them and a status stays the literal that it is.
 * `load` fetches the resource that the path names and throws `not-found`; it runs before the body is validated (contract §1, order of checks).
 */
export function bind<const E extends EndpointSpec>(endpoint: E) {
  return <R = undefined>(use: {
    load?(deps: Deps, call: LoadCall<E>): Promise<R>;
    handle(deps: Deps, call: Call<E>, resource: R): Promise<Reply<E>>;
  }): Binding => ({ endpoint, ...use });
}
