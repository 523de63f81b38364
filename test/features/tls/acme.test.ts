import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { connect as connectTls } from "node:tls";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { runCli } from "../../../server/cli.ts";
import { getStatus } from "../../../server/features/appliance/status-contract.ts";
import { getChecks } from "../../../server/features/health/contract.ts";
import { listOperatorAudit } from "../../../server/features/operators/contract.ts";
import { setUpAcme as setUpHere } from "../../../server/features/tls/acme/acts.ts";
import {
  AcmeSetup,
  getAcme,
  renewAcme,
  replaceAcmeKey,
  setUpAcme,
  turnOffAcme,
} from "../../../server/features/tls/acme/contract.ts";
import { newAccountKey } from "../../../server/features/tls/acme/jws.ts";
import { findAcme, readSecrets, updateAcme } from "../../../server/features/tls/acme/store.ts";
import { AcmeReplaced, stepAcme } from "../../../server/features/tls/acme/work.ts";
import {
  getTls,
  reloadCertificate,
  renewOwnCertificate,
  rollBackCertificate,
} from "../../../server/features/tls/contract.ts";
import { openTls } from "../../../server/features/tls/keeper.ts";
import { holdFileLock } from "../../../server/kernel/db.ts";
import { administrator } from "../../harness/admin.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { movableClock } from "../../harness/clock.ts";
import { type Fault, makePebble, type Pebble } from "../../harness/pebble.ts";

/** Certificates by ACME from Debian's Pebble. */

const host = "sign.example.com";
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const eabKey = "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W";
// Pebble goes by the time of the machine.
const clock = movableClock(new Date(Date.now() + 60_000).toISOString());
let pebble: Pebble;
let app: TestAppliance;
let admin: ReturnType<typeof administrator>;
let ports: { tlsPort: number; httpPort: number | null };
beforeAll(async () => {
  pebble = await makePebble();
  const to = (address: string) => `acme=${address}:${pebble.port}`;
  app = await startAppliance({
    clock,
    env: {
      SIGNET_HOST: "0.0.0.0",
      SIGNET_BASE_URL: `https://${host}`,
      SIGNET_HTTP_PORT: "0",
      SIGNET_OUTBOUND_ALLOW: `${to("127.0.0.1")},${to("[::1]")}`,
    },
  });
  admin = administrator(app);
  const { port, httpPort = null } = app.deps.config;
  ports = { tlsPort: port, httpPort };
  // Of 100 nonces, by chance.
  await pebble.start({ ...ports, nonceReject: 40 });
});
afterAll(async () => {
  await app.stop();
  await pebble.close();
});
afterEach(() => {
  pebble.fault = null;
});

/** Everything that is due was done. */
async function settled() {
  app.jobs.wake();
  await app.jobs.idle();
  return await admin.call(getAcme, {});
}

const given = (more: object = {}) => {
  const { directory, rootPem } = pebble;
  return { body: { directory, rootPem, contacts: ["it@example.com"], agreeToTerms: true, ...more } };
};

/** The chain that a new connection is shown, when it is trusted by `ca`. */
function shown(ca: string): Promise<{ sha256: string; protocol: string | false | null }> {
  return new Promise((resolve, reject) => {
    const to = { host: "127.0.0.1", port: ports.tlsPort, servername: host, ca, ALPNProtocols: ["h2"] };
    const socket = connectTls(to, () => {
      const sha256 = socket.getPeerX509Certificate()?.fingerprint256.replaceAll(":", "").toLowerCase() ?? "";
      resolve({ sha256, protocol: socket.alpnProtocol });
      socket.destroy();
    });
    socket.once("error", reject);
  });
}

const paths = (from: number) => pebble.seen.slice(from).map(({ path: at }) => at);
const problem = (type: string, more: object = {}) => ({
  status: 403,
  headers: { "content-type": "application/problem+json" },
  body: JSON.stringify({ type: `urn:ietf:params:acme:error:${type}`, detail: "no", ...more }),
});

test("what the authority demands, and what keeps it from being asked, is said at setup, and nothing begins", async () => {
  const refused = async (more: object, message: RegExp) =>
    await expect(admin.call(setUpAcme, given(more))).rejects.toThrow(message);
  await refused({ agreeToTerms: false }, /terms to be agreed to: data:text\/plain/);
  await refused({ rootPem: undefined }, /not trusted here \(.*--root FILE/);
  const elsewhere = `https://127.0.0.2:${pebble.port}/dir`;
  await refused({ directory: elsewhere }, /SIGNET_OUTBOUND_ALLOW=acme=ADDRESS\/32:/);
  await refused({ directory: `https://localhost:${pebble.port}/nothing` }, /it answered 404/);
  await refused({ names: ["*.example.com"] }, /host name without \*/);
  await refused({ rootPem: "nothing" }, /no certificate/);
  expect(await admin.call(getAcme, {})).toMatchObject({ state: "off", setup: null });
  expect((await admin.call(listOperatorAudit, {})).data).toEqual([]);
});

test("tls-alpn-01 proves a name and an address on the port of the pages, which go on meanwhile", async () => {
  const before = await admin.call(getTls, {});
  let meanwhile: Promise<{ protocol: string | false | null }> | undefined;
  pebble.fault = async ({ path: at }) => {
    if (at.startsWith("/authZ/") && app.deps.config.port) {
      // While a challenge waits every connection is looked at before TLS begins.
      meanwhile ??= shown(readOwnRoot());
      await meanwhile;
    }
    return undefined;
  };
  await admin.call(setUpAcme, given({ names: [host, "127.0.0.1"] }));
  const state = await settled();
  expect(state).toMatchObject({ state: "valid", failures: 0, trouble: null, setup: { names: [host, "127.0.0.1"] } });
  expect(await meanwhile).toMatchObject({ protocol: "h2" });
  const { current, previous } = await admin.call(getTls, {});
  expect(current).toMatchObject({ source: "acme", names: [host, "127.0.0.1"], chainLength: 2, warnings: [] });
  expect(current?.sha256).toBe(state.certificate);
  expect(previous?.sha256).toBe(before.current?.sha256);
  expect(await shown(await pebble.issuingRoot())).toEqual({ sha256: current?.sha256, protocol: "h2" });
  const { data } = await admin.call(listOperatorAudit, {});
  expect(data.map(({ action, actor }) => [action, actor.type])).toEqual([
    ["tls.acme_installed", "system"],
    ["tls.acme_set_up", "operator"],
  ]);
  const life = Date.parse(current?.validUntil ?? "") - Date.parse(current?.validFrom ?? "");
  expect(Date.parse(state.renewal?.at ?? "")).toBeCloseTo(Date.parse(current?.validUntil ?? "") - life / 3, -4);
});

const readOwnRoot = () => {
  const { certPem } = JSON.parse(readFileSync(path.join(app.folder, "tls", "authority.json"), "utf8"));
  return String(certPem);
};

test("the account's key lies under the master key only", async () => {
  const rows = await app.deps.db.read.selectFrom("acme").selectAll().execute();
  expect(JSON.stringify(rows)).not.toContain("PRIVATE");
  expect(rows[0]?.secrets).toMatch(/^A[Q-Za-f]/);
});

test("another certificate that somebody has served is not replaced unasked", async () => {
  await admin.call(rollBackCertificate, {});
  expect(await admin.call(getAcme, {})).toMatchObject({ state: "paused" });
  const asked = pebble.seen.length;
  clock.advance(30 * dayMs);
  expect((await settled()).state).toBe("paused");
  expect(pebble.seen.length).toBe(asked);
  const { data } = await admin.call(getChecks, { query: {} });
  expect(data.find(({ id }) => id === "acme")).toMatchObject({
    state: "warning",
    action: expect.stringContaining("signet tls acme renew"),
  });
});

test("http-01 is answered in plain HTTP, and everybody else there is sent to the pages", async () => {
  const plain = `http://127.0.0.1:${ports.httpPort}`;
  let token = "";
  let answer: Response | undefined;
  pebble.fault = async ({ path: at }, forward) => {
    if (!at.startsWith("/authZ/")) return undefined;
    const reply = await forward();
    const { status, challenges } = JSON.parse(reply.body);
    if (status === "pending") token = challenges.find(({ type }: { type: string }) => type === "http-01").token;
    return reply;
  };
  await admin.call(setUpAcme, given({ challenge: "http-01" }));
  expect(await settled()).toMatchObject({ state: "valid", setup: { challenge: "http-01", names: [host] } });
  expect(token).not.toBe("");
  answer = await fetch(`${plain}/.well-known/acme-challenge/${token}`, { redirect: "manual" });
  expect(answer.status).toBe(404);
  answer = await fetch(`${plain}/sign/abc?x=1`, { redirect: "manual", headers: { host: "evil.example" } });
  expect([answer.status, answer.headers.get("location")]).toEqual([308, `https://${host}/sign/abc?x=1`]);
});

test("a third of its life before the end it is renewed by itself; without the authority it is tried again and said", async () => {
  const { certificate, renewal } = await admin.call(getAcme, {});
  await pebble.stop();
  clock.advance(Date.parse(renewal?.at ?? "") - clock.now() - 1000);
  expect((await settled()).state).toBe("valid");
  clock.advance(1000);
  const down = await settled();
  expect(down).toMatchObject({ state: "failed", failures: 1, certificate, trouble: { type: null } });
  expect(down.trouble?.message).toMatch(/localhost:\d+ does not answer/);
  expect(Date.parse(down.nextAt ?? "") - clock.now()).toBe(60_000);
  clock.advance(60_000);
  const again = await settled();
  expect([again.failures, Date.parse(again.nextAt ?? "") - clock.now()]).toEqual([2, 120_000]);
  const { data } = await admin.call(getChecks, { query: {} });
  expect(data.find(({ id }) => id === "acme")).toMatchObject({ state: "warning" });
  await pebble.start(ports);
  clock.advance(120_000);
  // This authority was made anew and knows the account no more.
  expect(await settled()).toMatchObject({ state: "failed", trouble: { type: "accountDoesNotExist" } });
  clock.advance(hourMs);
  const renewed = await settled();
  expect(renewed).toMatchObject({ state: "valid", failures: 0, trouble: null });
  expect(renewed.certificate).not.toBe(certificate);
  expect(await shown(await pebble.issuingRoot())).toMatchObject({ sha256: renewed.certificate });
  expect((await admin.call(getTls, {})).previous?.sha256).toBe(certificate);
});

test("the authority's suggestion of a time is followed, and the order says what it replaces", async () => {
  const { certificate } = await admin.call(getAcme, {});
  let window = [20, 30];
  let named = "";
  pebble.fault = async ({ path: at }, forward) => {
    if (at.startsWith("/renewal/")) {
      named = at.slice("/renewal/".length);
      const [start, end] = window.map((days) => new Date(clock.now() + days * dayMs).toISOString());
      const body = { suggestedWindow: { start, end }, explanationURL: "https://example.com/why" };
      const headers = { "content-type": "application/json", "retry-after": "7200" };
      return { status: 200, headers, body: JSON.stringify(body) };
    }
    if (at !== "/dir") return undefined;
    const reply = await forward();
    const known = JSON.parse(reply.body);
    return { ...reply, body: JSON.stringify({ ...known, renewalInfo: `https://localhost:${pebble.port}/renewal` }) };
  };
  await admin.call(renewAcme, {});
  const first = await settled();
  expect(first.renewal).toMatchObject({ by: "authority", explanation: "https://example.com/why" });
  const days = (Date.parse(first.renewal?.at ?? "") - clock.now()) / dayMs;
  expect(days).toBeGreaterThanOrEqual(20);
  expect(days).toBeLessThanOrEqual(30);
  expect(Date.parse(first.nextAt ?? "") - clock.now()).toBe(2 * hourMs);
  // It has to be replaced early.
  window = [-2, -1];
  const from = pebble.seen.length;
  clock.advance(2 * hourMs);
  const second = await settled();
  expect(second.certificate).not.toBe(first.certificate);
  expect(first.certificate).not.toBe(certificate);
  const order = pebble.seen.slice(from).find(({ path: at }) => at === "/order-plz");
  const { previous } = await admin.call(getTls, {});
  expect(previous?.sha256).toBe(first.certificate);
  expect(order?.payload).toMatchObject({ replaces: expect.stringMatching(/^[\w-]+\.[\w-]+$/) });
  const old = readFileSync(
    path.join(app.folder, "tls", `acme-${first.certificate?.slice(0, 16)}`, "chain.pem"),
    "utf8",
  );
  const serial = Buffer.from(new X509Certificate(old).serialNumber, "hex");
  expect(String(Object(order?.payload).replaces)).toMatch(/\.(AA|AP|)?.*/);
  expect(
    Buffer.from(String(Object(order?.payload).replaces).split(".")[1] ?? "", "base64url").subarray(-serial.length),
  ).toEqual(serial);
  expect(named).not.toBe("");
});

test("an order that stays pending is left to the authority, and gone on with after its time", async () => {
  let held = true;
  pebble.fault = async ({ path: at }, forward) => {
    const reply = await forward();
    if (!at.startsWith("/my-order/") || !held || !reply.body.includes('"valid"')) return reply;
    const body = JSON.stringify({ ...JSON.parse(reply.body), status: "processing", certificate: undefined });
    return { ...reply, headers: { ...reply.headers, "retry-after": "3600" }, body };
  };
  const { certificate } = await admin.call(getAcme, {});
  await admin.call(renewAcme, {});
  const waiting = await settled();
  expect(waiting).toMatchObject({ state: "waiting", trouble: null, failures: 0, certificate });
  expect(Date.parse(waiting.nextAt ?? "") - clock.now()).toBe(hourMs);
  held = false;
  const from = pebble.seen.length;
  clock.advance(hourMs);
  const done = await settled();
  expect(done.state).toBe("valid");
  expect(done.certificate).not.toBe(certificate);
  expect(paths(from).filter((at) => at === "/order-plz")).toEqual([]);
});

test("what somebody has served while an order waits stays, and the order is given up", async () => {
  let held = true;
  pebble.fault = async ({ path: at }, forward) => {
    const reply = await forward();
    if (!at.startsWith("/my-order/") || !held || !reply.body.includes('"valid"')) return reply;
    const body = JSON.stringify({ ...JSON.parse(reply.body), status: "processing", certificate: undefined });
    return { ...reply, headers: { ...reply.headers, "retry-after": "3600" }, body };
  };
  await admin.call(renewAcme, {});
  expect((await settled()).state).toBe("waiting");
  const own = (await admin.call(renewOwnCertificate, {})).current?.sha256;
  expect(await admin.call(getAcme, {})).toMatchObject({ state: "paused", trouble: null });
  held = false;
  const from = pebble.seen.length;
  clock.advance(2 * hourMs);
  expect((await settled()).state).toBe("paused");
  expect(paths(from)).toEqual([]);
  expect((await admin.call(getTls, {})).current).toMatchObject({ source: "self-signed", sha256: own });
  expect((await admin.call(getStatus, {})).acme).toEqual({
    state: "warning",
    detail: expect.stringContaining("not renewed meanwhile"),
  });
  // Also while the certificate is being fetched.
  pebble.fault = async ({ path: at }, forward) => {
    const reply = await forward();
    if (at.startsWith("/certZ/")) await admin.call(renewOwnCertificate, {});
    return reply;
  };
  await admin.call(renewAcme, {});
  expect((await settled()).state).toBe("paused");
  expect((await admin.call(getTls, {})).current?.source).toBe("self-signed");
  pebble.fault = null;
  await admin.call(renewAcme, {});
  expect((await settled()).state).toBe("valid");
  expect((await admin.call(getStatus, {})).acme).toMatchObject({ state: "ok" });
});

/** The authority suggests a window that is days away; `look` is run whenever it is asked for one. */
const suggesting =
  (look: () => Promise<void>): Fault =>
  async ({ path: at }, forward) => {
    if (at.startsWith("/renewal/")) {
      await look();
      const [start, end] = [20, 30].map((days) => new Date(clock.now() + days * dayMs).toISOString());
      const headers = { "content-type": "application/json", "retry-after": "7200" };
      return { status: 200, headers, body: JSON.stringify({ suggestedWindow: { start, end } }) };
    }
    if (at !== "/dir") return undefined;
    const reply = await forward();
    const known = JSON.parse(reply.body);
    return { ...reply, body: JSON.stringify({ ...known, renewalInfo: `https://localhost:${pebble.port}/renewal` }) };
  };

test("what is asked for while the next renewal is being planned is done at once, and not at the planned time", async () => {
  let asked = false;
  let armed = false;
  pebble.fault = suggesting(async () => {
    if (!armed) return;
    armed = false;
    asked = (await admin.call(renewAcme, {})).state === "working";
  });
  await admin.call(renewAcme, {});
  const { certificate, nextAt } = await settled();
  clock.advance(Date.parse(nextAt ?? "") - clock.now());
  armed = true;
  const after = await settled();
  expect(asked).toBe(true);
  expect(after.state).toBe("valid");
  expect(after.certificate).not.toBe(certificate);
});

/** Runs one step beside the server, with something that happens right before or after a transaction of it. */
async function stepWith(tx: typeof app.deps.db.tx): Promise<void> {
  const { deps } = app;
  const acme = await findAcme(deps.db.read);
  if (!acme) throw new Error("ACME is not set up");
  const tls = await openTls(deps.config, clock.now);
  try {
    await stepAcme({ ...deps, db: { ...deps.db, tx }, tls }, acme, new AbortController().signal);
  } finally {
    tls.close();
  }
}

test("what is asked for while a pause is being prolonged is done at once", async () => {
  await admin.call(renewOwnCertificate, {});
  expect((await settled()).state).toBe("paused");
  const { db } = app.deps;
  let asked = false;
  await stepWith(async (work) => {
    if (!asked) {
      asked = true;
      await db.tx(async (tx) => {
        const acme = await findAcme(tx);
        if (!acme) throw new Error("ACME is not set up");
        await updateAcme(tx, app.deps, acme.id, { progress: { ...acme.progress, requested: true, state: "working" } });
      });
      // The step goes on with it, as far as the authority lets it.
      pebble.fault = ({ path: at }) => (at === "/order-plz" ? problem("rateLimited") : undefined);
    }
    return await db.tx(work);
  });
  expect(asked).toBe(true);
  expect(await admin.call(getAcme, {})).toMatchObject({ state: "failed", trouble: { type: "rateLimited" } });
  pebble.fault = null;
  await admin.call(renewAcme, {});
  expect((await settled()).state).toBe("valid");
});

test("what somebody has served while an order is being opened stays", async () => {
  let own: string | undefined;
  pebble.fault = async ({ path: at }, forward) => {
    const reply = await forward();
    if (at === "/order-plz") own = (await admin.call(renewOwnCertificate, {})).current?.sha256;
    return reply;
  };
  await admin.call(renewAcme, {});
  expect((await settled()).state).toBe("paused");
  expect((await admin.call(getTls, {})).current).toMatchObject({ source: "self-signed", sha256: own });
});

test("what somebody has served while a certificate is being put into its place comes after it", async () => {
  // The names are proven by the server; the step below begins where the certificate is there.
  pebble.fault = async ({ path: at }, forward) => {
    const reply = await forward();
    if (!at.startsWith("/my-order/") || !reply.body.includes('"valid"')) return reply;
    const body = JSON.stringify({ ...JSON.parse(reply.body), status: "processing", certificate: undefined });
    return { ...reply, headers: { ...reply.headers, "retry-after": "3600" }, body };
  };
  await admin.call(renewAcme, {});
  expect((await settled()).state).toBe("waiting");
  pebble.fault = null;
  const lock = path.join(app.folder, "run", "tls-lock.db");
  const { db } = app.deps;
  let chosen: Promise<{ current: { sha256: string } | null }> | undefined;
  await stepWith(async (work) => {
    const result = await db.tx(work);
    const { data } = await admin.call(listOperatorAudit, {});
    if (chosen === undefined && data[0]?.action === "tls.acme_installed") {
      chosen = admin.call(renewOwnCertificate, {});
      const chosenIsWritten = async () => (await admin.call(listOperatorAudit, {})).data[0]?.action;
      await expect.poll(chosenIsWritten, { timeout: 60_000 }).toBe("tls.self_signed");
      // Whoever puts without holding the lock from the look on is overtaken here.
      const release = await holdFileLock(lock);
      await release?.();
      if (release !== null) await chosen;
    }
    return result;
  }).catch((error: unknown) => expect(error).toBeInstanceOf(AcmeReplaced));
  const own = (await chosen)?.current?.sha256;
  await admin.call(reloadCertificate, {});
  expect(own).toBeTruthy();
  expect((await admin.call(getTls, {})).current).toMatchObject({ source: "self-signed", sha256: own });
  await admin.call(renewAcme, {});
  expect((await settled()).state).toBe("valid");
});

test("what the authority refuses is shown with its words, each name's, and what to do, and waits as long as it says", async () => {
  const { certificate } = await admin.call(getAcme, {});
  const subproblems = [{ type: "x", detail: "is on a list", identifier: { type: "dns", value: host } }];
  pebble.fault = ({ path: at }) => {
    if (at !== "/order-plz") return undefined;
    const reply = problem("rateLimited", { detail: "too many\u001b[31m certificates", subproblems });
    return { ...reply, status: 429, headers: { ...reply.headers, "retry-after": "90000" } };
  };
  await admin.call(renewAcme, {});
  const limited = await settled();
  expect(limited).toMatchObject({ state: "failed", certificate, trouble: { type: "rateLimited" } });
  expect(limited.trouble?.message).toBe("The authority says: too many [31m certificates");
  expect(limited.trouble?.details).toEqual([`${host}: is on a list`]);
  expect(Date.parse(limited.nextAt ?? "") - clock.now()).toBe(90_000_000);
  // A wrong answer: of another key.
  pebble.fault = null;
  const { tls } = { tls: app.deps.config.port };
  await pebble.stop();
  await pebble.start({ tlsPort: ports.httpPort ?? 1, httpPort: tls });
  await admin.call(setUpAcme, given());
  const wrong = await settled();
  expect(wrong.state).toBe("failed");
  expect(wrong.trouble?.message).toContain(host);
  expect(wrong.trouble?.action).toMatch(/443/);
  expect((await admin.call(getTls, {})).current?.sha256).toBe(certificate);
  expect(Date.parse(wrong.nextAt ?? "") - clock.now()).toBe(15 * 60_000);
});

/** A key that is about to take the account's place when the same authority is set up again. */
async function keepsKeyOnItsWay(): Promise<void> {
  const { deps } = app;
  const stored = async (tx: Parameters<typeof findAcme>[0]) => {
    const acme = await findAcme(tx);
    if (!acme) throw new Error("ACME is not set up");
    return { ...acme, secrets: await readSecrets(tx, deps, acme.id) };
  };
  const onItsWay = newAccountKey().export({ type: "pkcs8", format: "pem" }).toString();
  const tx: typeof deps.db.tx = async (work) => {
    // Between everything that the setup looked at before, and what it writes.
    await deps.db.tx(async (other) => {
      const { id, progress, secrets } = await stored(other);
      await updateAcme(other, deps, id, { progress, secrets: { ...secrets, nextAccountKey: onItsWay } });
    });
    return await deps.db.tx(async (own) => {
      const result = await work(own);
      expect((await stored(own)).secrets.nextAccountKey).toBe(onItsWay);
      return result;
    });
  };
  const tls = await openTls(deps.config, clock.now);
  try {
    const actor = { type: "operator" as const, id: null, name: "root", email: null };
    const { directory, rootPem } = pebble;
    const asked = AcmeSetup.parse({ directory, rootPem, contacts: ["it@example.com"], agreeToTerms: true });
    await setUpHere({ ...deps, db: { ...deps.db, tx }, tls }, actor, asked);
  } finally {
    tls.close();
  }
  // The authority never heard of that key: the one that it knows goes on.
  expect(await settled()).toMatchObject({ state: "valid", trouble: null });
}

test("an authority that knows its customers: from the command line, with the key on standard input", async () => {
  await pebble.stop();
  await pebble.start({ ...ports, eab: { "kid-1": eabKey } });
  const run = async (args: string[], stdin = "") => {
    let out = "";
    const code = await runCli(
      ["tls", "acme", ...args],
      { SIGNET_DATA_DIR: app.folder },
      {
        stdout: (text) => (out += text),
        stderr: (text) => (out += text),
        stdin: (async function* () {
          yield stdin;
        })(),
        interactive: false,
        onSignal: () => undefined,
      },
    );
    return { code, out };
  };
  await admin.call(turnOffAcme, { body: {} });
  const root = path.join(app.folder, "company.pem");
  await writeFile(root, pebble.rootPem);
  const setup = [
    "setup",
    "--directory",
    pebble.directory,
    "--root",
    root,
    "--contact",
    "it@example.com",
    "--agree-terms",
  ];
  expect(await run(setup)).toMatchObject({ code: 1, out: expect.stringContaining("binds new accounts") });
  expect(await run([...setup, "--eab-kid", "kid-1"])).toMatchObject({ code: 2 });
  const eab = ["--eab-kid", "kid-1", "--eab-key-file", "-"];
  const wrong = await run([...setup, ...eab], "AAAA\n");
  expect(wrong).toMatchObject({ code: 1, out: expect.stringContaining("FAILED") });
  const done = await run([...setup, ...eab, "--json"], `${eabKey}\n`);
  expect(JSON.parse(done.out)).toMatchObject({ state: "valid", setup: { eabKid: "kid-1" } });
  expect(done.code).toBe(0);
  expect((await run(["status"])).out).toMatch(/ACME +issued, and renewed by itself/);

  const before = await app.deps.db.read.selectFrom("acme").select("secrets").executeTakeFirstOrThrow();
  const rolled = await admin.call(replaceAcmeKey, {});
  expect(rolled.setup?.account).not.toBeNull();
  const after = await app.deps.db.read.selectFrom("acme").select("secrets").executeTakeFirstOrThrow();
  expect(after.secrets).not.toBe(before.secrets);
  await keepsKeyOnItsWay();
  const { certificate } = await admin.call(getAcme, {});
  const renewed = await run(["renew", "--json"]);
  expect(JSON.parse(renewed.out)).toMatchObject({ state: "valid" });
  expect(JSON.parse(renewed.out).certificate).not.toBe(certificate);
  const off = await run(["off", "--deactivate"]);
  expect(off).toMatchObject({ code: 0, out: expect.stringContaining("not set up") });
  expect(pebble.seen.at(-1)?.payload).toEqual({ status: "deactivated" });
  expect((await admin.call(getTls, {})).current?.source).toBe("acme");
  expect((await run(["renew"])).out).toContain("ACME is not set up");
});
