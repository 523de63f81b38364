import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { connect as connectTls } from "node:tls";
import { expect, onTestFinished, test, vi } from "vitest";
import { loadConfig } from "../../../server/config.ts";
import { type AcmeState, getAcme, renewAcme, setUpAcme } from "../../../server/features/tls/acme/contract.ts";
import { getTls } from "../../../server/features/tls/contract.ts";
import { administrator } from "../../harness/admin.ts";
import { CrashingAppliance } from "../../harness/crashing-appliance.ts";
import { freePort, makePebble } from "../../harness/pebble.ts";

/** Killed whenever the authority knows something that we were not told yet. */

const host = "sign.example.com";

/** An authority, and an appliance that is killed right after it did what is next in `left`, before the appliance hears of it. */
async function killable(left: string[], { lists = true } = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-acme-"));
  const pebble = await makePebble();
  const tlsPort = await freePort();
  const env = {
    SIGNET_HOST: "0.0.0.0",
    SIGNET_BASE_URL: `https://${host}`,
    SIGNET_OUTBOUND_ALLOW: `acme=127.0.0.1:${pebble.port},acme=[::1]:${pebble.port}`,
  };
  const app = new CrashingAppliance(folder, tlsPort, env);
  const admin = administrator({ config: loadConfig({ SIGNET_DATA_DIR: folder }) });
  const made = { accounts: new Set<string>(), orders: new Set<string>() };
  pebble.fault = async ({ path: at, method }, forward) => {
    const reply = await forward();
    if (at === "/sign-me-up") made.accounts.add(reply.headers.location ?? "");
    if (at === "/order-plz" && reply.status === 201) made.orders.add(reply.headers.location ?? "");
    const next = left[0];
    if (method === "POST" && next !== undefined && at.startsWith(next) && reply.status < 400) {
      left.shift();
      void app.kill();
      return "hang up";
    }
    if (lists || !(at === "/sign-me-up" || at.startsWith("/my-account/"))) return reply;
    // The account says of no place where its orders are listed, as with most public authorities.
    return { ...reply, body: JSON.stringify({ ...JSON.parse(reply.body), orders: undefined }) };
  };
  onTestFinished(async () => {
    await app.stop();
    await pebble.close();
    await rm(folder, { recursive: true, force: true });
  });
  await pebble.start({ tlsPort });
  await app.start();
  const { directory, rootPem } = pebble;
  await admin.call(setUpAcme, { body: { directory, rootPem, agreeToTerms: true } });
  const until = (state: AcmeState["state"]) =>
    vi.waitFor(
      async () => {
        const found = await admin.call(getAcme, {});
        expect(found.state).toBe(state);
        return found;
      },
      { timeout: 280_000, interval: 200 },
    );
  return { app, pebble, admin, tlsPort, made, until };
}

test("killed at each step, it ends with one account, one order and the certificate, and serves a whole one all the time", async () => {
  const left = ["/sign-me-up", "/order-plz", "/finalize-order/", "/certZ/"];
  const { app, pebble, admin, tlsPort, made, until } = await killable(left);
  const done = await until("valid");
  expect(left).toEqual([]);
  expect(app.kills).toBe(4);
  expect(made.accounts.size).toBe(1);
  // Also the one of which we never heard was found again, in the list that the authority keeps.
  expect(made.orders.size).toBe(1);
  const { current, previous } = await admin.call(getTls, {});
  expect(current).toMatchObject({ source: "acme", sha256: done.certificate });
  expect(previous?.source).toBe("self-signed");
  const ca = await pebble.issuingRoot();
  await new Promise<void>((resolve, reject) => {
    const socket = connectTls({ host: "127.0.0.1", port: tlsPort, servername: host, ca }, () => {
      socket.destroy();
      resolve();
    });
    socket.once("error", reject);
  });
}, 300_000);

test("where no list is kept an order of which nobody heard is repeated once, then seldom, and at once for who asks", async () => {
  const left = ["/order-plz", "/order-plz"];
  const { app, admin, made, until } = await killable(left, { lists: false });
  const { nextAt } = await until("waiting");
  expect([left.length, app.kills, made.orders.size]).toEqual([0, 2, 2]);
  const wait = Date.parse(nextAt ?? "") - Date.now();
  expect(wait).toBeGreaterThan(5 * 60_000);
  expect(wait).toBeLessThanOrEqual(15 * 60_000);
  await admin.call(renewAcme, {});
  await until("valid");
  expect(made.orders.size).toBe(3);
}, 300_000);
