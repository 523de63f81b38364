import { readFile, writeFile } from "node:fs/promises";
import { z } from "zod";
import {
  getOwnAuthority,
  getTls,
  installCertificate,
  reloadCertificate,
  renewOwnCertificate,
  requestCertificate,
  rollBackCertificate,
  type TlsCertificate,
  type TlsState,
} from "../features/tls/contract.ts";
import { callLocal, type LocalAddress } from "../local-client.ts";
import { type Command, type CommandContext, optional, print, required, table, UsageError } from "./command.ts";
import { entryOf } from "./list.ts";
import { acmeUsage, runAcme } from "./tls-acme.ts";
import { localAddress } from "./with-appliance.ts";

export const tls: Command = {
  ...entryOf("tls"),
  usage: [
    "signet tls show",
    "signet tls request --name HOST … [--organization NAME] [--out FILE]   a certificate request; its key stays here",
    "signet tls install --certificate FILE [--key FILE] [--passphrase-file FILE]",
    "signet tls install --pfx FILE --passphrase-file FILE",
    "signet tls self-signed                    one of the appliance's own authority",
    "signet tls authority [--out FILE]         the certificate of that authority, for clients to trust",
    "signet tls rollback                       the certificate before the present one",
    "signet tls reload                         read SIGNET_TLS_CERT and SIGNET_TLS_KEY again",
    ...acmeUsage,
  ],
  async run(context) {
    const address = localAddress(context);
    const [verb = "show", ...rest] = context.positionals;
    if (verb === "acme") return await runAcme(context, address, rest);
    if (rest.length > 0) throw new UsageError(`${rest[0]} is one word too many`);
    switch (verb) {
      case "show":
        return show(context, await callLocal(address, getTls, {}));
      case "request":
        return await request(context, address);
      case "install":
        return show(context, await callLocal(address, installCertificate, { body: await givenPair(context) }));
      case "self-signed":
        return show(context, await callLocal(address, renewOwnCertificate, {}));
      case "rollback":
        return show(context, await callLocal(address, rollBackCertificate, {}));
      case "reload":
        return show(context, await callLocal(address, reloadCertificate, {}));
      case "authority": {
        const { certificatePem, sha256 } = await callLocal(address, getOwnAuthority, {});
        return await save(context, { certificatePem, sha256 }, certificatePem);
      }
      default:
        throw new UsageError(`there is no signet tls ${verb}`);
    }
  },
};

function show(context: CommandContext, state: TlsState): number {
  const { current, previous, request: waiting, host } = state;
  const rows = current ? describe(current) : [["certificate", "none: the server speaks plain HTTP"]];
  const more = [
    ["opened as", host],
    ...(previous ? [["before", `${previous.subject}, until ${previous.validUntil.slice(0, 10)}`]] : []),
    ...(waiting ? [["request", `waits for its certificate: ${waiting.names.join(", ")}`]] : []),
  ];
  print(context, state, table([...rows, ...more]));
  return 0;
}

function describe(certificate: TlsCertificate): string[][] {
  return [
    ["certificate", `${certificate.subject} (${certificate.source})`],
    ["issued by", certificate.issuer],
    ["names", certificate.names.join(", ")],
    ["valid", `${certificate.validFrom.slice(0, 10)} to ${certificate.validUntil.slice(0, 10)}`],
    ["SHA-256", certificate.sha256],
    ["key", certificate.key],
    ...certificate.warnings.map(({ message }) => ["WARNING", message]),
  ];
}

async function request(context: CommandContext, address: LocalAddress): Promise<number> {
  const names = z.array(z.string()).min(1).safeParse(context.options.name);
  if (!names.success) throw new UsageError("--name is required");
  const organization = optional(context, "organization");
  const body = { names: names.data, ...(organization === undefined ? {} : { organization }) };
  const state = await callLocal(address, requestCertificate, { body });
  const csrPem = state.request?.csrPem ?? "";
  return await save(context, { csrPem, names: names.data }, csrPem);
}

/** Into the file that was named, else on standard output. */
async function save(context: CommandContext, value: object, pem: string): Promise<number> {
  const out = optional(context, "out");
  if (out !== undefined) await writeFile(out, pem);
  print(context, { ...value, out: out ?? null }, out === undefined ? pem.trimEnd() : `Written to ${out}.`);
  return 0;
}

async function givenPair(context: CommandContext) {
  const passphraseFile = optional(context, "passphrase-file");
  const passphrase = passphraseFile === undefined ? undefined : (await readFile(passphraseFile, "utf8")).trimEnd();
  const pfx = optional(context, "pfx");
  if (pfx !== undefined) {
    if (passphrase === undefined) throw new UsageError("--passphrase-file is required with --pfx");
    return { pfxBase64: (await readFile(pfx)).toString("base64"), passphrase };
  }
  const certificatePem = await readFile(required(context, "certificate"), "utf8");
  const key = optional(context, "key");
  return {
    certificatePem,
    ...(key === undefined ? {} : { keyPem: await readFile(key, "utf8") }),
    ...(passphrase === undefined ? {} : { passphrase }),
  };
}
