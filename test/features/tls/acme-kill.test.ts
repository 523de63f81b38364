import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { connect as connectTls } from "node:tls";
import { expect, test, vi } from "vitest";
import { loadConfig } from "../../../server/config.ts";
import { getAcme, setUpAcme } from "../../../server/features/tls/acme-contract.ts";
import { getTls } from "../../../server/features/tls/contract.ts";
import { CrashingAppliance } from "../../crash/crashing-appliance.ts";
import { administrator } from "../../harness/admin.ts";
import { freePort, makePebble } from "../../harness/pebble.ts";

/** Killed whenever the authority knows something that we were not told yet. */

const host = "sign.example.com";

test("killed at each step, it ends with one account, one order and the certificate, and serves a whole one all the time", async () => {
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
  const left = ["/sign-me-up", "/order-plz", "/finalize-order/", "/certZ/"];
  const made = { accounts: new Set<string>(), orders: new Set<string>() };
  pebble.fault = async ({ path: at, method }, forward) => {
    const reply = await forward();
    if (at === "/sign-me-up") made.accounts.add(reply.headers.location ?? "");
    if (at === "/order-plz") made.orders.add(reply.headers.location ?? "");
    const next = left[0];
    if (method !== "POST" || next === undefined || !at.startsWith(next) || reply.status >= 400) return reply;
    left.shift();
    void app.kill();
    return "hang up";
  };
  try {
    await pebble.start({ tlsPort });
    await app.start();
    const { directory, rootPem } = pebble;
    await admin.call(setUpAcme, { body: { directory, rootPem, agreeToTerms: true } });
    const done = await vi.waitFor(
      async () => {
        const state = await admin.call(getAcme, {});
        expect(state.state).toBe("valid");
        return state;
      },
      { timeout: 280_000, interval: 200 },
    );
    expect(left).toEqual([]);
    expect(app.kills).toBe(4);
    expect(made.accounts.size).toBe(1);
    // The one of which we never heard, and the one that was gone on with.
    expect(made.orders.size).toBe(2);
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
  } finally {
    await app.stop();
    await pebble.close();
    await rm(folder, { recursive: true, force: true });
  }
}, 300_000);
