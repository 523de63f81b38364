import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { serviceManagerOf } from "../../server/service-manager.ts";

/** systemd's side of the conversation: prints each datagram in one line. */
const listener = `import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("listening", flush=True)
while True: print(s.recv(4096).decode().strip().replace("\\n", " "), flush=True)`;

test("systemd hears that the service is ready, again and again that it lives, and that it ends", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-notify-"));
  const socket = path.join(folder, "notify");
  const python = spawn("python3", ["-c", listener, socket], { stdio: ["ignore", "pipe", "inherit"] });
  const heard = createInterface(python.stdout)[Symbol.asyncIterator]();
  const next = async (word: string) => {
    for (let line = await heard.next(); !line.done; line = await heard.next())
      if (line.value.includes(word)) return line.value;
    throw new Error(`${word} was not heard`);
  };
  try {
    await next("listening");
    const env = { PATH: process.env.PATH, NOTIFY_SOCKET: socket, WATCHDOG_USEC: "60000" };
    const manager = serviceManagerOf({ ...env, WATCHDOG_PID: String(process.pid) });
    await manager?.ready();
    await next("READY=1");
    await next("WATCHDOG=1");
    await next("WATCHDOG=1");
    await manager?.stopping();
    await next("STOPPING=1");
  } finally {
    python.kill();
    await rm(folder, { recursive: true, force: true });
  }
  expect(serviceManagerOf({})).toBeNull();
});
