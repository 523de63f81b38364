import path from "node:path";
import { app, BrowserWindow, type Session } from "electron";
import { isOwnPage, startUrl } from "./origin.ts";

/** Opens the console's one window; it can show nothing but the console's own page. */
export function openWindow(): BrowserWindow {
  const window = new BrowserWindow({
    width: 960,
    height: 760,
    minWidth: 420,
    minHeight: 480,
    show: false,
    title: "Signet",
    webPreferences: {
      preload: path.join(import.meta.dirname, "../preload/index.cjs"),
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      webviewTag: false,
      spellcheck: false,
      devTools: !app.isPackaged,
    },
  });
  window.once("ready-to-show", () => window.show());
  void window.loadURL(startUrl);
  return window;
}

/** Whatever web contents come to be: no other page, no second window, no webview. */
export function confineContents(): void {
  app.on("web-contents-created", (_event, contents) => {
    contents.on("will-navigate", (details) => details.preventDefault());
    contents.on("will-redirect", (details) => details.preventDefault());
    contents.on("will-frame-navigate", (details) => details.preventDefault());
    contents.on("will-attach-webview", (event) => event.preventDefault());
    contents.setWindowOpenHandler(() => ({ action: "deny" }));
  });
}

/** No permission is ever granted, no download taken, and nothing is loaded but the console's own files. */
export function confineSession(session: Session): void {
  session.setPermissionRequestHandler((_contents, _permission, answer) => answer(false));
  session.setPermissionCheckHandler(() => false);
  session.setDevicePermissionHandler(() => false);
  session.on("will-download", (event) => event.preventDefault());
  session.webRequest.onBeforeRequest((details, answer) =>
    answer({ cancel: !isOwnPage(details.url) && !/^(data|devtools):/.test(details.url) }),
  );
}
