/**
 * An authority that speaks ACME: Debian's Pebble, which shares no code with us, behind a front of ours that can be made to
 * misbehave. It finds every name on 127.0.0.1 and looks for challenges at the ports of an appliance.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createSocket, type Socket as DnsSocket } from "node:dgram";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Agent, createServer, request } from "node:https";
import { type AddressInfo, createServer as createTcp } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";

export type Reply = { status: number; headers: Record<string, string>; body: string };
export type Seen = {
  method: string;
  path: string /** What the request says, its signature left aside. */;
  payload: unknown;
};
/** Answers instead of the authority, or changes its answer. */
export type Fault = (
  seen: Seen,
  forward: () => Promise<Reply>,
) => Promise<Reply | "hang up" | undefined> | Reply | "hang up" | undefined;

export type Pebble = {
  /** Known before Pebble runs, so that an appliance may be allowed to call it. */
  port: number;
  directory: string;
  /** PEM of what signed the certificate of the directory. */
  rootPem: string;
  /** What was asked since the start. */
  seen: Seen[];
  /** At the next requests. */
  fault: Fault | null;
  /** Begins to issue. */
  start(options: {
    tlsPort: number;
    httpPort?: number | null;
    nonceReject?: number;
    eab?: Record<string, string>;
    /** Of certificates, in seconds. */
    lifetime?: number;
  }): Promise<void>;
  /** Ends the authority; its front hangs up. */
  stop(): Promise<void>;
  /** PEM of what issues certificates. */
  issuingRoot(): Promise<string>;
  close(): Promise<void>;
};

export async function makePebble(): Promise<Pebble> {
  const folder = mkdtempSync(path.join(tmpdir(), "signet-pebble-"));
  const file = (name: string) => path.join(folder, name);
  makeServerCertificate(folder);
  const [cert, key, rootPem] = ["leaf.pem", "leaf.key", "root.pem"].map((name) => readFileSync(file(name), "utf8"));
  if (cert === undefined || key === undefined || rootPem === undefined) throw new Error("no certificate");
  const dns = await openDns();
  let child: ChildProcess | undefined;
  let behind = { api: 0, management: 0 };
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });

  const forwardTo = (port: number, incoming: Pick<IncomingMessage, "method" | "url" | "headers">, body: Buffer) =>
    new Promise<Reply>((resolve, reject) => {
      const about = { agent, port, host: "127.0.0.1", method: incoming.method, path: incoming.url };
      const out = request({ ...about, headers: incoming.headers }, (answer) => {
        const parts: Buffer[] = [];
        answer.on("data", (part: Buffer) => parts.push(part));
        answer.once("error", reject);
        answer.once("end", () => {
          const headers: Record<string, string> = {};
          for (const [name, value] of Object.entries(answer.headers))
            if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
          delete headers["transfer-encoding"];
          delete headers.connection;
          resolve({ status: answer.statusCode ?? 0, headers, body: Buffer.concat(parts).toString("utf8") });
        });
      });
      out.once("error", reject);
      out.end(body);
    });

  const pebble: Pebble = {
    port: 0,
    directory: "",
    rootPem,
    seen: [],
    fault: null,
    async start({ tlsPort, httpPort = null, nonceReject = 0, eab = null, lifetime = 400 * 86_400 }) {
      // A free port may be gone before Pebble comes to it.
      for (let tries = 0; ; tries += 1) {
        behind = { api: await freePort(), management: await freePort() };
        const settings = {
          listenAddress: `127.0.0.1:${behind.api}`,
          managementListenAddress: `127.0.0.1:${behind.management}`,
          certificate: file("leaf.pem"),
          privateKey: file("leaf.key"),
          httpPort: httpPort ?? 1,
          tlsPort,
          ocspResponderURL: "",
          certificateValidityPeriod: lifetime,
          externalAccountBindingRequired: eab !== null,
          ...(eab === null ? {} : { externalAccountMACKeys: eab }),
        };
        writeFileSync(file("config.json"), JSON.stringify({ pebble: settings }));
        const args = ["-config", file("config.json"), "-dnsserver", `127.0.0.1:${dns.address().port}`];
        child = spawn("pebble", args, {
          env: {
            ...process.env,
            PEBBLE_VA_NOSLEEP: "1",
            PEBBLE_WFE_NONCEREJECT: String(nonceReject),
            PEBBLE_AUTHZREUSE: "0",
          },
          stdio: ["ignore", "pipe", "pipe"],
        });
        if (await listens(child)) return;
        if (tries > 5) throw new Error("Pebble does not start");
      }
    },
    async stop() {
      const ended = child;
      child = undefined;
      if (!ended || ended.exitCode !== null) return;
      const gone = new Promise((resolve) => ended.once("exit", resolve));
      ended.kill("SIGKILL");
      await gone;
    },
    async issuingRoot() {
      const asked = { method: "GET", url: "/roots/0", headers: { host: `localhost:${behind.management}` } };
      return (await forwardTo(behind.management, asked, Buffer.alloc(0))).body;
    },
    async close() {
      await this.stop();
      agent.destroy();
      front.closeAllConnections();
      await new Promise((resolve) => front.close(resolve));
      await new Promise<void>((resolve) => dns.close(() => resolve()));
      rmSync(folder, { recursive: true, force: true });
    },
  };

  const front = createServer({ cert, key }, (incoming, outgoing) => {
    void answer(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part);
    const body = Buffer.concat(parts);
    const seen = { method: incoming.method ?? "", path: incoming.url ?? "", payload: payloadOf(body) };
    pebble.seen.push(seen);
    const forward = () => forwardTo(behind.api, incoming, body);
    const reply = (await pebble.fault?.(seen, forward)) ?? (await forward());
    if (reply === "hang up") incoming.socket.destroy();
    else {
      const { "content-length": _, ...headers } = reply.headers;
      outgoing.writeHead(reply.status, headers).end(incoming.method === "HEAD" ? undefined : reply.body);
    }
  }
  pebble.port = await new Promise<number>((resolve) => {
    front.listen(0, "127.0.0.1", () => resolve(portOf(front.address())));
  });
  pebble.directory = `https://localhost:${pebble.port}/dir`;
  return pebble;
}

const portOf = (address: AddressInfo | string | null): number =>
  address !== null && typeof address === "object" ? address.port : 0;

function payloadOf(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  const { payload }: { payload: string } = JSON.parse(body.toString("utf8"));
  return payload === "" ? "" : JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
}

/** Whether it came so far; otherwise it has ended. */
function listens(child: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve(false));
    for (const stream of [child.stdout, child.stderr])
      if (stream)
        createInterface({ input: stream }).on("line", (line) => {
          if (line.includes("ACME directory available at")) resolve(true);
        });
  });
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createTcp().listen(0, "127.0.0.1", () => {
      const port = portOf(server.address());
      server.close(() => resolve(port));
    });
  });
}

/** Of localhost, by an authority that nobody knows. */
function makeServerCertificate(folder: string): void {
  const openssl = (line: string) => execFileSync("openssl", line.split(" "), { cwd: folder, stdio: "pipe" });
  const ec = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
  openssl(`req -x509 ${ec} -keyout root.key -out root.pem -subj /CN=Company -days 9000`);
  openssl(`req ${ec} -keyout leaf.key -out leaf.csr -subj /CN=localhost`);
  writeFileSync(path.join(folder, "leaf.ext"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
  openssl("x509 -req -in leaf.csr -CA root.pem -CAkey root.key -out leaf.pem -days 9000 -extfile leaf.ext");
}

/** Answers every question for an address with 127.0.0.1, and every other with nothing (RFC 1035 §4). */
function openDns(): Promise<DnsSocket> {
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    let end = 12;
    while (query[end] !== undefined && query[end] !== 0) end += (query[end] ?? 0) + 1;
    end += 5;
    const isAddress = query.readUInt16BE(end - 4) === 1;
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8580, 2);
    head.writeUInt16BE(isAddress ? 1 : 0, 6);
    head.writeUInt32BE(0, 8);
    const record = isAddress ? Buffer.from("c00c00010001000000050004" + "7f000001", "hex") : Buffer.alloc(0);
    socket.send(Buffer.concat([head, query.subarray(12, end), record]), port, address);
  });
  return new Promise((resolve) => socket.bind(0, "127.0.0.1", () => resolve(socket)));
}
