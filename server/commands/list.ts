import type { ParseArgsOptionsConfig } from "node:util";

/**
 * Every command, in the order of the overview: what is asked of all of them at once (the overview, completion, what a mistyped
 * name may have meant) without loading one. Nothing but types is imported here.
 */

export type CommandEntry = {
  name: string;
  summary: string;
  /** What may stand first behind the name. */
  verbs?: readonly string[];
  /** What may stand behind one of those. */
  subverbs?: Readonly<Record<string, readonly string[]>>;
  options: Readonly<ParseArgsOptionsConfig>;
  /** Options that only the service unit and the steps of an update give; people are not told of them. */
  internal?: readonly string[];
};

const text = { type: "string" } as const;
const texts = { type: "string", multiple: true } as const;
const flag = { type: "boolean" } as const;
/** What opens a backup. */
const opener = { key: text, "passphrase-stdin": flag };

const entries = {
  init: {
    summary: "create an organization and its owner on this data folder",
    options: {
      organization: text,
      email: text,
      name: text,
      locale: text,
      "time-zone": text,
      "password-stdin": flag,
      additional: flag,
    },
  },
  serve: { summary: "run the appliance until it is told to stop (the default)", options: {} },
  status: { summary: "say whether the appliance runs, and how it is", options: {} },
  config: {
    summary: "show, change and check the settings of signet.json",
    verbs: ["get", "set", "check"],
    options: {},
  },
  setup: {
    summary: "say what is set up and what is still open, or set up what a file of answers says",
    options: { answers: text },
  },
  "first-link": { summary: "print a new one-time link that creates the first owner", options: {} },
  "recover-owner": {
    summary: "end every session of an owner who is locked out, and print a one-time link to set a new password",
    options: { email: text },
  },
  org: {
    summary: "list, create and rename organizations, and give them a plan",
    verbs: ["list", "create", "rename", "plan"],
    options: { name: text, email: text, person: text, locale: text, "time-zone": text, plan: text },
  },
  access: {
    summary: "show who is signed in and which API keys work, in every organization, and shut somebody out",
    verbs: ["list", "end-session", "revoke-key", "revoke"],
    options: { email: text, organization: text, keys: flag },
  },
  "api-key": {
    summary: "create, list and revoke API keys",
    verbs: ["create", "list", "revoke"],
    options: { name: text, mode: text, scopes: text, "expires-in-days": text, organization: text },
  },
  outbox: {
    summary: "show the mail that was written, sent, held back or refused",
    options: { envelope: text, to: text, last: text, full: flag },
  },
  smtp: {
    summary: "send a test mail and show the conversation with the mail server, or list the mail that did not go out",
    verbs: ["test", "queue"],
    options: { to: text, from: text, "url-stdin": flag, last: text },
  },
  tls: {
    summary: "the certificate that browsers are shown: look at it, request, install and take back, without a restart",
    verbs: ["show", "request", "install", "self-signed", "authority", "rollback", "reload", "acme"],
    subverbs: { acme: ["setup", "status", "renew", "rollover", "off"] },
    options: {
      name: texts,
      organization: text,
      out: text,
      certificate: text,
      key: text,
      pfx: text,
      "passphrase-file": text,
      directory: text,
      contact: texts,
      challenge: text,
      root: text,
      "eab-kid": text,
      "eab-key-file": text,
      "agree-terms": flag,
      "no-wait": flag,
      deactivate: flag,
    },
  },
  jobs: {
    summary: "list the work that is stuck, or try it again when its cause is repaired",
    verbs: ["list", "retry"],
    options: { all: flag },
  },
  fsck: { summary: "check every chain, document, leaf and anchor on this data folder", options: { resume: flag } },
  backup: {
    summary: "make a backup now, list and verify backups, make the key that opens them",
    verbs: ["list", "status", "verify", "key"],
    options: { ...opener, out: text },
  },
  restore: {
    summary: "put a backup onto an empty machine and check it there",
    options: { ...opener, from: text, id: text, to: text, appliance: text, "leave-damaged": flag },
  },
  drill: {
    summary: "restore a backup into a scratch folder, walk every chain and hash there, record the result",
    options: { ...opener, id: text, scratch: text },
  },
  anchors: {
    summary: "show the latest anchors; after a restore, let new ones be signed",
    verbs: ["list", "resume"],
    options: {},
  },
  keys: {
    summary: "list, make, certify and replace the keys that seal, stamp and anchor, in software or in an HSM",
    verbs: [
      "list",
      "generate",
      "import-p12",
      "csr",
      "install-cert",
      "rotate",
      "test-sign",
      "rotate-master",
      "record",
      "slots",
      "pin",
    ],
    options: {
      use: text,
      kind: text,
      key: text,
      pkcs11: flag,
      organization: text,
      name: text,
      by: text,
      "password-file": text,
      module: text,
      token: text,
    },
  },
  verify: {
    summary: "check sealed PDFs: signatures, time stamps, revisions, their place in the tree, the anchor",
    options: { server: text, bundle: text, keys: text, trust: text, "trust-timestamps": text },
  },
  consent: {
    summary: "print a statement that a signer accepted, by the SHA-256 on the certificate and in the audit trail",
    options: {},
  },
  demo: {
    summary: "do the main job on a real PDF with an appliance of its own, and ask independent judges about the result",
    options: { pdf: text, out: text },
  },
  update: {
    summary: "bring the appliance to another release and back, from a signed file, without the internet",
    verbs: ["status", "history", "verify", "apply", "rollback", "resume"],
    options: {
      service: text,
      drain: text,
      gate: text,
      reserve: text,
      "before-start": flag,
      id: text,
      to: text,
      operator: text,
      outcome: text,
      sha256: text,
      snapshot: text,
      "accept-loss": text,
    },
    internal: ["before-start", "id", "to", "operator", "outcome", "sha256", "snapshot"],
  },
  clock: {
    summary: "say whether the machine's clock is believed and what was done to it, or accept it as right",
    verbs: ["accept"],
    options: {},
  },
  doctor: {
    summary: "look at settings, data folder, keys, mail, disk and work, and say what to do about what is wrong",
    options: {},
  },
  logs: {
    summary: "show the latest lines of the running appliance's log, or follow it",
    options: { level: text, search: text, last: text, follow: { type: "boolean", short: "f" } },
  },
  "support-bundle": {
    summary: "gather what somebody who helps needs to see, without secrets, documents and names, as a ZIP file",
    options: { out: text, show: flag },
  },
  mcp: {
    summary: "let an AI assistant prepare and follow envelopes with an API key, over MCP on standard input and output",
    options: { url: text, "key-file": text },
  },
  language: {
    summary: "add a language to pages, mails and certificates, or what is new in one: files to translate",
    options: { folder: text },
  },
  completion: {
    summary: "print what makes a shell complete the commands, verbs and options of signet",
    verbs: ["bash", "zsh", "fish"],
    options: {},
  },
  man: { summary: "print the manual page of all commands (roff)", options: {} },
} as const satisfies Readonly<Record<string, Omit<CommandEntry, "name">>>;

export type CommandName = keyof typeof entries;

/** @returns whether it is the name of a command; no name that every object has is */
export const isCommandName = (name: string): name is CommandName => Object.hasOwn(entries, name);

/** What its command begins with. */
export const entryOf = (name: CommandName): CommandEntry => ({ name, ...entries[name] });

export const commandNames: readonly CommandName[] = Object.keys(entries).filter(isCommandName);
export const commandEntries: readonly CommandEntry[] = commandNames.map(entryOf);
