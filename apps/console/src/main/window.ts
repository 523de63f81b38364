import path from "node:path";
import { app, BrowserWindow, type Rectangle, type Session, screen } from "electron";
import { isOwnPage, startUrl } from "./origin.ts";
import type { Store, WindowPlace } from "./store.ts";

const smallest = { width: 640, height: 480 };

/**
 * Opens the console's one window; it can show nothing but the console's own page.
 * @param page the page to begin with
 */
export function openWindow(store: Store, page: string | null): BrowserWindow {
  const place = placeOnScreen(store.get().window);
  const window = new BrowserWindow({
    width: 1180,
    height: 800,
    ...place,
    minWidth: smallest.width,
    minHeight: smallest.height,
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
  if (store.get().window?.maximized) window.maximize();
  window.once("ready-to-show", () => window.show());
  window.on("close", () => store.set({ window: { ...window.getNormalBounds(), maximized: window.isMaximized() } }));
  void window.loadURL(page === null ? startUrl : `${startUrl}#/${page}`);
  return window;
}

/** Where the window was, unless that is on no screen any more. */
function placeOnScreen(place: WindowPlace | null): Rectangle | null {
  if (!place) return null;
  const { x, y, width, height } = place;
  // Its title bar must be within reach.
  const reachable = screen.getAllDisplays().some(({ workArea }) => {
    const across = Math.min(x + width, workArea.x + workArea.width) - Math.max(x, workArea.x);
    return across >= 100 && y >= workArea.y && y <= workArea.y + workArea.height - 40;
  });
  return reachable && width >= smallest.width && height >= smallest.height ? { x, y, width, height } : null;
}

/** Whatever web contents come to be: no other page, no second window, no webview. */
export function confineContents(): void {
  app.on("web-contents-created", (_event, contents) => {
    contents.on("will-navigate", (details) => {
      // Loading the page itself again is what "try again" does.
      if (details.url.replace(/#.*/, "") !== startUrl) details.preventDefault();
    });
    contents.on("will-redirect", (details) => details.preventDefault());
    contents.on("will-frame-navigate", (details) => {
      if (!details.isMainFrame || details.url.replace(/#.*/, "") !== startUrl) details.preventDefault();
    });
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
