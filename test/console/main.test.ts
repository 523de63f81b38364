import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { pageOfLink } from "../../apps/console/src/main/deep-link.ts";
import { pageAddress } from "../../apps/console/src/main/page-address.ts";
import { methodNames, methods } from "../../apps/console/src/shared/ipc.ts";
import { localMethods } from "../../apps/console/src/shared/local-methods.ts";
import { nativeMethods, SocketPath } from "../../apps/console/src/shared/native.ts";
import { localEndpoints } from "../../server/local-contract.ts";
import { startAppliance } from "../harness/appliance.ts";
import { bundles, startAgain, startMain } from "../harness/console-process.ts";
import type { InvokeEvent } from "../harness/electron-stand-in.ts";
import { webAddress } from "./addresses.ts";

let main: Awaited<ReturnType<typeof startMain>>;
beforeAll(async () => {
  main = await startMain();
});
afterAll(() => main.stop());
beforeEach(() => {
  main.recorded.opened.length = 0;
});

const window = () => {
  const [first] = main.recorded.windows;
  if (!first) throw new Error("there is no window");
  return first;
};
const ownEvent = (): InvokeEvent => ({ sender: window().webContents, senderFrame: window().webContents.mainFrame });
const invoke = (name: string, input?: unknown, event = ownEvent()) => main.recorded.handlers.get(name)?.(event, input);
const chosen = () => invoke("connection.get");

describe("the window", () => {
  test("is sandboxed, isolated, without Node, and shows the console's own page", () => {
    expect(window().options.webPreferences).toMatchObject({
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      webviewTag: false,
      devTools: false,
      preload: path.join(bundles, "preload/index.cjs"),
    });
    expect(main.recorded.sandboxed).toBe(true);
    expect(window().url).toBe("app://console/index.html");
    expect(window().shown).toBe(1);
  });

  test("navigates nowhere, opens no window, holds no webview", () => {
    for (const name of ["will-navigate", "will-redirect", "will-frame-navigate", "will-attach-webview"]) {
      let prevented = false;
      window().webContents.emit(name, { preventDefault: () => (prevented = true), url: "https://example.com/" });
      expect(prevented, name).toBe(true);
    }
    expect(window().webContents.openHandler?.({ url: "https://example.com/" })).toEqual({ action: "deny" });
  });

  test("has no permission and no network", () => {
    let granted: unknown;
    main.recorded.permissionRequest?.({}, "media", (answer: boolean) => (granted = answer));
    expect(granted).toBe(false);
    expect(main.recorded.permissionCheck?.({}, "geolocation")).toBe(false);
    expect(main.recorded.devicePermission?.({})).toBe(false);
    const cancelled = (url: string) => {
      let answer: unknown;
      main.recorded.beforeRequest?.({ url }, (decision: { cancel: boolean }) => (answer = decision.cancel));
      return answer;
    };
    expect(cancelled("app://console/index.html")).toBe(false);
    for (const url of [
      "http://127.0.0.1:8480/",
      "https://example.com/",
      "file:///etc/passwd",
      "app://other/",
      "ws://x/",
    ])
      expect(cancelled(url), url).toBe(true);
  });

  test("is the only one: a second start ends, and brings this one to the front", () => {
    main.recorded.holdsLock = false;
    startAgain();
    expect(main.recorded.quits).toBe(1);
    main.app.emit("second-instance", {}, ["signet-console"]);
    expect(main.recorded.windows).toHaveLength(1);
    expect(window().focused).toBe(1);
  });
});

describe("app://", () => {
  const get = (url: string, method = "GET") => main.recorded.protocols.get("app")?.(new Request(url, { method }));

  test("serves the page with a policy that allows its own files only", async () => {
    expect(main.recorded.schemes).toEqual([
      { scheme: "app", privileges: { standard: true, secure: true, codeCache: true } },
    ]);
    const page = await get("app://console/index.html");
    expect(page?.status).toBe(200);
    const policy = page?.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("connect-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|http/);
    const script = /src="\.\/(assets\/[^"]+\.js)"/.exec((await page?.text()) ?? "")?.[1];
    const answer = await get(`app://console/${script}`);
    expect([answer?.status, answer?.headers.get("content-type")]).toEqual([200, "text/javascript; charset=utf-8"]);
  });

  test("serves nothing else", async () => {
    const paths = ["", "assets", "assets/", "../main/index.js", "%2e%2e/main/index.js", "..%2fmain/index.js", "x.html"];
    for (const name of paths) expect((await get(`app://console/${name}`))?.status, name).toBe(404);
    expect((await get("app://other/index.html"))?.status).toBe(404);
    expect((await get("app://console/index.html", "POST"))?.status).toBe(405);
  });
});

test("app:// answers no address but those of its own files, whatever somebody makes of one", async () => {
  const handle = main.recorded.protocols.get("app");
  const folder = path.join(bundles, "renderer");
  const own = new Set(
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => `/${name.split(path.sep).join("/")}`),
  );
  const part = fc.oneof(
    fc.constantFrom(
      "..",
      "%2e%2e",
      "%2E%2E%2F",
      "..%5c",
      "%00",
      "~",
      "assets",
      "index.html",
      "main",
      "index.js",
      "C:",
      "",
    ),
    fc.string({ maxLength: 12 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
      const url = URL.parse(`app://console/${parts.join("/")}`);
      if (!url) return;
      const answer = await handle?.(new Request(url));
      if (!own.has(url.pathname)) expect(answer?.status, url.href).toBe(404);
      expect(answer?.headers.get("content-security-policy")).toContain("default-src 'none'");
    }),
  );
});

test("whatever a second start is given: a page at most, and no crash", () => {
  const { sent } = window().webContents;
  const hostile = fc.oneof(
    fc.string(),
    fc.constantFrom(
      "--inspect=0.0.0.0:9229",
      "--load-extension=/tmp",
      "--no-sandbox",
      "file:///etc/passwd",
      "javascript:1",
    ),
    fc.string().map((rest) => `signet-console://${rest}`),
    fc.string().map((rest) => `signet-console://page/${rest}`),
    webAddress,
  );
  const windows = main.recorded.windows.length;
  fc.assert(
    fc.property(fc.array(hostile, { maxLength: 5 }), (given) => {
      sent.length = 0;
      main.app.emit("second-instance", {}, ["signet-console", ...given]);
      for (const url of given) main.app.emit("open-url", { preventDefault: () => undefined }, url);
      for (const { message } of sent)
        expect(message).toEqual({ kind: "page", page: expect.stringMatching(/^[a-z][a-z-]{0,39}$/) });
    }),
  );
  expect(main.recorded.windows).toHaveLength(windows);
  expect(main.recorded.opened).toEqual([]);
});

test("the browser is given three paths of the appliance's own origin, and no other scheme", () => {
  const addresses = fc.oneof(
    webAddress,
    fc.constantFrom(
      "file:///etc/passwd",
      "javascript:alert(1)",
      "smb://host/x",
      "http://user:pw@host/",
      "https://h/../..",
    ),
    fc.string(),
  );
  const address = (from: string, page: "start" | "docs" | "verify") => {
    try {
      return new URL(pageAddress(from, page));
    } catch {
      return null;
    }
  };
  fc.assert(
    fc.property(addresses, fc.constantFrom("start", "docs", "verify"), (from, page) => {
      const given = address(from, page);
      if (given === null) return;
      const { protocol, pathname, username, password, search, hash, origin } = given;
      expect(protocol).toMatch(/^https?:$/);
      expect(origin).toBe(new URL(from).origin);
      expect(["/", "/docs", "/verify"]).toContain(pathname);
      expect([username, password, search, hash]).toEqual(["", "", "", ""]);
    }),
  );
  expect(address("file:///etc/passwd", "docs")).toBeNull();
  expect(address("javascript:alert(1)", "start")).toBeNull();
});

describe("who may call", () => {
  const strangers: [string, () => InvokeEvent][] = [
    ["another window", () => ({ ...ownEvent(), sender: { ...ownEvent().sender, id: 99 } })],
    ["a frame inside", () => ({ ...ownEvent(), senderFrame: { url: "app://console/index.html" } })],
    ["a frame that is gone", () => ({ ...ownEvent(), senderFrame: null })],
    ...[
      "https://example.com/",
      "https://console/",
      "app://console.example.com/",
      "app://console@example.com/",
      "file:///index.html",
      "about:blank",
      "",
    ].map((url): [string, () => InvokeEvent] => [
      `the window while it shows "${url}"`,
      () => {
        const frame = { url };
        return { sender: { id: window().webContents.id, mainFrame: frame }, senderFrame: frame };
      },
    ]),
  ];
  test.each(strangers)("not %s", async (_who, event) => {
    const before = await chosen();
    const inputs: Readonly<Record<string, unknown>> = {
      "connection.set": { chosen: { socket: "/tmp/elsewhere.sock", remote: false } },
      "service.control": { verb: "stop" },
      "preferences.set": { background: true },
      openInBrowser: { page: "docs" },
      "clipboard.write": { text: "from elsewhere" },
      "local.changeSettings": { body: { changes: { host: "0.0.0.0" } } },
    };
    for (const name of methodNames)
      expect(await invoke(name, inputs[name], event())).toEqual({ ok: false, code: "forbidden" });
    expect(main.recorded.opened).toEqual([]);
    expect(main.recorded.clipboard).toBe("");
    expect(await chosen()).toEqual(before);
  });
});

describe("what may be asked", () => {
  test("exactly the methods of the contract", () => {
    expect([...main.recorded.handlers.keys()].toSorted()).toEqual([...methodNames].toSorted());
    // The console's own, and one for each endpoint of the admin socket.
    expect(localMethods.map(({ endpoint }) => endpoint)).toEqual(localEndpoints);
    expect(methodNames).toHaveLength(Object.keys(nativeMethods).length + localEndpoints.length);
  });

  test.each(methodNames)("%s refuses whatever its schema does not describe", async (name) => {
    const before = await chosen();
    const schema = methods[name]?.input;
    if (!schema) throw new Error(`${name} has no schema`);
    const nearly = fc.oneof(
      fc.record({ chosen: fc.record({ socket: fc.string(), remote: fc.anything() }) }),
      fc.record({ page: fc.string() }),
      fc.record({ page: fc.constantFrom("start", "docs"), extra: fc.anything() }),
      fc.record({ verb: fc.string() }),
      fc.record({ name: fc.string(), text: fc.anything(), input: fc.anything() }, { requiredKeys: [] }),
      fc.record({ params: fc.anything(), query: fc.anything(), body: fc.anything() }, { requiredKeys: [] }),
      fc.record({ body: fc.record({ changes: fc.anything(), names: fc.anything() }, { requiredKeys: [] }) }),
    );
    const malformed = fc.oneof(fc.anything(), nearly).filter((input) => !schema.safeParse(input).success);
    await fc.assert(
      fc.asyncProperty(malformed, async (input) => {
        expect(await invoke(name, input)).toEqual({ ok: false, code: "invalid-input" });
      }),
    );
    expect(main.recorded.opened).toEqual([]);
    expect(await chosen()).toEqual(before);
  });

  test("a socket is an absolute path or the name of a pipe, and is kept", async () => {
    for (const [given, kept] of [
      ["/run/signet/admin.sock", "/run/signet/admin.sock"],
      [" /tmp/with space.sock ", "/tmp/with space.sock"],
      ["\\\\.\\pipe\\signet-admin", "\\\\.\\pipe\\signet-admin"],
    ] as const) {
      const answer = { ok: true, value: { socket: kept, remote: true, byDefault: false } };
      expect(await invoke("connection.set", { chosen: { socket: given, remote: true } })).toEqual(answer);
      expect(await chosen()).toMatchObject(answer);
    }
    const file = path.join(main.recorded.userData, "console.json");
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
      connection: { socket: "\\\\.\\pipe\\signet-admin", remote: true },
    });
    expect(await invoke("connection.set", { chosen: null })).toMatchObject({ ok: true, value: { byDefault: true } });
    for (const socket of ["", "admin.sock", "./admin.sock", "http://127.0.0.1/", "C:\\signet", "/", "/a\0b", "/a\nb"])
      expect(await invoke("connection.set", { chosen: { socket, remote: false } }), socket).toEqual({
        ok: false,
        code: "invalid-input",
      });
  });

  test("every socket that is taken is a path from the root or a pipe", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `/${text}`),
        ),
        (text) => {
          const parsed = SocketPath.safeParse(text);
          if (parsed.success) expect(parsed.data).toMatch(/^(\/|\\\\\.\\pipe\\)[^\0\n]+$/);
        },
      ),
    );
  });
});

describe("outside the window", () => {
  test("links are taken for pages only", () => {
    expect(main.recorded.protocolClients).toEqual(["signet-console"]);
    for (const [link, page] of [
      ["signet-console://page/keys", "keys"],
      ["signet-console://page/overview/", "overview"],
      ["signet-console://page/", null],
      ["signet-console://page/Keys", null],
      ["signet-console://page/keys?x=1", null],
      ["signet-console://page/keys#x", null],
      ["signet-console://page/../keys", "keys"],
      ["signet-console://page/a/b", null],
      ["signet-console://user@page/keys", null],
      ["signet-console://elsewhere/keys", null],
      ["https://page/keys", null],
      ["--inspect", null],
    ] as const)
      expect(pageOfLink(link), link).toBe(page);
    fc.assert(
      fc.property(fc.oneof(fc.string(), webAddress), (rest) => {
        const page = pageOfLink(`signet-console://page/${rest}`);
        if (page !== null) expect(page).toMatch(/^[a-z][a-z-]{0,39}$/);
      }),
    );
    const contents = window().webContents;
    contents.sent.length = 0;
    main.app.emit("second-instance", {}, ["signet-console", "--flag", "signet-console://page/keys"]);
    main.app.emit("second-instance", {}, ["signet-console", "signet-console://elsewhere/keys"]);
    let prevented = false;
    main.app.emit("open-url", { preventDefault: () => (prevented = true) }, "signet-console://page/mail");
    expect(prevented).toBe(true);
    expect(contents.sent).toEqual(
      ["keys", "mail"].map((page) => ({ channel: "message", message: { kind: "page", page } })),
    );
  });

  test("the tray says how the appliance is, and trouble is told when the console keeps watching", async () => {
    const appliance = await startAppliance();
    await invoke("connection.set", { chosen: { socket: appliance.config.adminSocket, remote: false } });
    await invoke("preferences.set", { language: "de" });
    expect(await invoke("connection.look")).toMatchObject({ ok: true, value: { state: "running" } });
    const tray = main.recorded.trays.at(-1);
    expect(tray?.toolTip).toBe("Signet: In Betrieb");
    expect(tray?.menu.map(({ label }) => label)).toEqual([
      "In Betrieb",
      undefined,
      "Konsole öffnen",
      "Diagnose",
      undefined,
      "Beenden",
    ]);
    await invoke("preferences.set", { background: true });
    await appliance.stop();
    expect(await invoke("connection.look")).toMatchObject({ ok: true, value: { state: "stopped" } });
    expect(main.recorded.notifications.map(({ options, shown }) => ({ ...options, shown }))).toEqual([
      { title: "Signet braucht Aufmerksamkeit", body: "Angehalten", shown: 1 },
    ]);
    await invoke("connection.look");
    expect(main.recorded.notifications).toHaveLength(1);
    tray?.menu.find(({ label }) => label === "Diagnose")?.click?.();
    expect(window().webContents.sent.at(-1)?.message).toEqual({ kind: "page", page: "diagnostics" });
    // The tray keeps the program alive; without it the last window ends it.
    const { quits } = main.recorded;
    main.app.emit("window-all-closed");
    expect(main.recorded.quits).toBe(quits);
    await invoke("preferences.set", { background: false, language: null });
    main.app.emit("window-all-closed");
    expect(main.recorded.quits).toBe(quits + 1);
    await invoke("connection.set", { chosen: null });
  });

  test("a stream ends with its cause when the appliance goes away, and silently when nobody listens any more", async () => {
    const appliance = await startAppliance();
    await invoke("connection.set", { chosen: { socket: appliance.config.adminSocket, remote: false } });
    const { sent } = window().webContents;
    sent.length = 0;
    for (const subscription of ["one", "two"])
      expect(await invoke("local.follow.followLog", { input: {}, subscription })).toEqual({ ok: true, value: {} });
    expect(await invoke("unfollow", { subscription: "two" })).toEqual({ ok: true, value: {} });
    await appliance.stop();
    const ends = () =>
      sent.map(({ message }) => message).filter((message) => JSON.stringify(message).includes('"end"'));
    await expect.poll(ends).toMatchObject([{ kind: "end", subscription: "one" }]);
    await invoke("local.follow.followLog", { input: {}, subscription: "three" });
    await expect
      .poll(ends)
      .toContainEqual({ kind: "end", subscription: "three", refusal: { ok: false, code: "stopped" } });
    await invoke("connection.set", { chosen: null });
  });

  test("what the appliance refuses comes as its problem document", async () => {
    const appliance = await startAppliance();
    await invoke("connection.set", { chosen: { socket: appliance.config.adminSocket, remote: false } });
    expect(await invoke("local.changeSettings", { body: { changes: { nonsense: "1" } } })).toMatchObject({
      ok: false,
      code: "problem",
      problem: { code: "validation-failed" },
    });
    expect(await invoke("openInBrowser", { page: "docs" })).toEqual({
      ok: true,
      value: { opened: `${appliance.url}/docs` },
    });
    expect(main.recorded.opened).toEqual([`${appliance.url}/docs`]);
    await appliance.stop();
    expect(await invoke("local.getTls", {})).toEqual({ ok: false, code: "stopped" });
    await invoke("connection.set", { chosen: null });
  });

  test("the window comes back where it was, unless no screen is there any more", () => {
    window().bounds = { x: 100, y: 50, width: 1000, height: 700 };
    const reopen = () => {
      const last = main.recorded.windows.at(-1);
      last?.emit("close");
      last?.emit("closed");
      main.app.emit("activate");
      return main.recorded.windows.at(-1);
    };
    const second = reopen();
    expect(second?.options).toMatchObject({ x: 100, y: 50, width: 1000, height: 700 });
    if (second) Object.assign(second, { bounds: { x: 5000, y: 50, width: 1000, height: 700 }, maximized: true });
    const third = reopen();
    expect(third?.options).toMatchObject({ width: 1180, height: 800 });
    expect(third?.options).not.toHaveProperty("x");
    expect(third?.maximized).toBe(true);
  });
});

test("ipcMain, openExternal and contextBridge each stand in one source file", () => {
  const folder = path.resolve(import.meta.dirname, "../../apps/console/src");
  const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
  const where = (word: RegExp) => sources.filter((name) => word.test(readFileSync(path.join(folder, name), "utf8")));
  expect(where(/\bipcMain\b/)).toEqual(["main/ipc.ts"]);
  expect(where(/\bopenExternal\(/)).toEqual(["main/open-external.ts"]);
  expect(where(/\bcontextBridge\b/)).toEqual(["preload/index.ts"]);
});
