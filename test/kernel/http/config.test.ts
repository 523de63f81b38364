import { chmod, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startAppliance } from "../../../server/compose.ts";
import { ConfigError, loadConfig, withPort } from "../../../server/config.ts";
import { createLog } from "../../../server/kernel/log.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-config-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const load = (env: Record<string, string> = {}) => loadConfig({ SIGNET_DATA_DIR: folder, ...env });
const refusal = (env: Record<string, string>): string => {
  try {
    load(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return "";
};
const settingsFile = (text: string) => writeFile(path.join(folder, "signet.json"), text);

describe("settings", () => {
  it("need none of them", () => {
    expect(load()).toMatchObject({
      host: "127.0.0.1",
      port: 8480,
      baseUrl: "http://127.0.0.1:8480",
      appUrl: "http://127.0.0.1:8480",
      baseUrlConfigured: false,
      masterKeyFile: path.join(folder, "master.key"),
      tsaUrls: [],
      airGap: false,
      checkResponses: false,
    });
  });

  it("that nobody knows or that mean nothing here stop the start, in one line that names them", () => {
    const bad: [string, string][] = [
      ["SIGNET_PROT", "1"],
      ["SIGNET_STRIPE_KEY", "x"],
      ["SIGNET_SOFFICE", "/opt/office/soffice"],
      ["SIGNET_PORT", "80a"],
      ["SIGNET_PORT", "65536"],
      ["SIGNET_PORT", "-1"],
      ["SIGNET_BASE_URL", "sign.example.com"],
      ["SIGNET_BASE_URL", "ftp://sign.example.com"],
      ["SIGNET_BASE_URL", "https://user:pw@sign.example.com"],
      ["SIGNET_BASE_URL", "https://sign.example.com/?a=1"],
      ["SIGNET_SMTP_URL", "mail.example.com:25"],
      ["SIGNET_AIR_GAP", "perhaps"],
      ["SIGNET_PLAN", "gold"],
      ["SIGNET_LOG_LEVEL", "loud"],
      ["SIGNET_METRICS_TOKEN", "short"],
      ["SIGNET_ANCHOR_INTERVAL_SECONDS", "0"],
      ["SIGNET_WORKERS", "0"],
      ["SIGNET_TLS_CERT", "cert.pem"],
      ["SIGNET_TRUSTED_PROXIES", "proxy.example.com"],
      ["SIGNET_TRUSTED_PROXIES", "10.0.0.1,10.0.0.0/33"],
      ["SIGNET_OUTBOUND_ALLOW", "webhooks"],
      ["SIGNET_TSA_URLS", "tsa.example.com"],
    ];
    for (const [name, value] of bad) {
      const message = refusal({ [name]: value });
      expect(message, `${name}=${value}`).toContain(name);
      expect(message.split("\n"), name).toHaveLength(1);
    }
    expect(refusal({ SIGNET_METRICS_TOKEN: "short-secret" })).not.toContain("short-secret");
  });

  it("take URLs of one origin only", () => {
    const base = "https://sign.example.com";
    expect(refusal({ SIGNET_BASE_URL: base, SIGNET_APP_URL: "https://app.example.com" })).toContain("one origin");
    expect(refusal({ SIGNET_BASE_URL: base, SIGNET_APP_URL: `${base}:8443/app` })).toContain("one origin");
    expect(load({ SIGNET_BASE_URL: `${base}/`, SIGNET_APP_URL: `${base}/app/` })).toMatchObject({
      baseUrl: base,
      appUrl: `${base}/app`,
    });
  });

  it("come from signet.json too; the environment wins", async () => {
    await settingsFile(JSON.stringify({ port: 9000, tsaUrls: ["https://tsa.example.com"], airGap: true }));
    expect(load()).toMatchObject({ port: 9000, tsaUrls: ["https://tsa.example.com"], airGap: true });
    expect(load({ SIGNET_PORT: "9001", SIGNET_TSA_URLS: "http://a, http://b," })).toMatchObject({
      port: 9001,
      tsaUrls: ["http://a", "http://b"],
    });
    expect(load({ SIGNET_PORT: "" }).port).toBe(9000);
    for (const text of ["{", "[]", '{"prot":1}', '{"port":"x"}', '{"port":70000}', "3"]) {
      await settingsFile(text);
      expect(refusal({}), text).toMatch(/signet\.json/);
      expect(refusal({}).split("\n")).toHaveLength(1);
    }
  });

  it("follow the port that was free", () => {
    expect(withPort(load({ SIGNET_PORT: "0" }), 4711)).toMatchObject({ port: 4711, baseUrl: "http://127.0.0.1:4711" });
    const fixed = load({ SIGNET_PORT: "0", SIGNET_BASE_URL: "https://sign.example.com" });
    expect(withPort(fixed, 4711).baseUrl).toBe("https://sign.example.com");
  });
});

describe("the data folder", () => {
  it("is refused while its master key is readable by others", async () => {
    const config = load({ SIGNET_PORT: "0" });
    const options = { config, log: createLog("silent") };
    const first = await startAppliance(options);
    await expect(startAppliance(options)).rejects.toThrow();
    await first.stop(0);
    const { mode } = await stat(config.masterKeyFile);
    expect(mode & 0o777).toBe(0o600);
    await chmod(config.masterKeyFile, 0o644);
    await expect(startAppliance(options)).rejects.toThrow(/master\.key/);
    // A failed start lets go of the folder and the port.
    await chmod(config.masterKeyFile, 0o600);
    await (await startAppliance(options)).stop(0);
  });
});
