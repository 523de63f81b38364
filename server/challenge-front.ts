import { createServer as createHttp, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { createSecureContext, createServer as createTls } from "node:tls";
import type { Challenges } from "./features/tls/acme/challenges.ts";
import { answerProblem, answerRefused } from "./front-problems.ts";
import { AppError } from "./kernel/errors.ts";
import { newId } from "./kernel/ids.ts";
import { requireUnderstood } from "./kernel/request.ts";

/** Where the server answers an ACME authority that looks whether it stands under a name. */

const wellKnown = "/.well-known/acme-challenge/";

/** The extension as RFC 8737 §3 demands it: application_layer_protocol_negotiation with `acme-tls/1` and nothing else. */
const offer = Buffer.from("0010000d000b0a61636d652d746c732f31", "hex");
const handshake = 22;
const recordHead = 5;
/** How long the first message of a connection may take, in milliseconds, and how long it may be. */
const firstMs = 10_000;
const firstBytes = 20_000;

/**
 * Takes a connection before TLS begins: while a challenge waits, those of the authority get its certificate and all others
 * go to the server. The certificate has to be chosen before OpenSSL tells which protocol was asked for.
 * @param accept hands the connection to the server
 * @param patienceMs how long the first message of a connection may take, however slowly it comes
 */
export function besideChallenges(
  challenges: Challenges,
  accept: (socket: Socket) => void,
  patienceMs = firstMs,
): (socket: Socket) => void {
  const answering = createTls({
    ALPNProtocols: ["acme-tls/1"],
    SNICallback(name, callback) {
      const pair = challenges.alpn.get(name.toLowerCase());
      if (pair) callback(null, createSecureContext({ cert: pair.certPem, key: pair.keyPem }));
      else callback(new Error("no challenge waits under this name"));
    },
  });
  // RFC 8737 §3: nothing is said on it but the handshake.
  answering.on("secureConnection", (socket) => socket.end());
  answering.on("tlsClientError", (_error, socket) => socket.destroy());
  return (socket) => {
    if (challenges.alpn.size === 0) return accept(socket);
    const parts: Buffer[] = [];
    const leave = () => {
      socket.off("readable", look);
      socket.off("end", drop);
      socket.off("error", drop);
      socket.off("close", leave);
      clearTimeout(timer);
    };
    const drop = () => {
      leave();
      socket.destroy();
    };
    const look = () => {
      for (let part: Buffer | null = socket.read(); part !== null; part = socket.read()) parts.push(part);
      const first = Buffer.concat(parts);
      const asked = first[0] === handshake && first.includes(offer);
      if (!asked && !isWhole(first)) return;
      leave();
      socket.unshift(first);
      if (asked) answering.emit("connection", socket);
      else accept(socket);
    };
    socket.on("readable", look);
    socket.once("end", drop);
    socket.once("error", drop);
    socket.once("close", leave);
    const timer = setTimeout(drop, patienceMs);
  };
}

/** Whether the first record is there, or no TLS is spoken at all. */
function isWhole(first: Buffer): boolean {
  if (first.length === 0) return false;
  if (first[0] !== handshake || first.length >= firstBytes) return true;
  return first.length >= recordHead && first.length >= recordHead + first.readUInt16BE(3);
}

/**
 * Plain HTTP: the answers of http-01 (RFC 8555 §8.3), and everybody else is sent to the pages. What is wrong with a request is
 * told as it is there.
 * @param baseUrl where those are; the Host header of a request is never repeated
 */
export function plainAnswers(challenges: Challenges, baseUrl: string) {
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    try {
      requireUnderstood(request);
      const path = request.url ?? "/";
      const challenge = path.startsWith(wellKnown) ? challenges.http.get(path.slice(wellKnown.length)) : undefined;
      const elsewhere = path.startsWith(wellKnown) || !path.startsWith("/");
      if (challenge === undefined && elsewhere) throw new AppError("not-found");
      response.setHeader("x-request-id", newId("req"));
      if (challenge !== undefined)
        response.writeHead(200, { "content-type": "application/octet-stream" }).end(challenge);
      else response.writeHead(308, { location: new URL(baseUrl).origin + path }).end();
    } catch (error) {
      // Nobody above catches what is thrown here: it would end the process.
      const told = error instanceof AppError ? error : new AppError("internal-error");
      if (told !== error) console.error(error);
      answerProblem(told, request, response, baseUrl);
    }
  };
  const server = createHttp({ requestTimeout: firstMs, headersTimeout: firstMs, requireHostHeader: false }, answer);
  answerRefused(server, answer, () => baseUrl);
  // Who asks and takes no answer.
  server.timeout = firstMs;
  return server;
}
