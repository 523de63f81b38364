import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { besideChallenges, plainAnswers } from "../../../server/challenge-front.ts";
import { loadConfig } from "../../../server/config.ts";
import { createChallenges } from "../../../server/features/tls/challenges.ts";
import { openTls } from "../../../server/features/tls/keeper.ts";
import { openAdminSocket, openFront } from "../../../server/front.ts";

/** What strangers do to the server's ports before a word of theirs is understood. */

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-front-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function stranger(port: number): { socket: Socket; gone: Promise<void> } {
  const socket = connect(port, "127.0.0.1");
  socket.setNoDelay(true);
  // A connection that is cut off is what these tests want.
  socket.on("error", () => undefined);
  return { socket, gone: new Promise((resolve) => socket.once("close", () => resolve())) };
}

/** Answered after whatever connected before it was taken. */
async function answered(port: number): Promise<number | undefined> {
  const call = request({ host: "127.0.0.1", port, rejectUnauthorized: false, agent: false }).end();
  const [response] = await once(call, "response");
  response.resume();
  await once(response, "end");
  return response.statusCode;
}

test("who connects and says nothing, or begins and stops, keeps no server from ending", {
  timeout: 60_000,
}, async () => {
  const config = loadConfig({ SIGNET_DATA_DIR: folder, SIGNET_HOST: "0.0.0.0", SIGNET_PORT: "0" });
  const tls = await openTls(config, Date.now);
  const front = await openFront(config, tls);
  front.serve((_request, response) => {
    response.statusCode = 204;
    response.end();
  });
  const begin = (hello: string) => {
    const one = stranger(front.port);
    one.socket.write(Buffer.from(hello, "latin1"));
    return one.gone;
  };
  const gone = [stranger(front.port).gone, begin("\x16\x03\x01\x02\x00\x01")];
  expect(await answered(front.port)).toBe(204);
  const served = tls.current();
  if (served === null) throw new Error("the server speaks TLS");
  tls.challenges.alpn.set("sign.example.com", served);
  gone.push(stranger(front.port).gone, begin("\x16\x03\x01\x02\x00\x01"));
  expect(await answered(front.port)).toBe(204);
  await front.close(0);
  await Promise.all(gone);
  tls.close();
});

test("while a challenge waits, a first message that comes drop by drop has its time, too", {
  timeout: 60_000,
}, async () => {
  const challenges = createChallenges();
  challenges.alpn.set("sign.example.com", { certPem: "", keyPem: "" });
  const accepted: Socket[] = [];
  const server = createServer(besideChallenges(challenges, (socket) => void accepted.push(socket), 300));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { socket, gone } = stranger((server.address() as AddressInfo).port);
  // A record of 16 KiB, of which each drop would begin the wait anew.
  socket.write(Buffer.from("1603014000", "hex"));
  const drops = setInterval(() => socket.write("\0"), 50);
  await gone;
  clearInterval(drops);
  expect(accepted).toEqual([]);
  server.close();
  await once(server, "close");
});

test("plain HTTP leads nobody elsewhere, whatever stands for the path", async () => {
  const server = plainAnswers(createChallenges(), "https://sign.example.com/").listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const paths = [
    "/\f",
    "/a\tb",
    "/\x80\xff",
    "//evil.example/",
    "/\\evil.example",
    "/@evil.example",
    "http://evil.example/",
    "*",
  ];
  const seen: [string, number, string | undefined][] = [];
  for (const at of paths) {
    const { socket, gone } = stranger(port);
    let reply = "";
    socket.setEncoding("latin1").on("data", (text: string) => (reply += text));
    socket.write(Buffer.from(`GET ${at} HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n`, "latin1"));
    await gone;
    seen.push([at, Number(reply.split(" ")[1]), /^location: (.*)\r$/im.exec(reply)?.[1]]);
  }
  const there = (to: string) => `https://sign.example.com${to}`;
  expect(seen).toEqual([
    ["/\f", 400, undefined],
    ["/a\tb", 400, undefined],
    ["/\x80\xff", 400, undefined],
    ["//evil.example/", 308, there("//evil.example/")],
    ["/\\evil.example", 308, there("/\\evil.example")],
    ["/@evil.example", 308, there("/@evil.example")],
    ["http://evil.example/", 404, undefined],
    ["*", 404, undefined],
  ]);
  server.close();
  await once(server, "close");
});

test("a file that is no socket is not taken for the admin socket of before", async () => {
  const file = path.join(folder, "run", "admin.sock");
  const first = await openAdminSocket(file);
  await first.close(0);
  const mine = path.join(folder, "contract.pdf");
  await writeFile(mine, "mine");
  await expect(openAdminSocket(mine)).rejects.toThrow(/contract\.pdf is no socket/);
  expect(await readFile(mine, "utf8")).toBe("mine");
});
