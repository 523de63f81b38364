import { once } from "node:events";
import { createServer, IncomingMessage, request, ServerResponse } from "node:http";
import { connect, createServer as createHttp2Server } from "node:http2";
import { Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { onClosed } from "../../../server/kernel/closed.ts";
import { createStreamCount } from "../../../server/kernel/streams.ts";

/** A client that leaves before anybody listens for it. */

type Server = ReturnType<typeof createServer> | ReturnType<typeof createHttp2Server>;

/** The response to a client that has left, once the event has passed. */
async function leftBehind(server: Server, leave: (url: string, begun: Promise<unknown>) => Promise<unknown>) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const called = once(server, "request");
  const gone = called.then(async ([, response]: ServerResponse[]) => {
    if (response === undefined) throw new Error("there is no response");
    await once(response, "close");
    return response;
  });
  await leave(`http://127.0.0.1:${port}`, called);
  return await gone;
}

const protocols = {
  "HTTP/1": () =>
    leftBehind(createServer(), async (url, begun) => {
      const call = request(url).on("error", () => undefined);
      call.end();
      await begun;
      call.destroy();
    }),
  "HTTP/2": () =>
    leftBehind(createHttp2Server(), async (url, begun) => {
      const client = connect(url);
      onTestFinished(() => client.destroy());
      const call = client.request({ ":path": "/" }).on("error", () => undefined);
      await begun;
      call.close(8);
    }),
};

test.each(Object.entries(protocols))(
  "of %s is noticed all the same, and gives its place among the streams back",
  async (_, leave) => {
    const response = await leave();
    let told = 0;
    onClosed(response, () => {
      told += 1;
    });
    expect(told).toBe(1);
    const count = createStreamCount(1);
    for (let n = 0; n < 3; n += 1) count.take("key", response);
    const open = new ServerResponse(new IncomingMessage(new Socket()));
    count.take("key", open);
    expect(() => count.take("key", open)).toThrow("At most 1");
  },
);
