import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import {
  type AcmeState,
  ChallengeType,
  getAcme,
  renewAcme,
  replaceAcmeKey,
  setUpAcme,
  turnOffAcme,
} from "../features/tls/acme/contract.ts";
import { callLocal, type LocalAddress } from "../local-client.ts";
import { type CommandContext, optional, print, required, table, UsageError } from "./command.ts";
import { readSecret } from "./secret.ts";

/** `signet tls acme …`: certificates that an authority issues by itself. */

export const acmeUsage = [
  "signet tls acme setup --directory URL --contact MAIL … [--agree-terms] [--name HOST …] [--challenge tls-alpn-01|http-01]",
  "                      [--root FILE] [--eab-kid KID --eab-key-file FILE|-] [--no-wait]",
  "                                          have an authority (RFC 8555) issue the certificate, and renew it by itself",
  "signet tls acme status                    how it stands, and what to do about what failed",
  "signet tls acme renew [--no-wait]         a new certificate now",
  "signet tls acme rollover                  another key for the account at the authority",
  "signet tls acme off [--deactivate]        renew no more; --deactivate closes the account at the authority, too",
];

export async function runAcme(
  context: CommandContext,
  address: LocalAddress,
  rest: readonly string[],
): Promise<number> {
  const [verb = "status", ...more] = rest;
  if (more.length > 0) throw new UsageError(`${more[0]} is one word too many`);
  switch (verb) {
    case "setup": {
      const body = await givenSetup(context);
      return await ended(context, address, await callLocal(address, setUpAcme, { body }));
    }
    case "status":
      return show(context, await callLocal(address, getAcme, {}));
    case "renew":
      return await ended(context, address, await callLocal(address, renewAcme, {}));
    case "rollover":
      return show(context, await callLocal(address, replaceAcmeKey, {}));
    case "off": {
      const deactivateAccount = context.options.deactivate === true;
      return show(context, await callLocal(address, turnOffAcme, { body: { deactivateAccount } }));
    }
    default:
      throw new UsageError(`there is no signet tls acme ${verb}`);
  }
}

const Texts = z.array(z.string()).optional();

async function givenSetup(context: CommandContext) {
  const [names, contacts] = [Texts.parse(context.options.name), Texts.parse(context.options.contact)];
  const challenge = ChallengeType.optional().safeParse(optional(context, "challenge"));
  if (!challenge.success) throw new UsageError("--challenge is tls-alpn-01 or http-01");
  const root = optional(context, "root");
  const [kid, keyFile] = [optional(context, "eab-kid"), optional(context, "eab-key-file")];
  if ((kid === undefined) !== (keyFile === undefined))
    throw new UsageError("--eab-kid and --eab-key-file go together: the authority hands out both");
  const eab = kid !== undefined && keyFile !== undefined && { kid, hmacKey: await readKey(context, keyFile) };
  return {
    directory: required(context, "directory"),
    contacts: contacts ?? [],
    agreeToTerms: context.options["agree-terms"] === true,
    ...(names ? { names } : {}),
    ...(challenge.data ? { challenge: challenge.data } : {}),
    ...(root === undefined ? {} : { rootPem: await readFile(root, "utf8") }),
    ...(eab ? { eab } : {}),
  };
}

/** Never from the command line, which every user of the machine can read. */
const readKey = async (context: CommandContext, file: string): Promise<string> =>
  file === "-" ? (await readSecret(context, "Key")).trim() : (await readFile(file, "utf8")).trim();

const lookMs = 500;
const patienceMs = 120_000;

/** Waits for what was begun, unless told otherwise; it goes on without us. */
async function ended(context: CommandContext, address: LocalAddress, begun: AcmeState): Promise<number> {
  let state = begun;
  if (context.options["no-wait"] !== true)
    for (let waited = 0; state.state === "working" && waited < patienceMs; waited += lookMs) {
      await sleep(lookMs);
      state = await callLocal(address, getAcme, {});
    }
  return show(context, state);
}

const states: Record<AcmeState["state"], string> = {
  off: "not set up",
  working: "asks the authority",
  waiting: "waits for the authority",
  valid: "issued, and renewed by itself",
  failed: "failed",
  paused: "another certificate is served, so nothing is renewed: signet tls acme renew, or off",
};

function show(context: CommandContext, state: AcmeState): number {
  const { setup, trouble, renewal, nextAt, ports } = state;
  const rows = [["ACME", states[state.state]]];
  if (setup)
    rows.push(
      ["authority", setup.directory],
      ["names", setup.names.join(", ")],
      ["proof", `${setup.challenge}, answered on port ${setup.challenge === "http-01" ? ports.http : ports.tls}`],
      ["account", setup.account ?? "none yet"],
    );
  if (renewal) {
    const why = renewal.by === "authority" ? "as the authority suggests" : "when a third of its life is left";
    rows.push(["renewal", `${renewal.at}, ${why}${renewal.explanation ? `: ${renewal.explanation}` : ""}`]);
  }
  if (trouble) {
    rows.push(["FAILED", `${trouble.at}, ${state.failures} in a row: ${trouble.message}`]);
    for (const detail of trouble.details) rows.push(["", detail]);
    rows.push(["do", trouble.action]);
    if (nextAt) rows.push(["next try", nextAt]);
  }
  print(context, state, table(rows));
  return state.state === "failed" ? 1 : 0;
}
