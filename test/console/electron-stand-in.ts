import { EventEmitter } from "node:events";
import { tmpdir } from "node:os";

/**
 * Stands where the module `electron` is imported by the console's main bundle, so that the bundle runs under plain Node. It
 * does nothing of its own: it keeps what the bundle registered, and the tests play the events.
 */

export type InvokeEvent = {
  sender: { id: number; mainFrame: unknown };
  senderFrame: { url: string } | null;
};
type Handler = (event: InvokeEvent, input: unknown) => Promise<unknown>;
type Listener = (...args: unknown[]) => unknown;

export const recorded = {
  userData: tmpdir(),
  holdsLock: true,
  quits: 0,
  sandboxed: false,
  handlers: new Map<string, Handler>(),
  windows: [] as BrowserWindow[],
  opened: [] as string[],
  schemes: [] as { scheme: string; privileges: Record<string, boolean> }[],
  protocols: new Map<string, (request: Request) => Promise<Response>>(),
  permissionRequest: undefined as Listener | undefined,
  permissionCheck: undefined as Listener | undefined,
  devicePermission: undefined as Listener | undefined,
  beforeRequest: undefined as Listener | undefined,
};

class WebContents extends EventEmitter {
  readonly id = 7;
  readonly mainFrame = { url: "app://console/index.html" };
  openHandler: Listener | undefined;
  setWindowOpenHandler(handler: Listener) {
    this.openHandler = handler;
  }
}

export class BrowserWindow extends EventEmitter {
  readonly options: { webPreferences: Record<string, unknown> };
  readonly webContents = new WebContents();
  url = "";
  shown = 0;
  focused = 0;
  constructor(options: { webPreferences: Record<string, unknown> }) {
    super();
    this.options = options;
    recorded.windows.push(this);
    app.emit("web-contents-created", {}, this.webContents);
  }
  async loadURL(url: string) {
    this.url = url;
    this.emit("ready-to-show");
  }
  show() {
    this.shown += 1;
  }
  focus() {
    this.focused += 1;
  }
  isMinimized() {
    return false;
  }
}

class App extends EventEmitter {
  readonly isPackaged = true;
  requestSingleInstanceLock() {
    return recorded.holdsLock;
  }
  enableSandbox() {
    recorded.sandboxed = true;
  }
  async whenReady() {}
  getPath() {
    return recorded.userData;
  }
  quit() {
    recorded.quits += 1;
  }
  exit(code: number) {
    throw new Error(`the main process gave up with ${code}`);
  }
}
export const app = new App();

export const ipcMain = {
  handle(name: string, handler: Handler) {
    if (recorded.handlers.has(name)) throw new Error(`${name} is handled twice`);
    recorded.handlers.set(name, handler);
  },
};

export const protocol = {
  registerSchemesAsPrivileged(schemes: typeof recorded.schemes) {
    recorded.schemes.push(...schemes);
  },
  handle(scheme: string, handler: (request: Request) => Promise<Response>) {
    recorded.protocols.set(scheme, handler);
  },
};

export const shell = {
  async openExternal(url: string) {
    recorded.opened.push(url);
  },
};

export const Menu = {
  setApplicationMenu() {},
  buildFromTemplate: () => ({}),
};

class Session extends EventEmitter {
  readonly webRequest = {
    onBeforeRequest: (listener: Listener) => {
      recorded.beforeRequest = listener;
    },
  };
  setPermissionRequestHandler(handler: Listener) {
    recorded.permissionRequest = handler;
  }
  setPermissionCheckHandler(handler: Listener) {
    recorded.permissionCheck = handler;
  }
  setDevicePermissionHandler(handler: Listener) {
    recorded.devicePermission = handler;
  }
}
export const session = { defaultSession: new Session() };
