import type { ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";

/**
 * Calls once the response is closed; at once when it has been, since a client may leave while it is still being identified and
 * the event does not come again.
 */
export function onClosed(response: ServerResponse, then: () => void): void {
  if (isClosed(response)) then();
  else response.once("close", then);
}

/** Of HTTP/2 a response does not say so itself, only its stream does. */
function isClosed(response: ServerResponse | Http2ServerResponse): boolean {
  return "stream" in response ? response.stream.destroyed : response.closed;
}
