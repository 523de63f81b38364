import { createServer } from "node:net";
import { expect, test } from "vitest";
import { startAppliance } from "../../harness/appliance.ts";

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("there is no port");
  return address.port;
}

test.each([
  ["https://sign.example.org", "max-age=31536000"],
  ["https://localhost:8443", null],
  ["http://127.0.0.1:8080", null],
])("Strict-Transport-Security with the base URL %s: %s", async (url, expected) => {
  const port = await freePort();
  const app = await startAppliance({ env: { SIGNET_BASE_URL: url, SIGNET_PORT: String(port) } });
  try {
    for (const path of ["/auth/options", "/v1/templates", "/sign-in", "/nothing"]) {
      const { headers } = await fetch(`http://127.0.0.1:${port}${path}`);
      expect(headers.get("strict-transport-security"), path).toBe(expected);
    }
  } finally {
    await app.stop();
  }
});
