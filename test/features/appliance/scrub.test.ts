import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../../server/config.ts";
import { scrubber } from "../../../server/features/appliance/scrub.ts";

test("a secret is found as it is, in JSON and in JSON within JSON, whatever letters it has", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-scrub-"));
  const metricsToken = 'ops:to"ken\\of-this-site';
  const password = '100%"\\sure';
  const scrub = scrubber(
    loadConfig({
      SIGNET_DATA_DIR: folder,
      SIGNET_METRICS_TOKEN: metricsToken,
      SIGNET_SMTP_URL: `smtp://mailer:${encodeURIComponent(password)}@mail.example.com`,
    }),
  );
  for (const secret of [metricsToken, password]) {
    const data = JSON.stringify({ note: `it is ${secret}, here` });
    for (const text of [secret, data, JSON.stringify({ data })]) {
      expect(scrub(text)).toContain("[redacted]");
      expect(scrub(text)).not.toMatch(/to\\*"ken|100%|sure/);
    }
  }
  // What cannot be decoded is a password all the same.
  const raw = scrubber(
    loadConfig({ SIGNET_DATA_DIR: folder, SIGNET_SMTP_URL: "smtp://u:100%zz-sure@mail.example.com" }),
  );
  expect(raw("pass 100%zz-sure")).toBe("pass [redacted]");
  await rm(folder, { recursive: true, force: true });
});
