import path from "node:path";
import { app, type BrowserWindow, Menu, nativeTheme, protocol, session } from "electron";
import { Message, messageChannel } from "../shared/ipc.ts";
import { serveRenderer } from "./app-protocol.ts";
import { defaultSocket, openConnection } from "./connection.ts";
import { linkScheme, pageOfArguments, pageOfLink } from "./deep-link.ts";
import { createFiles } from "./files.ts";
import { registerHandlers } from "./ipc.ts";
import { createLocalHandlers } from "./local-handlers.ts";
import { createNativeHandlers } from "./native-handlers.ts";
import { scheme } from "./origin.ts";
import { openStore } from "./store.ts";
import { openTray } from "./tray.ts";
import { confineContents, confineSession, openWindow } from "./window.ts";
import { wordsFor } from "./words.ts";

/** How long the appliance may take to say how it is, in milliseconds. */
const answerWithinMs = 4000;
/** How often the tray looks while no window does, in milliseconds. */
const lookEveryMs = 15_000;

let window: BrowserWindow | null = null;
/** Set when the application is ready: shows the window, on this page if one is named. */
let show: (page: string | null) => void = (page) => {
  wanted = page;
};
let wanted = pageOfArguments(process.argv);

const logError = (error: unknown) => console.error(error);

function send(message: Message): void {
  // Nobody listens once the window has gone.
  if (window && !window.isDestroyed()) window.webContents.send(messageChannel, Message.parse(message));
}

function ready(): void {
  confineSession(session.defaultSession);
  protocol.handle(scheme, serveRenderer(path.join(import.meta.dirname, "../renderer")));
  // Roles bring their own texts in the system's language; without an edit menu macOS has no copy and paste.
  Menu.setApplicationMenu(
    process.platform === "darwin"
      ? Menu.buildFromTemplate([{ role: "appMenu" }, { role: "editMenu" }, { role: "windowMenu" }])
      : null,
  );
  const store = openStore(path.join(app.getPath("userData"), "console.json"));
  nativeTheme.themeSource = themeOf(store.get().preferences);
  const connection = openConnection({
    store,
    socket: defaultSocket(process.platform, process.env.SIGNET_ADMIN_SOCKET),
    now: () => new Date(),
    timeoutMs: answerWithinMs,
  });
  const tray = openTray({
    words: () => wordsFor(store.get().preferences, app.getLocale()),
    notifies: () => store.get().preferences.background,
    open: (page) => show(page),
    quit: () => app.quit(),
  });
  const look = async () => {
    const found = await connection.look();
    await tray.show(found);
    return found;
  };
  const files = createFiles(() => window);
  const local = createLocalHandlers({ address: connection.address, files, send, logError });
  const native = createNativeHandlers({
    store,
    connection,
    look,
    files,
    unfollow: local.stop,
    onPreferences: (preferences) => {
      nativeTheme.themeSource = themeOf(preferences);
      void tray.redraw().catch(logError);
    },
  });
  registerHandlers(new Map([...native, ...local.handlers]), () => window?.webContents.id ?? null, logError);

  show = (page) => {
    if (window) {
      if (window.isMinimized()) window.restore();
      window.focus();
      if (page !== null) send({ kind: "page", page });
      return;
    }
    window = openWindow(store, page);
    window.webContents.on("did-start-navigation", ({ isMainFrame, isSameDocument }) => {
      if (isMainFrame && !isSameDocument) local.stopAll();
    });
    window.on("closed", () => {
      window = null;
      local.stopAll();
    });
  };
  show(wanted);
  app.on("activate", () => show(null));
  app.on("window-all-closed", () => {
    if (process.platform !== "darwin" && !store.get().preferences.background) app.quit();
  });
  app.on("before-quit", () => tray.close());
  setInterval(() => void look().catch(logError), lookEveryMs).unref();
}

const themeOf = ({ colorScheme }: { colorScheme: "auto" | "light" | "dark" }) =>
  colorScheme === "auto" ? "system" : colorScheme;

if (app.requestSingleInstanceLock()) {
  protocol.registerSchemesAsPrivileged([{ scheme, privileges: { standard: true, secure: true, codeCache: true } }]);
  app.enableSandbox();
  app.setAsDefaultProtocolClient(linkScheme);
  confineContents();
  app.on("second-instance", (_event, given) => show(pageOfArguments(given)));
  app.on("open-url", (event, url) => {
    event.preventDefault();
    show(pageOfLink(url));
  });
  app.whenReady().then(ready, (error: unknown) => {
    console.error(error);
    app.exit(1);
  });
} else {
  app.quit();
}
