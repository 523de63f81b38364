// Receives webhooks of Signet with Node alone.
//   WEBHOOK_SECRET=whsec_… node receive.mjs
// Signet calls https only: put nginx, Caddy or the like in front, or name a certificate and its key in TLS_CERT and TLS_KEY.
import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";

const { WEBHOOK_SECRET = "", TLS_CERT, TLS_KEY, PORT = "8000" } = process.env;
const key = Buffer.from(WEBHOOK_SECRET.replace(/^whsec_/, ""), "base64");
if (key.length === 0) throw new Error("set WEBHOOK_SECRET to the secret of the endpoint");
if (!TLS_CERT !== !TLS_KEY) throw new Error("set both TLS_CERT and TLS_KEY, or neither");
/** Ids of events that were handled. Keep them in your database. */
const seen = new Set();

function isSigned(headers, body) {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures = "" } = headers;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false;
  const wanted = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  return signatures.split(" ").some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ""), "base64");
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  });
}

/** What the dashboard's page "Check a signature" asks for. Anybody may have sent it: a terminal must not obey its control characters. */
function report(headers, body) {
  const names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
  const lines = [...names.map((name) => `${name}: ${headers[name] ?? ""}`), body.toString()];
  console.error(`the signature does not verify:\n${lines.join("\n")}`.replace(/[^\P{Cc}\t\r\n]|\r(?!\n)/gu, "\ufffd"));
}

async function receive(request, response) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > 16_000_000) return response.writeHead(413).end();
    parts.push(part);
  }
  const body = Buffer.concat(parts);
  if (!isSigned(request.headers, body)) {
    report(request.headers, body);
    return response.writeHead(400).end("the signature does not verify");
  }
  response.writeHead(204).end();
  const event = JSON.parse(body);
  if (seen.has(event.id)) return;
  seen.add(event.id);
  console.log(`${event.type} ${event.data.envelope?.id ?? ""} ${event.data.envelope?.status ?? ""}`);
}

// A client that disconnects mid-request must not stop the server.
const listener = (request, response) => receive(request, response).catch(() => response.destroy());
const server = TLS_CERT
  ? createTlsServer({ cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) }, listener)
  : createServer(listener);
server.listen(Number(PORT), () => console.log(`listening on port ${server.address().port}`));
