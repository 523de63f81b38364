import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import forge from "node-forge";

/** A real HTTPS server on this machine that takes webhooks, with a private authority. */

/** `at` is a moment of `performance.now()`, in milliseconds. */
export type Received = { path: string; headers: IncomingHttpHeaders; body: string; at: number };
export type Receiver = {
  /** `https://localhost:PORT/hooks` */
  url: string;
  port: number;
  /** PEM file of the authority that signed its certificate. */
  ca: string;
  /** PEM file of the private key of that certificate, which is its own authority. */
  key: string;
  /** Entry of `SIGNET_OUTBOUND_ALLOW` that lets an appliance call it. */
  allow: string;
  /** Every request that was read to its end, oldest first. */
  received: Received[];
  /** How it answers; 204 unless a test replaces it. */
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void;
  stop(): Promise<void>;
};

let authority: { key: string; cert: string } | undefined;

/** A certificate for `localhost` that is its own authority. */
function selfSigned(): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(publicKey.export({ type: "spki", format: "pem" }).toString());
  certificate.serialNumber = "01";
  certificate.validity.notBefore = new Date(Date.now() - 86_400_000);
  certificate.validity.notAfter = new Date(Date.now() + 86_400_000);
  const name = [{ name: "commonName", value: "localhost" }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  certificate.setExtensions([
    { name: "basicConstraints", cA: true },
    { name: "subjectAltName", altNames: [{ type: 2, value: "localhost" }] },
  ]);
  certificate.sign(forge.pki.privateKeyFromPem(key), forge.md.sha256.create());
  return { key, cert: forge.pki.certificateToPem(certificate) };
}

export async function startReceiver(): Promise<Receiver> {
  authority ??= selfSigned();
  const folder = await mkdtemp(path.join(tmpdir(), "signet-receiver-"));
  const ca = path.join(folder, "ca.pem");
  const key = path.join(folder, "key.pem");
  await Promise.all([writeFile(ca, authority.cert), writeFile(key, authority.key)]);
  const server = createServer(authority, (request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts).toString("utf8");
      receiver.received.push({ path: request.url ?? "", headers: request.headers, body, at: performance.now() });
      receiver.answer(request, response, body);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the receiver has no port");
  const receiver: Receiver = {
    url: `https://localhost:${address.port}/hooks`,
    port: address.port,
    ca,
    key,
    allow: `webhook=127.0.0.1:${address.port}`,
    received: [],
    answer: (_request, response) => {
      response.writeHead(204).end();
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return receiver;
}

/** Settings of an appliance that may call these receivers. */
export const allowing = (...receivers: readonly Receiver[]): Record<string, string> => ({
  SIGNET_CA_FILE: receivers[0]?.ca ?? "",
  SIGNET_OUTBOUND_ALLOW: receivers.map(({ allow }) => allow).join(),
});
