import type { EndpointSpec } from "../../server/kernel/endpoint.ts";
import { callLocal, type LocalAddress, type LocalAnswer, type LocalInput } from "../../server/local-client.ts";
import type { TestAppliance } from "./appliance.ts";

/** The administrator of a test appliance, on its real admin socket. */
export function administrator(app: Pick<TestAppliance, "config">, operator = "ada") {
  const address: LocalAddress = { socket: app.config.adminSocket, operator };
  return {
    address,
    call: <const E extends EndpointSpec>(endpoint: E, input: LocalInput<E>): Promise<LocalAnswer<E>> =>
      callLocal(address, endpoint, input),
  };
}
