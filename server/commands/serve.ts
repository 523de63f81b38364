import { startAppliance } from "../compose.ts";
import { allOrganizations } from "../features/identity/service.ts";
import { createLog } from "../kernel/log.ts";
import type { Command } from "./command.ts";

/** How long running work may take to finish after the signal to stop. */
const graceMs = 20_000;

export const serve: Command = {
  name: "serve",
  summary: "run the appliance until it is told to stop (the default)",
  usage: ["signet serve"],
  options: {},
  async run({ config, json, stdout, onSignal }) {
    const log = createLog(config.logLevel);
    const stopped = new Promise<string>((resolve) => onSignal(resolve));
    const appliance = await startAppliance({ config, log });
    const empty = (await allOrganizations(appliance.deps.db.read)).length === 0;
    if (json) stdout(`${JSON.stringify({ ready: appliance.url, selfSigned: appliance.selfSigned, empty })}\n`);
    else stdout(welcome(appliance.url, appliance.selfSigned, empty));
    const signal = await stopped;
    log.info({ signal }, "stopping");
    await appliance.stop(graceMs);
    log.info({}, "stopped");
    return 0;
  },
};

function welcome(url: string, selfSigned: boolean, empty: boolean): string {
  const lines = [`Signet is ready at ${url}`];
  if (selfSigned) {
    lines.push(
      "Its certificate is self-signed: browsers warn, curl needs -k. Set SIGNET_TLS_CERT and SIGNET_TLS_KEY, and",
    );
    lines.push("SIGNET_BASE_URL to the name that people open: mails carry links to it.");
  }
  if (empty) {
    lines.push("There is no organization yet. Create it, then a key for your first call:");
    lines.push('  npm run signet -- init --organization "Example Ltd" --email you@example.com');
    lines.push("  npm run signet -- api-key create --name first --mode test");
  }
  return `${lines.join("\n")}\n`;
}
