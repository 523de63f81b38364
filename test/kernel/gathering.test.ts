import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Gathering } from "../../server/kernel/gathering.ts";
import { parseMultipart, readBytes } from "../../server/kernel/request-body.ts";
import { heldBytes } from "../harness/memory.ts";

const kib = 1024;
const mib = kib * kib;

test.each([
  ["nothing", []],
  ["one piece", [70_000]],
  ["crumbs", Array.from({ length: 200_000 }, () => 1)],
  ["long pieces between crumbs", [1, 20_000, 1, 1, 65_535, 3, 70_000, 16_383, 16_384, 0, 65_530, 5, 1]],
])("%s come out as they came in", (_, lengths) => {
  const whole = Buffer.from(
    Array.from({ length: lengths.reduce((sum, length) => sum + length, 0) }, (_, i) => i % 251),
  );
  const gathering = new Gathering();
  let at = 0;
  for (const length of lengths) {
    // As Node reuses what it reads into.
    const piece = Buffer.from(whole.subarray(at, at + length));
    gathering.add(piece);
    at += length;
  }
  expect(gathering.size).toBe(whole.length);
  expect(gathering.whole().equals(whole)).toBe(true);
});

test("a body that is sent in crumbs takes the memory of its length", async () => {
  const length = 256 * kib;
  let held = 0;
  let arrived = () => {};
  const all = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const server = createServer(async (request, response) => {
    request.on("data", (chunk: Buffer) => {
      held += chunk.length;
      if (held === length) arrived();
    });
    response.end(String((await readBytes(request, mib)).length));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.write("POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n");
  const before = await heldBytes();
  socket.write("1\r\nx\r\n".repeat(length));
  await all;
  expect((await heldBytes()) - before).toBeLessThan(8 * mib);
  let answer = "";
  socket.on("data", (data) => {
    answer += data.toString("latin1");
  });
  socket.write("0\r\n\r\n");
  await once(socket, "end");
  expect(answer).toMatch(new RegExp(`\r\n\r\n(?:[0-9a-f]+\r\n)?${length}`));
});

test("a part full of what might end it takes the memory of its length", async () => {
  const boundary = "x".repeat(60);
  const content = `\r\n--${boundary.slice(0, 59)}y`.repeat(20_000);
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.bin"\r\n\r\n`;
  const bytes = Buffer.from(`${head}${content}\r\n--${boundary}--\r\n`);
  const { files } = await parseMultipart(`multipart/form-data; boundary=${boundary}`, bytes);
  expect(files.map((file) => Buffer.from(file.bytes).equals(Buffer.from(content)))).toEqual([true]);
});
