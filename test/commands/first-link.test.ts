import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCli } from "../../server/cli.ts";

/** The one-time link of the first owner as whoever installs the appliance meets it. */

const owner = {
  email: "Olive@Example.com",
  name: "Olive Owner",
  password: "correct horse battery staple",
  organization: "Example Ltd",
  timeZone: "Europe/Zurich",
};

let folder: string;
let env: Record<string, string>;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-first-"));
  env = { SIGNET_DATA_DIR: folder, SIGNET_PORT: "0", SIGNET_LOG_LEVEL: "silent", SIGNET_TEST_CHECK_RESPONSES: "1" };
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function signet(args: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = "";
  let err = "";
  const code = await runCli(args, env, {
    stdout: (text) => {
      out += text;
    },
    stderr: (text) => {
      err += text;
    },
    stdin: (async function* () {})(),
    interactive: false,
    onSignal: () => undefined,
  });
  return { code, out, err };
}

/** `signet serve` in this process until `stop`. */
async function serve(options: { attended: boolean; json?: boolean; program?: string }) {
  let told: (text: string) => void = () => undefined;
  const ready = new Promise<string>((resolve) => {
    told = resolve;
  });
  let interrupt: (signal: string) => void = () => undefined;
  const ended = runCli(options.json ? ["serve", "--json"] : ["serve"], env, {
    stdout: told,
    stderr: () => undefined,
    stdin: (async function* () {})(),
    interactive: options.attended,
    attended: options.attended,
    ...(options.program === undefined ? {} : { program: options.program }),
    onSignal: (listener) => {
      interrupt = listener;
    },
  });
  const printed = await Promise.race([ready, ended.then((code) => `ended with ${code}`)]);
  return {
    printed,
    url: /https?:\/\/[\d.:]+/.exec(printed)?.[0] ?? "",
    async stop() {
      interrupt("SIGTERM");
      expect(await ended).toBe(0);
    },
  };
}

const tokenIn = (text: string) => /#(svcf_\w+)/.exec(text)?.[1] ?? "";

async function post(url: string, token: string, change: Partial<typeof owner> = {}) {
  const response = await fetch(`${url}/auth/first-owner`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url },
    body: JSON.stringify({ ...owner, ...change, token }),
  });
  const body = (await response.json()) as { code?: string; organization?: { name: string; role: string } };
  return { status: response.status, body, cookie: response.headers.get("set-cookie") };
}

describe("started by hand", () => {
  test("the link is printed, works once, signs in, and no start prints one again", { timeout: 120_000 }, async () => {
    const first = await serve({ attended: true });
    expect(first.printed).toContain(
      `Signet is ready at ${first.url}\nCreate the first owner at ${first.url}/first-owner#svcf_`,
    );
    await expect(stat(path.join(folder, "first-link"))).rejects.toThrow();
    const token = tokenIn(first.printed);
    // Refused input leaves the link usable.
    expect((await post(first.url, token, { password: "short" })).status).toBe(422);
    expect((await post(first.url, token, { timeZone: "Mars/Olympus" })).status).toBe(422);
    expect((await post(first.url, `${token}x`)).body.code).toBe("token-invalid");
    const both = await Promise.all([post(first.url, token), post(first.url, token, { email: "other@example.com" })]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 401]);
    const won = both.find(({ status }) => status === 201);
    expect(won?.body.organization).toMatchObject({ name: "Example Ltd", role: "owner", timeZone: "Europe/Zurich" });
    expect(both.find(({ status }) => status === 401)?.body.code).toBe("token-used");
    expect((await post(first.url, token)).body.code).toBe("token-used");
    const session = await fetch(`${first.url}/auth/session`, { headers: { cookie: won?.cookie?.split(";")[0] ?? "" } });
    expect(session.status).toBe(200);
    const again = await signet(["first-link"]);
    expect({ code: again.code, out: again.out }).toEqual({ code: 1, out: "" });
    expect(again.err).toContain("An owner exists already");
    await first.stop();

    const second = await serve({ attended: true });
    expect(second.printed).toBe(`Signet is ready at ${second.url}\n`);
    await second.stop();
  });

  test("a link whose making cannot be recorded is not made, and the one before goes on", {
    timeout: 120_000,
  }, async () => {
    expect((await signet(["first-link"])).code).toBe(0);
    const db = new DatabaseSync(path.join(folder, "signet.db"));
    const links = () => db.prepare("SELECT token_sha256 FROM first_owner_links").all();
    const before = links();
    expect(before).toHaveLength(1);
    db.exec("CREATE TRIGGER full BEFORE INSERT ON operator_audit BEGIN SELECT raise(abort, 'no room'); END");
    expect((await signet(["first-link"])).code).not.toBe(0);
    expect(links()).toEqual(before);
    db.close();
  });

  test("a new start and first-link replace the link", { timeout: 120_000 }, async () => {
    const first = await serve({ attended: true });
    await first.stop();
    const second = await serve({ attended: true });
    expect((await post(second.url, tokenIn(first.printed))).body.code).toBe("token-invalid");
    const printed = await signet(["first-link"]);
    expect(printed.code).toBe(0);
    expect((await post(second.url, tokenIn(second.printed))).body.code).toBe("token-invalid");
    expect((await post(second.url, tokenIn(printed.out))).status).toBe(201);
    await second.stop();
  });
});

describe("as a service", () => {
  test("it names the command of the package that is installed, which root calls", { timeout: 120_000 }, async () => {
    const release = path.join(folder, "releases/1.2.3");
    await mkdir(release, { recursive: true });
    const program = path.join(release, "main.ts");
    await writeFile(program, "");
    const installed = await serve({ attended: false, program });
    expect(installed.printed).toContain("`sudo signet first-link` prints another.");
    expect(installed.printed).not.toContain("npm");
    await installed.stop();
  });

  test("the link stands in a file for its owner's eyes only, which goes with the first owner", {
    timeout: 120_000,
  }, async () => {
    const first = await serve({ attended: false });
    const file = path.join(folder, "first-link");
    expect(first.printed).not.toContain("svcf_");
    expect(first.printed).toContain(`Create the first owner with the link in ${file}`);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const link = await readFile(file, "utf8");
    expect(link).toMatch(/^http.*\/first-owner#svcf_\w+\n$/);
    expect((await post(first.url, tokenIn(link))).status).toBe(201);
    await expect(stat(file)).rejects.toThrow();
    await first.stop();
  });

  test("--json names the file and not the link", { timeout: 120_000 }, async () => {
    const first = await serve({ attended: true, json: true });
    expect(JSON.parse(first.printed)).toEqual({
      ready: first.url,
      selfSigned: false,
      empty: true,
      firstLinkFile: path.join(folder, "first-link"),
    });
    // An owner made by the command ends the link too.
    await signet(["init", "--organization", "Example Ltd", "--email", "owner@example.com"]);
    expect((await post(first.url, tokenIn(await readFile(path.join(folder, "first-link"), "utf8")))).body.code).toBe(
      "token-used",
    );
    await first.stop();
    const second = await serve({ attended: false });
    expect(second.printed).toBe(`Signet is ready at ${second.url}\n`);
    await expect(stat(path.join(folder, "first-link"))).rejects.toThrow();
    await second.stop();
  });
});
