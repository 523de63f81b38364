/** A token of SoftHSM in a folder of its own, which can be pulled out and put back. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

export const softhsmModule = "/usr/lib/softhsm/libsofthsm2.so";

export type SoftToken = {
  folder: string;
  pinFile: string;
  /** Settings of an appliance that uses it. */
  env: Record<string, string>;
  pullOut(): void;
  putBack(): void;
  close(): void;
};

/** The library of SoftHSM reads its settings when it starts, so a process uses one folder at a time. */
export function makeToken(options: { mechanisms?: string } = {}): SoftToken {
  const { mechanisms = "ALL" } = options;
  const label = "signet";
  const folder = mkdtempSync(path.join(tmpdir(), "signet-hsm-"));
  const file = (name: string) => path.join(folder, name);
  mkdirSync(file("tokens"));
  mkdirSync(file("away"));
  const settings = { "directories.tokendir": file("tokens"), "log.level": "ERROR", "slots.mechanisms": mechanisms };
  const lines = Object.entries(settings).map(([key, value]) => `${key} = ${value}\n`);
  writeFileSync(file("softhsm2.conf"), lines.join(""));
  process.env.SOFTHSM2_CONF = file("softhsm2.conf");
  const make = ["--init-token", "--free", "--label", label, "--pin", "123456", "--so-pin", "87654321"];
  execFileSync("softhsm2-util", make, { stdio: "pipe" });
  writeFileSync(file("pin"), "123456\n", { mode: 0o600 });
  const move = (from: string, to: string) => {
    for (const name of readdirSync(file(from))) renameSync(path.join(file(from), name), path.join(file(to), name));
  };
  return {
    folder,
    pinFile: file("pin"),
    env: { SIGNET_PKCS11_MODULE: softhsmModule, SIGNET_PKCS11_TOKEN: label, SIGNET_PKCS11_PIN_FILE: file("pin") },
    pullOut: () => move("tokens", "away"),
    putBack: () => move("away", "tokens"),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
