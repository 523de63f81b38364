import { readFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { parseAllowEntry } from "./kernel/address-guard.ts";
import { clientIp } from "./kernel/client-ip.ts";

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
  anchorIntervalSeconds: whole(1, 86400).default(600).describe("Shortest time between two anchors, in seconds"),
  masterKeyFile: z
    .string()
    .optional()
    .describe("File of the master key (mode 0600); default: master.key in the data folder"),
  trustedProxies: list
    .refine(
      readable((entry) => clientIp([entry])),
      "use IP addresses or CIDR ranges, comma-separated",
    )
    .default([])
    .describe("Addresses or CIDR ranges whose X-Forwarded-For is believed"),
  tlsCert: z.string().optional().describe("PEM file of the server certificate and its chain"),
  tlsKey: z.string().optional().describe("PEM file of the server's private key"),
  metricsToken: z
    .string()
    .min(16, "use at least 16 characters")
    .optional()
    .describe("Bearer token of /metrics; unset: /metrics is not served"),
  outboundAllow: list
    .refine(readable(parseAllowEntry), "write purpose=CIDR:port, an IPv6 network in brackets, comma-separated")
    .default([])
    .describe("Private networks that may be called: purpose=CIDR:port entries"),
  outboundProxy: httpUrl.optional().describe("HTTP proxy of outgoing calls"),
  caFile: z.string().optional().describe("PEM file of certificate authorities to trust besides the built-in ones"),
  airGap: flag.default(false).describe("Refuse every outgoing call but mail to the configured server"),
  plan: z
    .enum(["free", "pay_as_you_go", "team", "business", "platform"])
    .default("platform")
    .describe("Plan of organizations while no payment provider is set"),
  logLevel: z.enum(["debug", "info", "warn", "error", "silent"]).default("info").describe("Least level that is logged"),
  workers: whole(1, 64).optional().describe("Worker threads; default: the number of cores, at most 4"),
} satisfies Record<string, z.ZodType>;

/** Settings that the design names and this version does not know: naming them stops the start instead of doing nothing. */
const notYet = [
  "PKCS11_MODULE",
  "PKCS11_TOKEN",
  "PKCS11_PIN_FILE",
  "SIGN_UP",
  "BREACH_URL",
  "BREACH_DIR",
  "CLAMD",
  "SOFFICE",
  "LICENSE_FILE",
];
const notYetPrefixes = ["STRIPE_", "SMS_", "SOCIAL_"];

const Settings = z.object(settings);
type Settings = z.infer<typeof Settings>;

/** The settings with everything derived from them; paths are absolute. */
export type Config = Omit<Settings, "baseUrl" | "appUrl" | "masterKeyFile"> & {
  /** Without a trailing slash. Known for certain only once the port is bound when `port` is 0: see `withPort`. */
  baseUrl: string;
  appUrl: string;
  baseUrlConfigured: boolean;
  masterKeyFile: string;
  /** True when answers are checked against their schemas (tests). */
  checkResponses: boolean;
};

const variableOf = (key: string) => `SIGNET_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

/** Name, variable, default and meaning of every setting, for the README and `--help`. */
export function describeSettings(): { key: string; variable: string; fallback: string; meaning: string }[] {
  return Object.entries(settings).map(([key, schema]) => {
    const parsed = schema.safeParse(undefined);
    const value = parsed.success ? parsed.data : undefined;
    const fallback = value === undefined || (Array.isArray(value) && value.length === 0) ? "" : String(value);
    return { key, variable: variableOf(key), fallback, meaning: schema.description ?? "" };
  });
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * Reads the settings: signet.json in the data folder, overruled by the environment.
 * @param env usually process.env, which only main.ts and cli.ts read
 * @throws ConfigError with one line
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const known = new Map(Object.keys(settings).map((key) => [variableOf(key), key]));
  const given: Record<string, unknown> = {};
  const dataDir = path.resolve(env.SIGNET_DATA_DIR || "./data");
  Object.assign(given, readSettingsFile(path.join(dataDir, "signet.json")));
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith("SIGNET_") || value === undefined || value === "") continue;
    const key = known.get(variable);
    if (key) given[key] = value;
    else if (!variable.startsWith("SIGNET_TEST_")) throw new ConfigError(unknownSetting(variable));
  }
  given.dataDir = dataDir;
  const parsed = Settings.safeParse(given);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const key = String(issue?.path[0] ?? "");
    throw new ConfigError(`${variableOf(key)} (signet.json: ${key}) cannot be used: ${issue?.message ?? "invalid"}`);
  }
  return derive(parsed.data, env);
}

function unknownSetting(variable: string): string {
  const name = variable.slice("SIGNET_".length);
  return notYet.includes(name) || notYetPrefixes.some((prefix) => name.startsWith(prefix))
    ? `${variable} is not supported by this version: remove it`
    : `${variable} is not a setting: see the table of settings in the README`;
}

function readSettingsFile(file: string): Record<string, unknown> {
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
    throw new ConfigError(`${file} is not valid JSON`);
  }
  const parsed = z.record(z.string(), z.unknown()).safeParse(value);
  if (!parsed.success) throw new ConfigError(`${file} must hold one JSON object`);
  for (const key of Object.keys(parsed.data)) {
    if (!(key in settings)) throw new ConfigError(`${file}: ${key} is not a setting`);
  }
  return parsed.data;
}

function derive(read: Settings, env: Readonly<Record<string, string | undefined>>): Config {
  if (Boolean(read.tlsCert) !== Boolean(read.tlsKey))
    throw new ConfigError("SIGNET_TLS_CERT and SIGNET_TLS_KEY go together: set both or none");
  const { baseUrl, appUrl, masterKeyFile, ...rest } = read;
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
    checkResponses: env.SIGNET_TEST_CHECK_RESPONSES === "1",
  };
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

/** The same settings once the port is known: derived URLs follow it. */
export function withPort(config: Config, port: number): Config {
  if (config.baseUrlConfigured) return { ...config, port };
  const url = listeningUrl(config, port);
  const appUrl = config.appUrl === config.baseUrl ? url : config.appUrl;
  return { ...config, port, baseUrl: url, appUrl };
}
