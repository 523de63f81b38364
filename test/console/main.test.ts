import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ApplianceUrl, type Method, methodNames, methods } from "../../apps/console/src/shared/ipc.ts";
import type { InvokeEvent } from "./electron-stand-in.ts";
import { bundles, startAgain, startMain } from "./main-process.ts";

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
const storedUrl = () => invoke("settings.url.get");

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
    main.app.emit("second-instance");
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
    const before = await storedUrl();
    const inputs: Record<Method, unknown> = {
      status: undefined,
      "settings.url.get": undefined,
      "settings.url.set": { url: "https://elsewhere.example" },
      openInBrowser: { page: "docs" },
    };
    for (const name of methodNames)
      expect(await invoke(name, inputs[name], event())).toEqual({ ok: false, code: "forbidden" });
    expect(main.recorded.opened).toEqual([]);
    expect(await storedUrl()).toEqual(before);
  });
});

describe("what may be asked", () => {
  test("exactly the methods of the contract", () => {
    expect([...main.recorded.handlers.keys()].toSorted()).toEqual([...methodNames].toSorted());
  });

  test.each(methodNames)("%s refuses whatever its schema does not describe", async (name) => {
    const before = await storedUrl();
    const nearly = fc.oneof(
      fc.record({ url: fc.anything() }),
      fc.record({ page: fc.string() }),
      fc.record({ page: fc.constantFrom("start", "docs"), extra: fc.anything() }),
    );
    const malformed = fc.oneof(fc.anything(), nearly).filter((input) => !methods[name].input.safeParse(input).success);
    await fc.assert(
      fc.asyncProperty(malformed, async (input) => {
        expect(await invoke(name, input)).toEqual({ ok: false, code: "invalid-input" });
      }),
    );
    expect(main.recorded.opened).toEqual([]);
    expect(await storedUrl()).toEqual(before);
  });

  test("the address is an origin, and plain http is taken for this machine only", async () => {
    for (const [given, kept] of [
      ["https://signet.example.com", "https://signet.example.com"],
      [" HTTPS://Signet.Example.com:443/ ", "https://signet.example.com"],
      ["http://localhost:8480", "http://localhost:8480"],
      ["http://127.0.0.1:8480/", "http://127.0.0.1:8480"],
      ["http://[::1]:8480", "http://[::1]:8480"],
    ]) {
      expect(await invoke("settings.url.set", { url: given })).toEqual({ ok: true, value: { url: kept } });
      expect(await storedUrl()).toEqual({ ok: true, value: { url: kept } });
    }
    const file = path.join(main.recorded.userData, "console.json");
    expect(readFileSync(file, "utf8")).toBe('{"url":"http://[::1]:8480"}\n');
    for (const url of [
      "signet.example.com",
      "http://signet.example.com",
      "https://signet.example.com/path",
      "https://signet.example.com?",
      "https://signet.example.com#x",
      "https://user@signet.example.com",
      "http://localhost.example.com",
      "http://127.0.0.1.example.com",
      "file:///etc/passwd",
      "javascript:alert(1)",
      "https://",
      "",
    ])
      expect(await invoke("settings.url.set", { url }), url).toEqual({ ok: false, code: "invalid-input" });
  });

  test("every address that is taken is a bare origin of http or https", () => {
    const near = fc
      .tuple(
        fc.constantFrom("http://", "https://", "app://", ""),
        fc.webAuthority(),
        fc.constantFrom("", "/", "/a", "?b"),
      )
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(fc.oneof(near, fc.webUrl(), fc.string()), (text) => {
        const parsed = ApplianceUrl.safeParse(text);
        if (parsed.success) expect(new URL(parsed.data).href).toBe(`${parsed.data}/`);
      }),
    );
  });

  test("the browser opens three pages of that origin and nothing else", async () => {
    await invoke("settings.url.set", { url: "https://signet.example.com" });
    for (const page of ["start", "docs", "verify", "https://example.com", "//example.com", "../etc", "__proto__"])
      await invoke("openInBrowser", { page });
    expect(main.recorded.opened).toEqual([
      "https://signet.example.com/",
      "https://signet.example.com/docs",
      "https://signet.example.com/verify",
    ]);
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
