import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLog } from "../../../server/kernel/log.ts";
import type { TestAppliance } from "../../harness/appliance.ts";
import { addPerson, auth, codeFor, problem, startSignIn, tokenFor } from "../../harness/sign-in.ts";

const breached = "correct horse battery";
const padded = "padding is no breach";
const fine = "nobody ever leaked this";
const sha1 = (password: string) => createHash("sha1").update(password).digest("hex").toUpperCase();
const prefixOf = (password: string) => sha1(password).slice(0, 5);
const line = (password: string, count: number) => `${sha1(password).slice(5)}:${count}`;
const filler = Array.from({ length: 800 }, (_, i) => `${sha1(`filler ${i}`).slice(5)}:${i + 1}`);
const range = (...lines: string[]) => [...filler, ...lines, ...filler].join("\r\n");

/** Looks like the public look-up: the range of a prefix, padded. */
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const asked: { url: string; padding: string | undefined }[] = [];
const server = createServer((request, response) => {
  asked.push({ url: request.url ?? "", padding: request.headers["add-padding"]?.toString() });
  answer(request, response);
});
const ranges: typeof answer = (request, response) => {
  const prefix = request.url?.split("/").at(-1);
  const lines = [line(breached, 17), line(padded, 0)];
  response.end(prefix === prefixOf(breached) || prefix === prefixOf(padded) ? range(...lines) : range());
};

let app: TestAppliance;
let logged = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  app = await startSignIn({
    log: createLog("info", {
      write(text: string) {
        logged += text;
      },
    }),
    env: {
      SIGNET_SIGN_UP: "open",
      SIGNET_BREACH_URL: `http://127.0.0.1:${port}/range/`,
      SIGNET_OUTBOUND_ALLOW: `breach=127.0.0.0/8:${port}`,
    },
  });
});
afterAll(async () => {
  await app.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

let people = 0;
const signUp = (where: TestAppliance, password: string) => {
  people += 1;
  return auth(where, "/auth/sign-up", { email: `b${people}@example.org`, password, name: "Someone" });
};

test("a breached password is refused wherever a new one is chosen, and five characters of its hash are all that leaves", async () => {
  answer = ranges;
  asked.length = 0;
  const expected = { code: "validation-failed", errors: [{ pointer: "#/password" }] };
  expect(problem(await signUp(app, breached))).toMatchObject(expected);
  expect(asked).toEqual([{ url: `/range/${prefixOf(breached)}`, padding: "true" }]);

  const { email } = await addPerson(app, null);
  await auth(app, "/auth/codes", { email });
  const { cookie } = await auth(app, "/auth/sign-in/code", { email, code: await codeFor(app, email) });
  expect(problem(await auth(app, "/auth/password/set", { password: breached }, { cookie }))).toMatchObject(expected);
  const set = await auth(app, "/auth/password/set", { password: fine }, { cookie });
  expect(set.status).toBe(200);
  const change = { currentPassword: fine, password: breached };
  expect(problem(await auth(app, "/auth/password/change", change, { cookie: set.cookie }))).toMatchObject(expected);
  await auth(app, "/auth/password/forgot", { email });
  const token = await tokenFor(app, email, "password_reset");
  expect(problem(await auth(app, "/auth/password/reset", { token, password: breached }))).toMatchObject(expected);
  // The refusal did not use the link up.
  expect((await auth(app, "/auth/password/reset", { token, password: fine })).status).toBe(204);
});

test("a count of zero is padding", async () => {
  answer = ranges;
  expect((await signUp(app, padded)).status).toBe(202);
});

test("without an answer in two seconds the password is accepted unchecked", async () => {
  answer = () => undefined;
  const started = performance.now();
  expect((await signUp(app, breached)).status).toBe(202);
  const ms = performance.now() - started;
  expect(ms).toBeGreaterThan(1900);
  expect(ms).toBeLessThan(60_000);
  expect(logged).toContain("accepted unchecked");
});

test("failing, endless and redirecting answers are no obstacle", async () => {
  const answers: (typeof answer)[] = [
    (_, response) => void response.writeHead(500).end(),
    (_, response) => void response.writeHead(302, { location: "/elsewhere" }).end(),
    (_, response) => void response.end(`${"0".repeat(2 ** 21)}\r\n${line(breached, 1)}`),
    (request) => void request.socket.destroy(),
  ];
  for (const next of answers) {
    answer = next;
    expect((await signUp(app, breached)).status).toBe(202);
  }
  expect(logged).not.toContain(prefixOf(breached));
  expect(logged).not.toContain(breached);
});

test("a folder of ranges does without a network", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-ranges-"));
  const offline = await startSignIn({
    env: { SIGNET_SIGN_UP: "open", SIGNET_BREACH_DIR: folder, SIGNET_AIR_GAP: "true" },
  });
  try {
    expect((await signUp(offline, breached)).status).toBe(202);
    await writeFile(path.join(folder, prefixOf(breached)), range(line(breached, 3)).toLowerCase());
    expect(problem(await signUp(offline, breached)).errors).toMatchObject([{ pointer: "#/password" }]);
    await writeFile(path.join(folder, `${prefixOf(fine)}.txt`), range(line(fine, 1)));
    expect((await signUp(offline, fine)).status).toBe(422);
    await mkdir(path.join(folder, prefixOf(padded)));
    expect((await signUp(offline, padded)).status).toBe(202);
  } finally {
    await offline.stop();
    await rm(folder, { recursive: true });
  }
});
