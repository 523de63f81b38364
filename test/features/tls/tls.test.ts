import { execFile, execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { connect, constants } from "node:http2";
import { request } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { connect as connectTls } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { runCli } from "../../../server/cli.ts";
import { type Config, loadConfig } from "../../../server/config.ts";
import { listOperatorAudit } from "../../../server/features/operators/contract.ts";
import {
  getOwnAuthority,
  getTls,
  installCertificate,
  renewOwnCertificate,
  requestCertificate,
  rollBackCertificate,
} from "../../../server/features/tls/contract.ts";
import { openTls } from "../../../server/features/tls/keeper.ts";
import { LocalProblem } from "../../../server/local-client.ts";
import { administrator } from "../../harness/admin.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";

const host = "sign.example.com";

/** Certificates by OpenSSL, which shares no code with us. */
class Authority {
  readonly folder: string;
  constructor(folder: string) {
    this.folder = folder;
    this.openssl("req -x509 -newkey rsa:2048 -nodes -keyout root.key -out root.pem -subj /CN=Root -days 30");
    this.openssl("req -newkey rsa:2048 -nodes -keyout mid.key -out mid.csr -subj /CN=Between");
    this.extensions("mid.ext", "basicConstraints=critical,CA:TRUE");
    this.openssl("x509 -req -in mid.csr -CA root.pem -CAkey root.key -out mid.pem -days 20 -extfile mid.ext");
  }
  openssl(line: string): string {
    return execFileSync("openssl", line.split(" "), { cwd: this.folder, stdio: ["ignore", "pipe", "pipe"] }).toString();
  }
  extensions(name: string, text: string): void {
    execFileSync("tee", [name], { cwd: this.folder, input: `${text}\n`, stdio: ["pipe", "ignore", "ignore"] });
  }
  read = (name: string): string => readFileSync(path.join(this.folder, name), "utf8");
  /** Issued by the intermediate; the chain is leaf and intermediate. */
  issue(name: string, options: { names?: string; days?: number; newkey?: string; usage?: string; csr?: string } = {}) {
    const { names = `DNS:${host}`, days = 90, newkey = "rsa:2048", usage = "serverAuth", csr } = options;
    if (csr) this.extensions(`${name}.csr`, csr);
    else this.openssl(`req -newkey ${newkey} -nodes -keyout ${name}.key -out ${name}.csr -subj /CN=${name}`);
    this.extensions(`${name}.ext`, `subjectAltName=${names}\nextendedKeyUsage=${usage}`);
    const dates =
      days > 0 ? ["-days", String(days)] : ["-not_before", "20200101000000Z", "-not_after", "20210101000000Z"];
    if (days > 0)
      this.openssl(
        `x509 -req -in ${name}.csr -CA mid.pem -CAkey mid.key -out ${name}.pem ${dates.join(" ")} -extfile ${name}.ext`,
      );
    else this.expired(name);
    return { certificatePem: this.read(`${name}.pem`) + this.read("mid.pem"), key: () => this.read(`${name}.key`) };
  }
  private expired(name: string): void {
    execFileSync("tee", ["index.txt"], { cwd: this.folder, input: "", stdio: ["pipe", "ignore", "ignore"] });
    this.extensions(
      "ca.cnf",
      "[ca]\ndefault_ca=c\n[c]\ndatabase=index.txt\nrand_serial=yes\nnew_certs_dir=.\npolicy=p\ndefault_md=sha256\n[p]\ncommonName=supplied",
    );
    this.openssl(
      `ca -batch -config ca.cnf -cert mid.pem -keyfile mid.key -in ${name}.csr -out ${name}.pem -startdate 20200101000000Z -enddate 20210101000000Z -notext -extfile ${name}.ext`,
    );
  }
}

let folder: string;
let authority: Authority;
let app: TestAppliance;
let admin: ReturnType<typeof administrator>;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-tls-"));
  authority = new Authority(folder);
  app = await startAppliance({ env: { SIGNET_HOST: "0.0.0.0", SIGNET_BASE_URL: `https://${host}` } });
  admin = administrator(app);
});
afterAll(async () => {
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

const port = () => app.deps.config.port;

/** The certificate that a new connection is shown. */
function shown(): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: "127.0.0.1", port: port(), servername: host, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()?.fingerprint256.replaceAll(":", "").toLowerCase() ?? "");
      socket.destroy();
    });
    socket.once("error", reject);
  });
}

/** What OpenSSL says of a connection. Not synchronous: the server is in this process. */
function sClient(...args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const line = ["s_client", "-connect", `127.0.0.1:${port()}`, ...args];
    const child = execFile("openssl", line, { cwd: folder }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
    child.stdin?.end();
  });
}

function healthOverHttp1(ca: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: "127.0.0.1", port: port(), path: "/healthz", servername: host, ca, agent: false },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      },
    );
    asked.once("error", reject);
    asked.end();
  });
}

/** Calls over one HTTP/2 connection. */
async function overHttp2<T>(use: (get: (target: string, init?: Http2Call) => Promise<Http2Answer>) => Promise<T>) {
  const session = connect(`https://127.0.0.1:${port()}`, { servername: host, rejectUnauthorized: false });
  try {
    return await use((target, init) => callHttp2(session, target, init));
  } finally {
    session.close();
  }
}
type Http2Call = { method?: string; body?: string; headers?: Record<string, string> };
type Http2Answer = { status: number; headers: Record<string, unknown>; body: string };
function callHttp2(session: ReturnType<typeof connect>, target: string, init: Http2Call = {}): Promise<Http2Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      [constants.HTTP2_HEADER_PATH]: target,
      [constants.HTTP2_HEADER_METHOD]: init.method ?? "GET",
      authorization: `Bearer ${app.keys.live}`,
      ...init.headers,
    });
    let body = "";
    let headers: Record<string, unknown> = {};
    stream.on("response", (given) => (headers = given));
    stream.setEncoding("utf8").on("data", (text: string) => (body += text));
    stream.once("error", reject);
    stream.once("end", () => resolve({ status: Number(headers[":status"]), headers, body }));
    stream.end(init.body);
  });
}

describe("the certificate of the first start", () => {
  test("is issued by an authority of its own that clients can trust, names the host, and serves both protocols", async () => {
    const own = await admin.call(getOwnAuthority, {});
    expect(await healthOverHttp1(own.certificatePem)).toBe(200);
    const { current } = await admin.call(getTls, {});
    expect(current).toMatchObject({
      source: "self-signed",
      names: expect.arrayContaining([host, "localhost"]),
      warnings: [],
    });
    expect(current?.sha256).toBe(await shown());
    await writeFile(path.join(folder, "own.pem"), own.certificatePem);
    const text = await sClient(
      "-servername",
      host,
      "-CAfile",
      "own.pem",
      "-verify_return_error",
      "-verify_hostname",
      host,
      "-alpn",
      "h2",
    );
    expect(text).toContain("Verify return code: 0 (ok)");
    expect(text).toContain("ALPN protocol: h2");
  });

  test("TLS 1.1 is refused", async () => {
    await expect(sClient("-tls1_1", "-cipher", "ALL:@SECLEVEL=0")).rejects.toThrow();
  });
});

test("HTTP/2 carries reads, uploads, problems, streams and many calls at a time", async () => {
  await overHttp2(async (call) => {
    const body = JSON.stringify({ mode: "overlay", name: "Over HTTP/2" });
    const headers = { "content-type": "application/json" };
    // A body of a length that nobody announced, and one of none.
    const made = await call("/v1/templates", { method: "POST", headers, body });
    expect([made.status, JSON.parse(made.body)]).toMatchObject([201, { name: "Over HTTP/2" }]);
    const { id } = z.object({ id: z.string() }).parse(JSON.parse(made.body));
    expect((await call(`/v1/templates/${id}`, { method: "DELETE" })).status).toBe(204);
    const missing = await call("/v1/envelopes/env_000000000000000000000009");
    expect(missing.status).toBe(404);
    expect(missing.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
    expect(JSON.parse(missing.body)).toMatchObject({ code: "not-found" });
    const many = await Promise.all(Array.from({ length: 60 }, () => call("/v1/envelopes")));
    expect(new Set(many.map(({ status }) => status))).toEqual(new Set([200]));
    const page = await call("/sign-in", { headers: { accept: "text/html", "accept-encoding": "br" } });
    expect(page.status).toBe(200);
    const tooLarge = await call("/v1/templates", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "x".repeat(8_000_000),
    });
    expect(tooLarge.status).toBe(413);
    expect((await call("/healthz")).status).toBe(200);
  });
});

describe("a certificate that somebody issued", () => {
  test("by request: the key never leaves, the new one is shown at once, the old connection stays, the way back works", async () => {
    const before = await shown();
    const { request: asked } = await admin.call(requestCertificate, {
      body: { names: [host, "10.0.0.7"], organization: "Müller & Söhne" },
    });
    expect(
      execFileSync("openssl", ["req", "-noout", "-text", "-verify"], {
        input: asked?.csrPem,
        stdio: ["pipe", "pipe", "ignore"],
      }).toString(),
    ).toMatch(/DNS:sign\.example\.com, IP Address:10\.0\.0\.7/);
    expect(asked?.csrPem).not.toContain("PRIVATE");
    const { certificatePem } = authority.issue("leaf", { csr: asked?.csrPem ?? "", names: `DNS:${host},IP:10.0.0.7` });
    const session = connect(`https://127.0.0.1:${port()}`, { servername: host, rejectUnauthorized: false });
    await callHttp2(session, "/healthz");
    // In any order, with the root in the middle.
    const [leaf = "", mid = ""] = certificatePem.split(/(?<=-----END CERTIFICATE-----\n)/);
    const after = await admin.call(installCertificate, {
      body: { certificatePem: mid + authority.read("root.pem") + leaf },
    });
    expect(after.current).toMatchObject({ source: "installed", chainLength: 3, warnings: [] });
    expect(after.request).toBeNull();
    expect(await shown()).toBe(after.current?.sha256);
    expect((await callHttp2(session, "/healthz")).status).toBe(200);
    session.close();
    expect(await healthOverHttp1(authority.read("root.pem"))).toBe(200);

    const back = await admin.call(rollBackCertificate, {});
    expect(await shown()).toBe(before);
    expect(back.previous?.sha256).toBe(after.current?.sha256);
    await admin.call(rollBackCertificate, {});
    expect(await shown()).toBe(after.current?.sha256);
    const { data } = await admin.call(listOperatorAudit, {});
    expect(data.map(({ action }) => action)).toEqual([
      "tls.rolled_back",
      "tls.rolled_back",
      "tls.installed",
      "tls.requested",
    ]);
    expect(data[0]?.actor).toMatchObject({ type: "operator", name: "ada" });
  });

  test("is still served after a restart; a kill between writing and switching leaves the old one", async () => {
    const { current } = await admin.call(getTls, {});
    await app.restart();
    expect(await shown()).toBe(current?.sha256);
    const keyFile = path.join(app.folder, "tls", `installed-${current?.sha256.slice(0, 16)}`, "key.pem");
    expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
  });

  test("as PKCS#12, of RSA and of P-256", async () => {
    for (const [name, newkey] of [
      ["pfx-rsa", "rsa:2048"],
      ["pfx-ec", "ec:prime256v1.param"],
    ] as const) {
      if (newkey.startsWith("ec")) authority.openssl("ecparam -name prime256v1 -out prime256v1.param");
      authority.issue(name, { newkey: newkey.startsWith("ec") ? "ec:prime256v1.param" : newkey });
      authority.openssl(
        `pkcs12 -export -in ${name}.pem -inkey ${name}.key -certfile mid.pem -out ${name}.p12 -passout pass:secret`,
      );
      const pfxBase64 = readFileSync(path.join(folder, `${name}.p12`)).toString("base64");
      const state = await admin.call(installCertificate, { body: { pfxBase64, passphrase: "secret" } });
      expect(state.current?.sha256).toBe(await shown());
      expect(state.current?.chainLength).toBe(2);
      await expect(admin.call(installCertificate, { body: { pfxBase64, passphrase: "wrong" } })).rejects.toThrow(
        LocalProblem,
      );
    }
  });

  const refusals: [string, () => { certificatePem: string; keyPem?: string }, RegExp][] = [
    ["another key", () => ({ ...authority.issue("a"), keyPem: authority.issue("b").key() }), /belongs to none/],
    ["no key and no request", () => authority.issue("c"), /belongs to no request/],
    [
      "one that has ended",
      () => ({ ...authority.issue("d", { days: 0 }), keyPem: authority.read("d.key") }),
      /ended on 2021-01-01/,
    ],
    [
      "one for clients",
      () => ({ ...authority.issue("e", { usage: "clientAuth" }), keyPem: authority.read("e.key") }),
      /not one for servers/,
    ],
    [
      "an authority's",
      () => ({ certificatePem: authority.read("root.pem"), keyPem: authority.read("root.key") }),
      /of an authority/,
    ],
    [
      "a short key",
      () => ({ ...authority.issue("f", { newkey: "rsa:1024" }), keyPem: authority.read("f.key") }),
      /1024 bits/,
    ],
    ["no certificate at all", () => ({ certificatePem: "hello", keyPem: "x" }), /no certificate in this text/],
    [
      "a damaged key",
      () => ({ ...authority.issue("g"), keyPem: "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----" }),
      /cannot be read/,
    ],
  ];
  test.each(refusals)("%s is refused with what is wrong, and the old one goes on", async (_what, given, message) => {
    const before = await shown();
    const { certificatePem, keyPem } = given();
    const body = { certificatePem, ...(keyPem === undefined ? {} : { keyPem }) };
    await expect(admin.call(installCertificate, { body })).rejects.toThrow(message);
    expect(await shown()).toBe(before);
  });

  test("another name, a missing issuer and a near end are warnings", async () => {
    const issued = authority.issue("other", { names: "DNS:other.example.com", days: 5 });
    const leaf = issued.certificatePem.split(/(?<=-----END CERTIFICATE-----\n)/)[0] ?? "";
    const { current } = await admin.call(installCertificate, { body: { certificatePem: leaf, keyPem: issued.key() } });
    expect(current?.warnings.map(({ message }) => message)).toEqual([
      expect.stringContaining(`does not name ${host}`),
      expect.stringContaining('"Between" is missing'),
      expect.stringMatching(/ends in [45] days/),
    ]);
    const own = await admin.call(renewOwnCertificate, {});
    expect(own.current).toMatchObject({ source: "self-signed", warnings: [] });
  });
});

test("signet tls does the same from the command line", async () => {
  const run = async (...args: string[]) => {
    let out = "";
    const code = await runCli(
      ["tls", ...args],
      { SIGNET_DATA_DIR: app.folder },
      {
        stdout: (text) => (out += text),
        stderr: (text) => (out += text),
        stdin: (async function* () {})(),
        interactive: false,
        onSignal: () => undefined,
      },
    );
    return { code, out };
  };
  const csr = path.join(folder, "cli.csr");
  expect(await run("request", "--name", host, "--out", csr)).toEqual({ code: 0, out: `Written to ${csr}.\n` });
  const { certificatePem } = authority.issue("cli", { csr: readFileSync(csr, "utf8") });
  const file = path.join(folder, "cli-chain.pem");
  await writeFile(file, certificatePem);
  const installed = await run("install", "--certificate", file, "--json");
  expect(installed.code).toBe(0);
  expect(JSON.parse(installed.out)).toMatchObject({ current: { source: "installed", sha256: await shown() } });
  expect((await run("show")).out).toContain("issued by    Between");
  expect((await run("rollback")).code).toBe(0);
  expect((await run("authority")).out).toContain("BEGIN CERTIFICATE");
  expect((await run("install")).code).toBe(2);
  await writeFile(file, "nothing");
  const refused = await run("install", "--certificate", file);
  expect(refused).toMatchObject({ code: 1, out: expect.stringContaining("no certificate in this text") });
});

describe("which certificate is wanted", () => {
  let data: string;
  beforeEach(async () => {
    data = await mkdtemp(path.join(tmpdir(), "signet-tls-"));
  });
  afterEach(() => rm(data, { recursive: true, force: true }));
  const load = (env: Record<string, string> = {}): Config => loadConfig({ SIGNET_DATA_DIR: data, ...env });
  const keeper = async (env: Record<string, string>, now = Date.now) => {
    const tls = await openTls(load(env), now);
    tls.close();
    return tls;
  };

  test("none on loopback or behind a proxy", async () => {
    expect((await keeper({})).current()).toBeNull();
    expect((await keeper({ SIGNET_HOST: "::1" })).current()).toBeNull();
    expect((await keeper({ SIGNET_HOST: "0.0.0.0", SIGNET_TRUSTED_PROXIES: "10.0.0.1" })).current()).toBeNull();
  });

  test("a self-made one is kept, made anew for another address and a month before its end, by the same authority", async () => {
    const at = (name: string, now?: () => number) =>
      keeper({ SIGNET_HOST: "0.0.0.0", SIGNET_BASE_URL: `https://${name}` }, now);
    const first = await at("192.168.1.5");
    const certificate = new X509Certificate(first.current()?.certPem ?? "");
    expect(certificate.checkIP("192.168.1.5")).toBe("192.168.1.5");
    expect((await at("192.168.1.5")).current()).toEqual(first.current());
    const second = await at("sign.example.org");
    expect(new X509Certificate(second.current()?.certPem ?? "").checkHost("sign.example.org")).toBe("sign.example.org");
    const later = await at("sign.example.org", () => Date.now() + 370 * 86_400_000);
    expect(later.current()).not.toEqual(second.current());
    expect(await later.authority()).toEqual(await first.authority());
  });

  test("configured files: named when they cannot be used, looked at again without a restart", async () => {
    const env = { SIGNET_TLS_CERT: path.join(data, "c.pem"), SIGNET_TLS_KEY: path.join(data, "k.pem") };
    await expect(keeper(env)).rejects.toThrow(/^SIGNET_TLS_CERT cannot be read/);
    const [one, two] = [authority.issue("one"), authority.issue("two")];
    await writeFile(env.SIGNET_TLS_CERT, one.certificatePem);
    await writeFile(env.SIGNET_TLS_KEY, two.key());
    await expect(keeper(env)).rejects.toThrow(/cannot be used together/);
    await writeFile(env.SIGNET_TLS_KEY, one.key());
    const tls = await keeper(env);
    const seen: string[] = [];
    tls.onChange(({ certPem }) => seen.push(certPem));
    expect(await tls.reload()).toBe(false);
    await writeFile(env.SIGNET_TLS_CERT, two.certificatePem);
    await expect(tls.reload()).rejects.toThrow(/cannot be used together/);
    expect(tls.current()?.certPem).toBe(one.certificatePem);
    await writeFile(env.SIGNET_TLS_KEY, two.key());
    expect(await tls.reload()).toBe(true);
    expect(seen).toEqual([two.certificatePem]);
  });
});
