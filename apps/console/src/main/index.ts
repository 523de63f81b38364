import path from "node:path";
import { app, type BrowserWindow, Menu, protocol, session } from "electron";
import { serveRenderer } from "./app-protocol.ts";
import { watchAppliance } from "./appliance-status.ts";
import { createHandlers } from "./handlers.ts";
import { registerHandlers } from "./ipc.ts";
import { scheme } from "./origin.ts";
import { openSettings } from "./settings.ts";
import { confineContents, confineSession, openWindow } from "./window.ts";

/** How long the appliance may take for one answer, in milliseconds. */
const answerWithinMs = 4000;

let window: BrowserWindow | null = null;

function show(): void {
  if (window) {
    if (window.isMinimized()) window.restore();
    window.focus();
    return;
  }
  window = openWindow();
  window.on("closed", () => {
    window = null;
  });
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
  const settings = openSettings(path.join(app.getPath("userData"), "console.json"));
  const look = watchAppliance({ now: () => new Date(), timeoutMs: answerWithinMs });
  registerHandlers(
    createHandlers(settings, look),
    () => window?.webContents.id ?? null,
    (error) => console.error(error),
  );
  show();
  app.on("activate", show);
}

if (app.requestSingleInstanceLock()) {
  protocol.registerSchemesAsPrivileged([{ scheme, privileges: { standard: true, secure: true, codeCache: true } }]);
  app.enableSandbox();
  confineContents();
  app.on("second-instance", show);
  app.on("window-all-closed", () => {
    if (process.platform !== "darwin") app.quit();
  });
  app.whenReady().then(ready, (error: unknown) => {
    console.error(error);
    app.exit(1);
  });
} else {
  app.quit();
}
