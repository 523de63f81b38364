// Receives webhooks of Signet with Node alone.
//   WEBHOOK_SECRET=whsec_… node receive.mjs
// In front of it stands whatever ends TLS for you, such as nginx or Caddy.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const key = Buffer.from((process.env.WEBHOOK_SECRET ?? "").replace(/^whsec_/, ""), "base64");
if (key.length === 0) throw new Error("set WEBHOOK_SECRET to the secret of the endpoint");
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

const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const body = Buffer.concat(parts);
  if (!isSigned(request.headers, body)) return response.writeHead(400).end("the signature does not verify");
  response.writeHead(204).end();
  const event = JSON.parse(body);
  if (seen.has(event.id)) return;
  seen.add(event.id);
  console.log(`${event.type} ${event.data.envelope?.id ?? ""} ${event.data.envelope?.status ?? ""}`);
});
server.listen(Number(process.env.PORT ?? 8000), () => console.log(`listening on port ${server.address().port}`));
