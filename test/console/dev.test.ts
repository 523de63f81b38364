import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  });
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports;
}

test("npm run dev: pages from their sources and the server behind one address, ended by one interrupt", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-dev-"));
  const [pages, server] = await freePorts(2);
  const child = spawn(process.execPath, ["scripts/dev.ts", "--port", String(pages)], {
    cwd: root,
    env: { PATH: process.env.PATH, SIGNET_DATA_DIR: folder, SIGNET_PORT: String(server) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const url = `http://127.0.0.1:${pages}`;
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line);
      if (line.includes("is ready")) break;
    }
    expect(lines).toEqual([`pages   Pages with reload at ${url}`, `server  Signet is ready at ${url}`]);
    for (const [address, source] of [
      ["/verify", "/verify/src/main.tsx"],
      ["/docs", "/docs/src/main.tsx"],
      ["/sign/ses_0123456789?x=1", "/sign/src/main.tsx"],
    ]) {
      expect(await (await fetch(url + address)).text()).toContain(`src="${source}"`);
      expect((await fetch(url + source)).headers.get("content-type")).toMatch(/javascript/);
    }
    const refused = await fetch(`${url}/v1/templates`);
    expect([refused.status, refused.headers.get("content-type")]).toEqual([
      401,
      "application/problem+json; charset=utf-8",
    ]);
    // An assistant's address, which has no page.
    expect((await fetch(`${url}/mcp`, { method: "POST" })).status).toBe(401);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([0, null]);
    for (const port of [pages, server]) await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
  } finally {
    child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
});
