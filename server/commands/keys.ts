import { readFile } from "node:fs/promises";
import { givePin } from "../features/appliance/token-pin.ts";
import { type KeyUse, kindsOf } from "../features/keys/kinds.ts";
import { readKeys, slotsOf } from "../features/keys/managed.ts";
import {
  generateManaged,
  importManaged,
  installManaged,
  proveManaged,
  readRecords,
  requestManaged,
  rotateManaged,
  rotateManagedCa,
} from "../features/keys/managed-acts.ts";
import * as contract from "../features/keys/managed-contract.ts";
import { KeyUnavailable, unavailableOf } from "../features/keys/unavailable.ts";
import { AppError } from "../kernel/errors.ts";
import { LocalProblem } from "../local-client.ts";
import { type Command, type CommandContext, chosen, optional, print, required, table, UsageError } from "./command.ts";
import { nameOf, recordText } from "./keys-record.ts";
import { entryOf } from "./list.ts";
import { rotateMaster } from "./rotate-master.ts";
import { readSecret } from "./secret.ts";
import { runningOrHere } from "./with-appliance.ts";

const uses: Readonly<Record<string, KeyUse>> = { seal: "seal", anchor: "anchor", tsa: "timestamp" };

export const keys: Command = {
  ...entryOf("keys"),
  usage: [
    "signet keys list",
    "signet keys generate --use seal|anchor|tsa [--kind KIND] [--pkcs11]   makes a key that waits",
    "signet keys import-p12 FILE --password-file FILE                      a seal key with its certificate, waiting",
    "signet keys csr --key ID --organization NAME --name NAME              a certificate request (PEM)",
    "signet keys install-cert FILE                                         the certificate for it, with its chain",
    "signet keys rotate --use seal|anchor|tsa [--key ID] [--kind KIND] [--pkcs11]",
    "                       puts the waiting key into use, or a new one; a running server follows at once",
    "signet keys rotate --use ca            a new authority of our own; the one before stays published",
    "signet keys test-sign [--use seal|anchor|tsa] [--key ID]",
    "signet keys rotate-master              a new master key, everything sealed anew; the server must be stopped",
    "signet keys record                                                    what was done to the keys, signed, to be printed",
    "signet keys slots [--module FILE]      the tokens that a PKCS#11 library offers",
    "signet keys pin [--module FILE] [--token LABEL]",
    "                       reads the PIN from standard input, tries it once, and keeps it when the token takes it",
    "--by NAME stands in the record beside the account of the operating system",
    `kinds: ${Object.entries(uses)
      .map(([use, purpose]) => `${use} ${kindsOf[purpose].join(", ")}`)
      .join("; ")}; the first is the usual one`,
  ],
  async run(context) {
    const [verb = "", ...rest] = context.positionals;
    const action = chosen(actions, verb);
    if (!action) throw new UsageError(`say ${Object.keys(actions).join(", ")}`);
    return await action(context, rest);
  },
};

/** The running appliance, or the data folder; a key that cannot be used is the same error either way. */
const asked: typeof runningOrHere = async (context, ways) => {
  try {
    return await runningOrHere(context, ways);
  } catch (error) {
    if (error instanceof AppError && error.options.cause instanceof KeyUnavailable) throw error.options.cause;
    throw (error instanceof LocalProblem && unavailableOf(error.problem.detail)) || error;
  }
};

type Action = (context: CommandContext, rest: readonly string[]) => Promise<number>;

const actions: Readonly<Record<string, Action>> = {
  async list(context) {
    const { data } = await asked(context, { running: (call) => call(contract.listManagedKeys, {}), here: readKeys });
    print(context, { keys: data }, table([["use", "state", "kind", "kept in", "until", "id"], ...data.map(lineOf)]));
    return 0;
  },
  async generate(context) {
    const use = useOf(context) ?? missing("--use");
    const kind = kindOf(context, use) ?? kindsOf[use][0] ?? missing("--kind");
    const body = { use, kind, storage: storageOf(context), by: optional(context, "by") };
    const { key } = await asked(context, {
      running: (call) => call(contract.generateManagedKey, { body }),
      here: (deps, actor) => generateManaged(deps, actor, body),
    });
    print(context, key, `${key.id}\n\nIt waits: signet keys rotate --use ${nameOf(key.use)} puts it into use.`);
    return 0;
  },
  async "import-p12"(context, rest) {
    const file = await readFile(fileOf(rest));
    const password = (await readFile(required(context, "password-file"), "utf8")).replace(/\r?\n$/, "");
    const by = optional(context, "by");
    const { key } = await asked(context, {
      running: (call) => call(contract.importManagedKey, { body: { file: file.toString("base64"), password, by } }),
      here: (deps, actor) => importManaged(deps, actor, { file, password, by }),
    });
    print(context, key, `${key.id}\n${key.subject}\n\nIt waits: signet keys rotate --use seal puts it into use.`);
    return 0;
  },
  async csr(context) {
    const key = required(context, "key");
    const body = { organization: required(context, "organization"), commonName: required(context, "name") };
    const { request } = await asked(context, {
      running: (call) => call(contract.requestKeyCertificate, { params: { key }, body }),
      here: (deps, actor) => requestManaged(deps, actor, { key, ...body }),
    });
    print(context, { request }, request.trimEnd());
    return 0;
  },
  async "install-cert"(context, rest) {
    const file = await readFile(fileOf(rest));
    const by = optional(context, "by");
    const { key } = await asked(context, {
      running: (call) => call(contract.installKeyCertificate, { body: { file: file.toString("base64"), by } }),
      here: (deps, actor) => installManaged(deps, actor, { file, by }),
    });
    const next = `signet keys rotate --use ${nameOf(key.use)} --key ${key.id.slice(0, 12)} puts it into use.`;
    print(context, key, `${key.id}\n${key.subject}\n\nIt waits: ${next}`);
    return 0;
  },
  async rotate(context) {
    if (context.options.use === "ca") return await rotateCa(context);
    const use = useOf(context) ?? missing("--use");
    const kind = kindOf(context, use);
    // A kind or a place is asked for: a new key; otherwise the one that waits.
    const fresh =
      kind === undefined && context.options.pkcs11 !== true ? undefined : { kind, storage: storageOf(context) };
    const body = { use, key: optional(context, "key"), fresh, by: optional(context, "by") };
    const done = await asked(context, {
      running: (call) => call(contract.rotateManagedKey, { body }),
      here: (deps, actor) => rotateManaged(deps, actor, body),
    });
    print(context, done, table([...(done.retired ? [lineOf(done.retired)] : []), lineOf(done.inUse)]));
    return 0;
  },
  async slots(context) {
    const module = optional(context, "module");
    const { data } = await asked(context, {
      running: (call) => call(contract.listTokenSlots, { body: { module } }),
      here: async (deps, actor) => ({ data: await slotsOf(deps, actor, module) }),
    });
    const lines = data.map(({ slot, label, model, serial, initialized }) => [
      slot,
      initialized ? label : "(not initialized)",
      model,
      serial,
    ]);
    print(context, { slots: data }, table([["slot", "token", "model", "serial"], ...lines]));
    return 0;
  },
  async pin(context) {
    const pin = await readSecret(context, "PIN");
    if (pin === "") throw new UsageError("the PIN is read from standard input, and nothing came");
    const body = { module: optional(context, "module"), token: optional(context, "token"), pin };
    const given = await asked(context, {
      running: (call) => call(contract.giveTokenPin, { body }),
      here: (deps, actor) => givePin(deps, actor, body),
    });
    const after = given.restartNeeded ? " The settings name another token: start Signet again." : "";
    const text = given.accepted
      ? `The token took the PIN; it lies in ${given.pinFile}.${after}`
      : `The token refused the PIN, which was not kept. ${triesLeft[given.tries]}`;
    print(context, given, text);
    return given.accepted ? 0 : 1;
  },
  async "rotate-master"(context) {
    const done = await rotateMaster(context, optional(context, "by"), (step) => {
      if (context.interactive && step !== "blobs") context.stderr(`${step}\n`);
    });
    const lines = [
      `master key ${done.before} replaced by ${done.after}`,
      `${done.texts} texts and ${done.blobs} documents sealed anew`,
      ...done.damaged.map((what) => `neither key opens ${what}: signet fsck says more`),
      `The key of before lies in ${done.kept}: backups of before need it. Move it away from this machine, or delete it.`,
    ];
    print(context, done, lines.join("\n"));
    return done.damaged.length === 0 ? 0 : 1;
  },
  async record(context) {
    const { data: records, problems } = await asked(context, {
      running: (call) => call(contract.listKeyRecords, {}),
      here: readRecords,
    });
    print(context, { records, problems }, [...records.map(recordText), ...problems].join("\n\n"));
    return problems.length === 0 ? 0 : 1;
  },
  async "test-sign"(context) {
    const body = { use: useOf(context), key: optional(context, "key") };
    const { data: signed } = await asked(context, {
      running: (call) => call(contract.testSignKeys, { body }),
      here: async (deps, actor) => ({ data: await proveManaged(deps, actor, body) }),
    });
    print(
      context,
      { signed },
      table(signed.map((one) => ["signed and verified", nameOf(one.use), one.kind, `${one.milliseconds} ms`, one.id])),
    );
    return 0;
  },
};

/** As far as a token tells. */
const triesLeft: Readonly<Record<contract.PinGiven["tries"], string>> = {
  all: "It does not tell how many tries are left.",
  fewer: "It counts wrong tries since the last right one: a few more lock it.",
  last: "One try is left before it locks.",
  none: "It is locked now: its security officer has to reset the PIN.",
};

function missing(option: string): never {
  throw new UsageError(`${option} is required`);
}

function fileOf(rest: readonly string[]): string {
  return rest[0] ?? missing("FILE");
}

function useOf(context: CommandContext): KeyUse | undefined {
  const use = optional(context, "use");
  if (use === undefined) return undefined;
  return chosen(uses, use) ?? missing("--use seal, anchor or tsa");
}

function kindOf(context: CommandContext, use: KeyUse) {
  const kind = optional(context, "kind");
  if (kind === undefined) return undefined;
  return kindsOf[use].find((one) => one === kind) ?? missing(`--kind ${kindsOf[use].join(", ")}`);
}

const storageOf = ({ options }: CommandContext): "pkcs11" | "software" =>
  options.pkcs11 === true ? "pkcs11" : "software";

const lineOf = ({ use, state, kind, storage, validUntil, id }: contract.ManagedKeyInfo) => [
  nameOf(use),
  state,
  kind,
  storage,
  validUntil?.slice(0, 10) ?? "",
  id,
];

async function rotateCa(context: CommandContext): Promise<number> {
  if (["kind", "key", "pkcs11"].some((option) => context.options[option] !== undefined))
    throw new UsageError("--use ca makes an authority of RSA-3072 in software; it takes no --key, --kind or --pkcs11");
  const body = { by: optional(context, "by") };
  const done = await asked(context, {
    running: (call) => call(contract.rotateManagedAuthority, { body }),
    here: (deps, actor) => rotateManagedCa(deps, actor, body),
  });
  print(context, done, table([...done.retired, ...done.inUse].map(lineOf)));
  return 0;
}
