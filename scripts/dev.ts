import "../server/node-version.ts";
import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { createServer, type Plugin } from "vite";
import { locales } from "../locales/read.ts";
import { loadConfig } from "../server/config.ts";
import { appAt } from "../server/pages/addresses.ts";

/**
 * `npm run dev [-- --port N]`: the server, restarted when its sources change, behind Vite's server with the pages as they are in
 * the sources. Links in mails lead to Vite's address. One Ctrl-C ends both.
 */
const { values } = parseArgs({ options: { port: { type: "string", default: "5173" } } });
const root = path.resolve(import.meta.dirname, "..");
const config = loadConfig(process.env);
if (config.port === 0)
  throw new Error("SIGNET_PORT=0 cannot be used here: the pages must know where the server listens.");
// Where the server listens; its public address is Vite's.
const { SIGNET_BASE_URL: _base, SIGNET_APP_URL: _app, ...environment } = process.env;
const listening = loadConfig(environment).baseUrl;

const label = (name: string, colour: number) =>
  process.stdout.isTTY ? `\u001b[${colour}m${name.padEnd(7)}\u001b[0m` : name.padEnd(7);
const say = (name: string, line: string) => process.stdout.write(`${name} ${line}\n`);
const pagesLabel = label("pages", 36);
const serverLabel = label("server", 33);

/** The addresses of the pages as the server has them: each app is one index.html. */
const pageAddresses: Plugin = {
  name: "page-addresses",
  configureServer(server) {
    server.middlewares.use((request, _response, next) => {
      const path = (request.url ?? "").split("?", 1)[0] ?? "";
      const found = appAt(path);
      if (found) request.url = `/${found.app}/index.html`;
      next();
    });
  },
  // The page's own files are named from its folder, which the addresses do not show.
  transformIndexHtml: {
    order: "pre",
    handler: (html, page) =>
      html
        .replaceAll('"./src/', `"${path.posix.dirname(page.path)}/src/`)
        .replace("__LANGUAGES__", locales().languages.join(" ")),
  },
};

const target = { target: listening, secure: false };
const pages = await createServer({
  configFile: path.join(root, "apps/vite.config.ts"),
  plugins: [pageAddresses],
  clearScreen: false,
  logLevel: "warn",
  server: {
    host: "127.0.0.1",
    port: Number(values.port),
    // Everything else that the server answers itself; the pages are left to Vite.
    proxy: Object.fromEntries(
      [
        "/v1",
        "/auth",
        "/mcp",
        "/.well-known",
        "/openapi.json",
        "/openapi.yaml",
        "/locales",
        "/healthz",
        "/readyz",
        "/errors",
      ].map((url) => [url, target]),
    ),
  },
});
await pages.listen();
const address = pages.resolvedUrls?.local[0]?.replace(/\/$/, "") ?? `http://127.0.0.1:${values.port}`;
say(pagesLabel, `Pages with reload at ${address}`);

const server: ChildProcess = spawn(
  process.execPath,
  [
    "--watch",
    "--watch-preserve-output",
    "--watch-path=server",
    "--watch-path=workers",
    "--watch-path=locales",
    "server/main.ts",
    "serve",
  ],
  {
    cwd: root,
    env: { ...process.env, SIGNET_BASE_URL: process.env.SIGNET_BASE_URL ?? address },
    stdio: ["ignore", "pipe", "pipe"],
    // A process group of its own: the terminal's Ctrl-C comes here only, and is passed on once.
    detached: true,
  },
);
for (const stream of [server.stdout, server.stderr])
  if (stream) createInterface({ input: stream }).on("line", (line) => say(serverLabel, line));

const ended = new Promise<number>((resolve) => server.on("exit", (code) => resolve(code ?? 0)));
let stopping = false;
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    // The first asks, a second one insists.
    server.kill(stopping ? "SIGKILL" : "SIGTERM");
    stopping = true;
  });
const code = await ended;
await pages.close();
process.exit(stopping ? 0 : code);
