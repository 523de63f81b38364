import { execFileSync } from "node:child_process";
import { mkdtemp, open, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../../server/config.ts";
import { openTls } from "../../../server/features/tls/keeper.ts";

/** Somebody else renews the files while the server reads them. */

test("of two looks at the files the later one counts, however slow the earlier one is", {
  timeout: 60_000,
}, async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-keeper-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const inside = (name: string) => path.join(folder, name);
  const run = (program: string, line: string) => execFileSync(program, line.split(" "), { cwd: folder, stdio: "pipe" });
  run("openssl", "ecparam -genkey -name prime256v1 -noout -out key.pem");
  for (const name of ["first", "second", "third"])
    run("openssl", `req -x509 -new -key key.pem -out ${name}.pem -subj /CN=${name} -days 9`);
  const [second, third] = [await readFile(inside("second.pem"), "utf8"), await readFile(inside("third.pem"), "utf8")];
  const config = loadConfig({
    SIGNET_DATA_DIR: inside("data"),
    SIGNET_TLS_CERT: inside("first.pem"),
    SIGNET_TLS_KEY: inside("key.pem"),
  });
  const tls = await openTls(config, Date.now);
  onTestFinished(() => tls.close());
  const heard: string[] = [];
  tls.onChange(({ certPem }) => void heard.push(certPem));

  // A slow disk: the read ends when somebody writes into the pipe.
  run("mkfifo", "pipe");
  await rename(inside("pipe"), inside("first.pem"));
  const slow = tls.reload();
  const pipe = await open(inside("first.pem"), "w");
  await rename(inside("third.pem"), inside("first.pem"));
  const quick = tls.reload();
  // Time for it to overtake, which it must not.
  await Promise.race([quick, sleep(1000)]);
  await pipe.writeFile(second);
  await pipe.close();

  expect(await Promise.all([slow, quick])).toEqual([true, true]);
  expect(tls.current()?.certPem).toBe(third);
  expect(heard).toEqual([second, third]);
});
