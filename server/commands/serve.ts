import { startAppliance } from "../compose.ts";
import { issueFirstOwnerLink, writeLinkFile } from "../features/sign-in/first-owner.ts";
import { installationOf } from "../features/update/installation.ts";
import { createLog, standardOutputAnd } from "../kernel/log.ts";
import { createLogTail } from "../kernel/log-tail.ts";
import type { Command } from "./command.ts";
import { entryOf } from "./list.ts";

/** How long running work may take to finish after the signal to stop. */
const graceMs = 20_000;

export const serve: Command = {
  ...entryOf("serve"),
  usage: ["signet serve"],
  async run({ config, json, stdout, attended, program, serviceManager, onSignal }) {
    const logTail = createLogTail();
    const log = createLog(config.logLevel, standardOutputAnd(logTail));
    const { promise: stopped, resolve: end } = Promise.withResolvers<string>();
    onSignal(end);
    const { deps, url, selfSigned, stop } = await startAppliance({
      config,
      log,
      logTail,
      logKeptIn: attended === true ? null : keptIn(),
      program,
      end: () => end("asked to end"),
    });
    const announce = async () => {
      const link = await issueFirstOwnerLink(deps);
      // What a service prints ends in a log, which more people read than may own the appliance.
      const file = link === null || (attended === true && !json) ? null : await writeLinkFile(deps, link);
      if (json) stdout(`${JSON.stringify({ ready: url, selfSigned, empty: link !== null, firstLinkFile: file })}\n`);
      else stdout(welcome(url, selfSigned, link === null ? null : { link, file, command: commandOf(program) }));
      await serviceManager?.ready();
    };
    await announce().catch(async (error: unknown) => {
      // What is open would keep the process alive, and whoever started it waiting.
      await stop(0);
      throw error;
    });
    const signal = await stopped;
    log.info({ signal }, "stopping");
    await serviceManager?.stopping().catch((err: unknown) => log.warn({ err }, "the service manager was not told"));
    await stop(graceMs);
    log.info({}, "stopped");
    return 0;
  },
};

/** Where a service manager keeps what a service prints, as our installers set it up. */
const keptIn = (): string =>
  process.platform === "linux" ? "journalctl -u signet" : "the log folder of the service that runs Signet";

/** How the command line is called where this program lies: packages bring `signet`, which root calls; a checkout has npm. */
function commandOf(program: string | undefined): string {
  if (!installationOf(program)) return "npm run signet --";
  return process.platform === "win32" ? "signet" : "sudo signet";
}

type First = { link: string; file: string | null; command: string };

/** @param first the way to the first owner while there is none; the link itself only when it stands in no file */
function welcome(url: string, selfSigned: boolean, first: First | null): string {
  const lines = [`Signet is ready at ${url}`];
  if (selfSigned) {
    lines.push(
      "Its certificate is self-signed: browsers warn, curl needs -k. Set SIGNET_TLS_CERT and SIGNET_TLS_KEY, and",
    );
    lines.push("SIGNET_BASE_URL to the name that people open: mails carry links to it.");
  }
  if (first) {
    lines.push(
      first.file === null
        ? `Create the first owner at ${first.link}`
        : `Create the first owner with the link in ${first.file}`,
    );
    lines.push(`The link works once and for 24 hours; \`${first.command} first-link\` prints another.`);
  }
  return `${lines.join("\n")}\n`;
}
