import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { type Bridge, messageChannel, methodNames } from "../../apps/console/src/shared/ipc.ts";
import { bundles, startMain } from "../harness/console-process.ts";
import { webAddress } from "./addresses.ts";

/**
 * What of Electron's list of security recommendations is not proven beside it: docs/decisions/034-console.md names the test of
 * each point.
 */

let main: Awaited<ReturnType<typeof startMain>>;
beforeAll(async () => {
  main = await startMain();
});
afterAll(() => main.stop());

const root = path.resolve(import.meta.dirname, "../..");
const contents = () => {
  const [window] = main.recorded.windows;
  if (!window) throw new Error("there is no window");
  return window.webContents;
};

/** The files below a folder with their text. */
function filesIn(folder: string, ends: RegExp): { name: string; text: string }[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => ends.test(name));
  if (names.length === 0) throw new Error(`${folder} is empty`);
  return names.map((name) => ({ name, text: readFileSync(path.join(folder, name), "utf8") }));
}

test("1, 18: everything is loaded over app://, nothing from a network and nothing over file://", () => {
  expect(main.recorded.windows.map(({ url }) => url)).toEqual(["app://console/index.html"]);
  const [page] = filesIn(path.join(bundles, "renderer"), /^index\.html$/);
  const loaded = [...(page?.text ?? "").matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url ?? "");
  expect(loaded.length).toBeGreaterThan(0);
  // `data:,` is the empty icon, without which Chromium asks for one.
  expect(loaded.filter((url) => url !== "data:," && !/^\.\/assets\/[\w.-]+$/.test(url))).toEqual([]);
  for (const { name, text } of filesIn(path.join(bundles, "renderer"), /\.css$/))
    expect([...text.matchAll(/url\(["']?(?!data:|\.?\/?[\w./-]+["']?\))[^)]*\)/g)], name).toEqual([]);
});

test("2, 3, 4, 6, 8, 9, 10, 12: the window has these preferences and no other one", () => {
  const [window] = main.recorded.windows;
  // Whatever is not named is Electron's default, which each of these points asks for.
  expect(window?.options.webPreferences).toEqual({
    preload: path.join(bundles, "preload/index.cjs"),
    sandbox: true,
    contextIsolation: true,
    nodeIntegration: false,
    webviewTag: false,
    spellcheck: false,
    devTools: false,
  });
});

// What would take back one of the points, or go around the tests of it.
const unwanted = [
  /\bloadFile\(/,
  /\bfile:\/\//,
  /\bexecuteJavaScript\b/,
  /\bcommandLine\b/,
  /\bwebSecurity\b/,
  /\ballowRunningInsecureContent\b/,
  /\bexperimentalFeatures\b/,
  /\benableBlinkFeatures\b/,
  /\bnodeIntegrationIn/,
  /<webview\b/,
  /\ballowpopups\b/i,
  /\bWebContentsView\b/,
  /\bfromPartition\b/,
  /\bsetCertificateVerifyProc\b|\bcertificate-error\b/,
  /\bdangerouslySetInnerHTML\b|\binnerHTML\s*=/,
  /\beval\(|\bnew Function\b/,
  /\bsafeDialogs\b|@electron\/remote\b/,
];
test("8 to 11 and 18: no source says a word that would weaken it", () => {
  for (const { name, text } of filesIn(path.join(root, "apps/console/src"), /\.tsx?$/)) {
    const code = text.replaceAll(/^\s*(\/\/|\/?\*).*$/gm, "");
    expect(unwanted.filter((word) => word.test(code)).map(String), name).toEqual([]);
  }
});

test("5: not one permission, whatever its name", () => {
  const names = fc.oneof(
    fc.constantFrom("media", "display-capture", "clipboard-read", "fullscreen", "openExternal", "fileSystem", "usb"),
    fc.string(),
  );
  fc.assert(
    fc.property(names, (name) => {
      const answers: unknown[] = [];
      main.recorded.permissionRequest?.(contents(), name, (answer: boolean) => answers.push(answer));
      expect(answers).toEqual([false]);
      expect(main.recorded.permissionCheck?.(contents(), name, "app://console")).toBe(false);
      expect(main.recorded.devicePermission?.({ deviceType: name })).toBe(false);
    }),
  );
});

test("13, 14: the page goes nowhere but to itself, and opens no window, not even on itself", () => {
  const isPrevented = (name: string, url: string, isMainFrame = true) => {
    let prevented = false;
    contents().emit(name, { url, isMainFrame, preventDefault: () => (prevented = true) });
    return prevented;
  };
  for (const event of ["will-navigate", "will-frame-navigate"]) {
    expect(isPrevented(event, "app://console/index.html#/keys")).toBe(false);
    expect(isPrevented(event, "app://console/index.html")).toBe(false);
  }
  expect(isPrevented("will-frame-navigate", "app://console/index.html", false)).toBe(true);
  const elsewhere = fc.oneof(
    webAddress,
    fc.constantFrom(
      "app://console.example.com/index.html",
      "app://console@example.com/index.html",
      "app://console/other.html",
      "app://console/index.html?x=1",
      "file:///etc/passwd",
      "javascript:alert(1)",
      "data:text/html,x",
      "about:blank",
      "signet-console://page/keys",
    ),
    fc.string(),
  );
  fc.assert(
    fc.property(elsewhere, (url) => {
      const events = ["will-navigate", "will-redirect", "will-frame-navigate"];
      expect(events.filter((event) => !isPrevented(event, url))).toEqual([]);
      expect(contents().openHandler?.({ url })).toEqual({ action: "deny" });
    }),
  );
  expect(contents().openHandler?.({ url: "app://console/index.html" })).toEqual({ action: "deny" });
  expect(main.recorded.windows).toHaveLength(1);
  expect(main.recorded.opened).toEqual([]);
});

test("16: one exact version of Electron, the same in manifest, lock and on disk", () => {
  const Manifest = z.looseObject({
    version: z.string().optional(),
    dependencies: z.record(z.string(), z.string()).optional(),
    devDependencies: z.record(z.string(), z.string()).optional(),
  });
  const read = (name: string) => JSON.parse(readFileSync(path.join(root, name), "utf8"));
  const manifest = Manifest.parse(read("package.json"));
  const version = manifest.devDependencies?.electron ?? "";
  expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(manifest.dependencies).not.toHaveProperty("electron");
  expect(Manifest.parse(read("node_modules/electron/package.json")).version).toBe(version);
  const lock = z.looseObject({ packages: z.record(z.string(), Manifest) }).parse(read("package-lock.json"));
  expect(lock.packages["node_modules/electron"]?.version).toBe(version);
});

test("19: every fuse that Electron has is set, each to its safe side", () => {
  const { electronFuses, asar, asarUnpack } = z
    .looseObject({ electronFuses: z.record(z.string(), z.boolean()), asar: z.boolean(), asarUnpack: z.unknown() })
    .parse({ asarUnpack: undefined, ...parse(readFileSync(path.join(root, "electron-builder.yml"), "utf8")) });
  expect(electronFuses).toEqual({
    runAsNode: false,
    enableNodeOptionsEnvironmentVariable: false,
    enableNodeCliInspectArguments: false,
    enableCookieEncryption: true,
    // Integrity is worth nothing where code may be loaded from beside the archive.
    enableEmbeddedAsarIntegrityValidation: true,
    onlyLoadAppFromAsar: true,
    loadBrowserProcessSpecificV8Snapshot: false,
    grantFileProtocolExtraPrivileges: false,
  });
  expect([asar, asarUnpack]).toEqual([true, undefined]);
  const fromBuilder = createRequire(createRequire(import.meta.url).resolve("electron-builder/package.json"));
  const fromPacker = createRequire(fromBuilder.resolve("app-builder-lib/package.json"));
  const { FuseV1Options }: { FuseV1Options: Record<string, string | number> } = fromPacker("@electron/fuses");
  const known = Object.keys(FuseV1Options).filter((name) => Number.isNaN(Number(name)));
  expect(known.map((name) => `${name[0]?.toLowerCase()}${name.slice(1)}`).toSorted()).toEqual(
    Object.keys(electronFuses).toSorted(),
  );
});

test("17, 20: the preload script gives away no channel, no event and nothing of Electron", () => {
  const invoked: unknown[][] = [];
  const listeners: { channel: string; listener: (...args: unknown[]) => void }[] = [];
  const exposed = new Map<string, Bridge>();
  const electron = {
    contextBridge: { exposeInMainWorld: (name: string, api: Bridge) => exposed.set(name, api) },
    ipcRenderer: {
      invoke: (...args: unknown[]) => invoked.push(args),
      on: (channel: string, listener: (...args: unknown[]) => void) => listeners.push({ channel, listener }),
      off: () => undefined,
    },
  };
  const require = (name: string) => {
    if (name === "electron") return electron;
    throw new Error(`a sandboxed preload script cannot require ${name}`);
  };
  runInNewContext(readFileSync(path.join(bundles, "preload/index.cjs"), "utf8"), {
    require,
    module: { exports: {} },
    exports: {},
    URL,
    TextEncoder,
    TextDecoder,
    Buffer: undefined,
  });
  const signet = exposed.get("signet");
  if (!signet) throw new Error("nothing was exposed");
  expect([...exposed.keys()]).toEqual(["signet"]);
  expect(Object.keys(signet).toSorted()).toEqual(["listen", "methods"]);
  const { methods, listen } = signet;
  expect(Object.keys(methods)).toEqual(methodNames);
  // One argument goes through, on the method's own channel: nobody can name another one.
  for (const name of methodNames) Reflect.apply(methods[name] ?? (() => null), null, [{ asked: name }, "second"]);
  expect(invoked).toEqual(methodNames.map((name) => [name, { asked: name }]));
  const heard: unknown[][] = [];
  const unlisten = listen((...args: unknown[]) => heard.push(args));
  expect(listeners.map(({ channel }) => channel)).toEqual([messageChannel]);
  // The event holds the sender, and with it ipcRenderer.
  listeners[0]?.listener({ sender: electron.ipcRenderer }, "message");
  expect(heard).toEqual([["message"]]);
  expect(typeof unlisten).toBe("function");
});
