import { readFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { parseKeep } from "./features/backup/keep.ts";
import { readRecipient } from "./features/backup/recipient.ts";
import { parseAllowEntry } from "./kernel/address-guard.ts";
import { clientIp } from "./kernel/client-ip.ts";
import { nearest } from "./kernel/nearest.ts";
import { Email, Locale } from "./kernel/wire.ts";

/** A setting that cannot be used. The message is one line that names the setting. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

const list = z.preprocess(
  (value) =>
    typeof value === "string"
      ? value
          .split(",")
          .map((part) => part.trim())
          .filter(Boolean)
      : value,
  z.array(z.string()),
);
/** Whether reading the value throws nothing. */
const readable = (read: (value: string) => unknown) => (values: readonly string[]) => {
  try {
    for (const value of values) read(value);
    return true;
  } catch {
    return false;
  }
};
const flag = z.preprocess(
  (value) => (value === "1" || value === "true" ? true : value === "0" || value === "false" ? false : value),
  z.boolean("use true or false"),
);
const whole = (min: number, max: number) =>
  z.preprocess(
    (value) => (typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value),
    z
      .int(`use a whole number from ${min} to ${max}`)
      .min(min, `use a whole number from ${min} to ${max}`)
      .max(max, `use a whole number from ${min} to ${max}`),
  );
const httpUrl = z.string().refine((text) => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.search && !url.hash;
}, "use an http or https URL without query or fragment");

/** Every setting: its key in signet.json is the name here, its variable `SIGNET_` and the name in upper snake case. */
const settings = {
  dataDir: z.string().default("./data").describe("Folder of the database, documents, keys and outgoing mail files"),
  host: z
    .string()
    .default("127.0.0.1")
    .describe("Address to listen on; anything but loopback needs TLS or a trusted proxy"),
  port: whole(0, 65535).default(8480).describe("Port to listen on; 0 takes a free one"),
  baseUrl: httpUrl.optional().describe("Public URL of the API, as it stands in links; default: the listening address"),
  appUrl: httpUrl
    .optional()
    .describe("Public URL of the pages; must have the origin of the base URL, which is the default"),
  smtpUrl: z
    .string()
    .regex(/^smtps?:\/\//, "use smtp://user:password@host:port or smtps://…")
    .optional()
    .describe("Mail server; unset: each mail is written as an .eml file under outbox/ in the data folder"),
  mailFrom: z.string().default("Signet <signet@localhost>").describe("Sender of all mail"),
  tsaUrls: list
    .refine((urls) => urls.every((url) => httpUrl.safeParse(url).success), "use http or https URLs, comma-separated")
    .default([])
    .describe("RFC 3161 time-stamping authorities, tried in order; unset: the built-in authority"),
  tsaFallback: flag.default(true).describe("Whether the built-in authority stamps when none of the list answers"),
  tsaTimeoutSeconds: whole(1, 60).default(5).describe("How long one of the list may take to answer, in seconds"),
  sealLevel: z
    .enum(["B-T", "B-LT", "B-LTA"])
    .default("B-LTA")
    .describe("PAdES level of seals; what cannot be had at once is appended later, never below B-T"),
  activeContent: z
    .enum(["warn", "remove", "refuse"])
    .optional()
    .describe(
      "What happens to scripts, actions, media and attached files in uploaded PDFs; unset: attached files stay, everything else is removed, each with a warning",
    ),
  anchorIntervalSeconds: whole(1, 86400).default(600).describe("Shortest time between two anchors, in seconds"),
  anchorTimestamp: flag
    .default(false)
    .describe("Whether each anchor gets a time stamp of the listed authorities, soon after it is signed"),
  witnessDir: z.string().optional().describe("Folder that receives every anchor and its checkpoint note, as files"),
  witnessMail: Email.optional().describe("Address that every anchor's checkpoint note is mailed to"),
  witnessMailLocale: Locale.default("en").describe("Language of those mails"),
  witnessUrl: httpUrl.optional().describe("URL that every anchor and its checkpoint note are posted to, as JSON"),
  masterKeyFile: z
    .string()
    .optional()
    .describe("File of the master key (mode 0600); default: master.key in the data folder"),
  pkcs11Module: z.string().optional().describe("PKCS#11 library of an HSM; unset: keys in software only"),
  pkcs11Token: z.string().optional().describe("Label of the token in it that holds the keys"),
  pkcs11PinFile: z.string().optional().describe("File that holds the token's user PIN in one line"),
  trustedProxies: list
    .refine(
      readable((entry) => clientIp([entry])),
      "use IP addresses or CIDR ranges, comma-separated",
    )
    .default([])
    .describe("Addresses or CIDR ranges whose X-Forwarded-For is believed"),
  tlsCert: z.string().optional().describe("PEM file of the server certificate and its chain"),
  tlsKey: z.string().optional().describe("PEM file of the server's private key"),
  httpPort: whole(0, 65535)
    .optional()
    .describe("Port for plain HTTP: answers ACME's http-01 and sends everybody else to https; unset: none"),
  metricsToken: z
    .string()
    .min(16, "use at least 16 characters")
    .optional()
    .describe("Bearer token of /metrics; unset: /metrics is not served"),
  streamsPerCaller: whole(5, 10_000)
    .default(20)
    .describe("Event streams that one API key, session or viewer may hold open at a time"),
  outboundAllow: list
    .refine(readable(parseAllowEntry), "write purpose=CIDR:port, an IPv6 network in brackets, comma-separated")
    .default([])
    .describe("Private networks that may be called: purpose=CIDR:port entries"),
  outboundProxy: httpUrl.optional().describe("HTTP proxy of outgoing calls"),
  caFile: z.string().optional().describe("PEM file of certificate authorities to trust besides the built-in ones"),
  airGap: flag.default(false).describe("Call nothing but the mail server and what SIGNET_OUTBOUND_ALLOW names"),
  plan: z
    .enum(["free", "pay_as_you_go", "team", "business", "platform"])
    .default("platform")
    .describe("Plan of organizations while no payment provider is set"),
  signUp: z
    .enum(["invited", "domains", "open"])
    .default("invited")
    .describe("Who may create a dashboard account: invited people, addresses of the sign-up domains, or anybody"),
  signUpDomains: list
    .refine(
      (domains) => domains.every((domain) => /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(domain)),
      "use domain names in lower case, comma-separated",
    )
    .default([])
    .describe("Domains whose addresses may sign up when sign-up is by domain"),
  breachUrl: httpUrl
    .optional()
    .describe("Look-up of breached passwords by the first five characters of their SHA-1, which are appended to it"),
  breachDir: z
    .string()
    .optional()
    .describe("Folder of breached-password range files (ABCDE or ABCDE.txt), for sites without internet"),
  socialGoogleClientId: z.string().optional().describe("OpenID Connect client of Google; unset: no such sign-in"),
  socialGoogleClientSecret: z.string().optional().describe("Secret of that client"),
  socialGoogleIssuer: httpUrl.default("https://accounts.google.com").describe("Issuer that is asked for it"),
  socialMicrosoftClientId: z.string().optional().describe("OpenID Connect client of Microsoft; unset: no such sign-in"),
  socialMicrosoftClientSecret: z.string().optional().describe("Secret of that client"),
  socialMicrosoftIssuer: httpUrl
    .default("https://login.microsoftonline.com/common/v2.0")
    .describe("Issuer that is asked for it; name your own tenant here"),
  adminSocket: z
    .string()
    .optional()
    .describe("Socket of this machine's administrators; default: run/admin.sock in the data folder"),
  backupDir: z
    .string()
    .optional()
    .describe("Folder that receives backups, best on another machine; unset: none are made"),
  backupRecipient: z
    .string()
    .refine((text) => readable(readRecipient)([text]), "give the public key that signet backup key printed, whole")
    .optional()
    .describe("Public key that backups are encrypted to; its secret part opens them"),
  backupPassphraseFile: z
    .string()
    .optional()
    .describe("File whose one line is the passphrase of backups, where no public key is set"),
  backupIntervalHours: whole(1, 8760).default(24).describe("Hours between two backups"),
  backupKeep: list
    .refine(
      readable((rule) => parseKeep([rule])),
      "write last=3,daily=7,weekly=5,monthly=12",
    )
    .default(["last=3", "daily=7", "weekly=5", "monthly=12"])
    .describe("Which backups stay: the newest, and the newest of so many days, weeks and months"),
  logLevel: z.enum(["debug", "info", "warn", "error", "silent"]).default("info").describe("Least level that is logged"),
  diskWarnPercent: whole(1, 100).default(80).describe("Use of the data folder's volume that is warned of, in percent"),
  diskFullPercent: whole(2, 100)
    .default(95)
    .describe("Use from which nothing new is begun and what is under way is finished, in percent"),
  diskReserveMb: whole(0, 1024)
    .default(64)
    .describe("Room kept in the data folder for finishing work when the disk is full, in MiB; 0 keeps none"),
  workers: whole(1, 64).optional().describe("Worker threads; default: the number of cores, at most 4"),
} satisfies Record<string, z.ZodType>;

/** Settings that the design names and this version does not know: naming them stops the start instead of doing nothing. */
const notYet = ["CLAMD", "SOFFICE", "LICENSE_FILE"];
const notYetPrefixes = ["STRIPE_", "SMS_"];

const Settings = z.object(settings);
type Settings = z.infer<typeof Settings>;

/** The settings with everything derived from them; paths are absolute. */
export type Config = Omit<Settings, "baseUrl" | "appUrl" | "masterKeyFile" | "adminSocket"> & {
  /** Without a trailing slash. Known for certain only once the port is bound when `port` is 0: see `withPort`. */
  baseUrl: string;
  appUrl: string;
  baseUrlConfigured: boolean;
  masterKeyFile: string;
  /** A path, or the name of a pipe on Windows. */
  adminSocket: string;
  /** True when answers are checked against their schemas (tests). */
  checkResponses: boolean;
  /** What was given of each setting and where, before defaults. */
  given: Given;
};

/** Raw values by setting: the environment overrules the file. */
export type Given = {
  file: Readonly<Record<string, unknown>>;
  environment: Readonly<Record<string, string>>;
};

const variableOf = (key: string) => `SIGNET_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

/** Settings whose value nobody is shown. */
const secret = new Set(["smtpUrl", "metricsToken", "socialGoogleClientSecret", "socialMicrosoftClientSecret"]);

export type SettingDescription = {
  key: string;
  variable: string;
  fallback: string;
  meaning: string;
  secret: boolean;
  /** What may be chosen; null when it is free. */
  choices: string[] | null;
};

/** Every setting, for `docs/settings.md`, `signet config` and the console. */
export function describeSettings(): SettingDescription[] {
  return Object.entries(settings).map(([key, schema]) => {
    const parsed = schema.safeParse(undefined);
    const value = parsed.success ? parsed.data : undefined;
    const fallback = value === undefined || (Array.isArray(value) && value.length === 0) ? "" : String(value);
    return {
      key,
      variable: variableOf(key),
      fallback,
      meaning: schema.description ?? "",
      secret: secret.has(key),
      choices: choicesOf(schema),
    };
  });
}

function choicesOf(schema: z.ZodType): string[] | null {
  const inner = schema instanceof z.ZodDefault || schema instanceof z.ZodOptional ? schema.unwrap() : schema;
  return inner instanceof z.ZodEnum ? inner.options.map(String) : null;
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Where `signet mcp` finds a server and with which key: it may run beside the appliance, whose settings these are not. */
const ofClients: ReadonlySet<string> = new Set(["SIGNET_URL", "SIGNET_API_KEY"]);

/**
 * Reads the settings: signet.json in the data folder, overruled by the environment.
 * @param env usually process.env, which only main.ts and cli.ts read
 * @throws ConfigError with one line
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const known = new Map(Object.keys(settings).map((key) => [variableOf(key), key]));
  const environment: Record<string, string> = {};
  const dataDir = path.resolve(env.SIGNET_DATA_DIR || "./data");
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith("SIGNET_") || value === undefined || value === "") continue;
    const key = known.get(variable);
    if (key) environment[key] = value;
    else if (!ofClients.has(variable) && !variable.startsWith("SIGNET_TEST_"))
      throw new ConfigError(unknownSetting(variable, [...known.keys()]));
  }
  const given = { file: readSettingsFile(settingsFileOf(dataDir)), environment };
  return checkSettings(dataDir, given, env.SIGNET_TEST_CHECK_RESPONSES === "1");
}

/** Where settings are kept that no variable names. */
export const settingsFileOf = (dataDir: string): string => path.join(dataDir, "signet.json");

/**
 * The settings that were given, with defaults and everything derived.
 * @throws ConfigError with one line that names the setting
 */
export function checkSettings(dataDir: string, given: Given, checkResponses = false): Config {
  for (const key of Object.keys(given.file)) {
    if (!Object.hasOwn(settings, key)) throw new ConfigError(`${settingsFileOf(dataDir)}: ${key} is not a setting`);
  }
  const parsed = Settings.safeParse({ ...given.file, ...given.environment, dataDir });
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const key = String(issue?.path[0] ?? "");
    throw new ConfigError(`${variableOf(key)} (signet.json: ${key}) cannot be used: ${issue?.message ?? "invalid"}`);
  }
  return { ...derive(parsed.data), checkResponses, given };
}

function unknownSetting(variable: string, known: readonly string[]): string {
  const prefix = "SIGNET_";
  const name = variable.slice(prefix.length);
  if (notYet.includes(name) || notYetPrefixes.some((begin) => name.startsWith(begin)))
    return `${variable} is not supported by this version: remove it`;
  // What all of them begin with makes no two of them alike.
  const meant = nearest(
    name,
    known.map((one) => one.slice(prefix.length)),
  );
  return meant === null
    ? `${variable} is not a setting: take it out; then signet config get lists all that there are`
    : `${variable} is not a setting: did you mean ${prefix}${meant}? Without it, signet config get lists all that there are`;
}

/** What signet.json holds; nothing when there is none. @throws ConfigError */
export function readSettingsFile(file: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    throw new ConfigError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ConfigError(`${file} is not valid JSON: repair it, or put the last good copy in its place`);
  }
  const parsed = z.record(z.string(), z.unknown()).safeParse(value);
  if (!parsed.success) throw new ConfigError(`${file} must hold one JSON object`);
  return parsed.data;
}

function derive(read: Settings): Omit<Config, "checkResponses" | "given"> {
  if (Boolean(read.tlsCert) !== Boolean(read.tlsKey))
    throw new ConfigError("SIGNET_TLS_CERT and SIGNET_TLS_KEY go together: set both or none");
  const token = [read.pkcs11Module, read.pkcs11Token, read.pkcs11PinFile].filter(Boolean).length;
  if (token !== 0 && token !== 3)
    throw new ConfigError(
      "SIGNET_PKCS11_MODULE, SIGNET_PKCS11_TOKEN and SIGNET_PKCS11_PIN_FILE go together: set all or none",
    );
  for (const [name, id, secret] of [
    ["GOOGLE", read.socialGoogleClientId, read.socialGoogleClientSecret],
    ["MICROSOFT", read.socialMicrosoftClientId, read.socialMicrosoftClientSecret],
  ]) {
    if (Boolean(id) !== Boolean(secret))
      throw new ConfigError(
        `SIGNET_SOCIAL_${name}_CLIENT_ID and SIGNET_SOCIAL_${name}_CLIENT_SECRET go together: set both or none`,
      );
  }
  if (read.signUp === "domains" && read.signUpDomains.length === 0)
    throw new ConfigError("SIGNET_SIGN_UP is domains, so SIGNET_SIGN_UP_DOMAINS must name at least one");
  if (read.diskWarnPercent >= read.diskFullPercent)
    throw new ConfigError("SIGNET_DISK_WARN_PERCENT must be less than SIGNET_DISK_FULL_PERCENT");
  if (read.anchorTimestamp && read.tsaUrls.length === 0)
    throw new ConfigError("SIGNET_ANCHOR_TIMESTAMP needs an authority in SIGNET_TSA_URLS");
  const { baseUrl, appUrl, masterKeyFile, adminSocket, ...rest } = read;
  const base = trimSlash(baseUrl ?? listeningUrl(read, read.port));
  const app = trimSlash(appUrl ?? base);
  if (new URL(base).origin !== new URL(app).origin) {
    throw new ConfigError(
      `SIGNET_BASE_URL and SIGNET_APP_URL must have one origin: ${new URL(base).origin} is not ${new URL(app).origin}`,
    );
  }
  return {
    ...rest,
    baseUrl: base,
    appUrl: app,
    baseUrlConfigured: baseUrl !== undefined,
    masterKeyFile: path.resolve(masterKeyFile ?? path.join(read.dataDir, "master.key")),
    adminSocket: adminSocketOf(adminSocket, read.dataDir),
  };
}

const pipePrefix = "\\\\.\\pipe\\";

function adminSocketOf(given: string | undefined, dataDir: string): string {
  if (process.platform === "win32") return given ?? `${pipePrefix}signet-admin`;
  return path.resolve(given ?? path.join(dataDir, "run", "admin.sock"));
}

const trimSlash = (url: string) => url.replace(/\/+$/, "");

/** The URL of the listening address, https when the server terminates TLS itself. */
function listeningUrl(read: Pick<Settings, "host" | "tlsCert" | "trustedProxies">, port: number): string {
  const secure = read.tlsCert !== undefined || (!isLoopback(read.host) && read.trustedProxies.length === 0);
  const host =
    read.host === "0.0.0.0" || read.host === "::"
      ? "localhost"
      : read.host.includes(":")
        ? `[${read.host}]`
        : read.host;
  return `${secure ? "https" : "http"}://${host}:${port}`;
}

/** The same settings once the ports are known: derived URLs follow them. */
export function withPort(given: Config, port: number, httpPort = given.httpPort): Config {
  const config = { ...given, httpPort };
  if (config.baseUrlConfigured) return { ...config, port };
  const url = listeningUrl(config, port);
  const appUrl = config.appUrl === config.baseUrl ? url : config.appUrl;
  return { ...config, port, baseUrl: url, appUrl };
}
