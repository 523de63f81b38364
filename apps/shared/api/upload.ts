import { addressOf, type EndpointSpec } from "../../../server/kernel/endpoint.ts";
import { shownOrganizationHeader } from "../../../server/kernel/wire.ts";
import { type Answer, bodyOf, type CallInput, headersOf, NoAnswer, readAnswer, shownFor } from "./client.ts";

/**
 * Calls an endpoint that takes a file and tells how much of it has gone out, which `fetch` cannot.
 * @param onProgress told a share from 0 to 1
 * @throws ProblemResponse, NoAnswer
 */
export async function uploadTo<E extends EndpointSpec>(
  endpoint: E,
  input: CallInput<E>,
  onProgress: (share: number) => void,
): Promise<Answer<E>> {
  const headers = headersOf(input, shownFor(endpoint));
  const body = bodyOf(endpoint, input.body, headers);
  const request = new XMLHttpRequest();
  request.open(endpoint.method, addressOf(endpoint, input.params, input.query));
  request.responseType = "arraybuffer";
  headers.forEach((value, name) => {
    request.setRequestHeader(name, value);
  });
  const response = await new Promise<Response>((resolve, reject) => {
    request.upload.onprogress = ({ loaded, total, lengthComputable }) => {
      if (lengthComputable) onProgress(loaded / total);
    };
    request.onload = () => resolve(responseOf(request));
    request.onerror = () => reject(new NoAnswer("The server cannot be reached."));
    request.onabort = () => reject(new NoAnswer("The upload was stopped."));
    input.signal?.addEventListener("abort", () => request.abort());
    request.send(body instanceof ReadableStream ? null : body);
  });
  return await readAnswer(endpoint, response);
}

function responseOf(request: XMLHttpRequest): Response {
  const headers = new Headers();
  for (const name of ["content-type", "content-disposition", "x-request-id", shownOrganizationHeader]) {
    const value = request.getResponseHeader(name);
    if (value !== null) headers.set(name, value);
  }
  return new Response(request.response, { status: request.status, headers });
}
