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
  async run({ config, stdout, onSignal }) {
    const log = createLog(config.logLevel);
    const stopped = new Promise<string>((resolve) => onSignal(resolve));
    const appliance = await startAppliance({ config, log });
    stdout(`Signet is ready at ${appliance.url}\n`);
    if (appliance.selfSigned) {
      stdout(
        "Its certificate is self-signed: browsers warn, curl needs -k. Set SIGNET_TLS_CERT and SIGNET_TLS_KEY, and\n",
      );
      stdout("SIGNET_BASE_URL to the name that people open: mails carry links to it.\n");
    }
    if ((await allOrganizations(appliance.deps.db.read)).length === 0) {
      stdout("There is no organization yet. Create it, then a key for your first call:\n");
      stdout('  npm run signet -- init --organization "Example Ltd" --email you@example.com\n');
      stdout("  npm run signet -- api-key create --name first --mode test\n");
    }
    const signal = await stopped;
    log.info({ signal }, "stopping");
    await appliance.stop(graceMs);
    log.info({}, "stopped");
    return 0;
  },
};
