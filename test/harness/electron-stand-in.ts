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

type MenuItem = { label?: string; enabled?: boolean; click?: () => void };
type DialogAnswer = { canceled: boolean; filePath?: string; filePaths?: string[] };

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
  clipboard: "",
  protocolClients: [] as string[],
  notifications: [] as Notification[],
  trays: [] as Tray[],
  /** What the person chooses in the next dialog, and what the last one offered. */
  dialogAnswer: { canceled: true } as DialogAnswer,
  dialogOptions: undefined as unknown,
  displays: [{ workArea: { x: 0, y: 0, width: 1920, height: 1040 } }],
};

class WebContents extends EventEmitter {
  readonly id = 7;
  readonly mainFrame = { url: "app://console/index.html" };
  openHandler: Listener | undefined;
  /** Everything that was sent to the page; also an event, for the page that a test shows. */
  readonly sent: { channel: string; message: unknown }[] = [];
  send(channel: string, message: unknown) {
    this.sent.push({ channel, message });
    this.emit("test-sent", channel, message);
  }
  setWindowOpenHandler(handler: Listener) {
    this.openHandler = handler;
  }
}

type WindowOptions = {
  webPreferences: Record<string, unknown>;
  width?: number;
  height?: number;
  x?: number;
  y?: number;
};

export class BrowserWindow extends EventEmitter {
  readonly options: WindowOptions;
  readonly webContents = new WebContents();
  url = "";
  shown = 0;
  focused = 0;
  maximized = false;
  bounds = { x: 10, y: 20, width: 1180, height: 800 };
  constructor(options: WindowOptions) {
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
  isDestroyed() {
    return false;
  }
  maximize() {
    this.maximized = true;
  }
  isMaximized() {
    return this.maximized;
  }
  getNormalBounds() {
    return this.bounds;
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
  getLocale() {
    return "en-GB";
  }
  setAsDefaultProtocolClient(name: string) {
    recorded.protocolClients.push(name);
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
  buildFromTemplate: (items: MenuItem[]) => items,
};

export class Tray extends EventEmitter {
  toolTip = "";
  menu: MenuItem[] = [];
  image: unknown;
  destroyed = false;
  constructor(image: unknown) {
    super();
    this.image = image;
    recorded.trays.push(this);
  }
  setImage(image: unknown) {
    this.image = image;
  }
  setToolTip(text: string) {
    this.toolTip = text;
  }
  setContextMenu(menu: MenuItem[]) {
    this.menu = menu;
  }
  destroy() {
    this.destroyed = true;
  }
}

export class Notification extends EventEmitter {
  readonly options: { title: string; body: string };
  shown = 0;
  constructor(options: { title: string; body: string }) {
    super();
    this.options = options;
    recorded.notifications.push(this);
  }
  show() {
    this.shown += 1;
  }
}

export const nativeImage = {
  createFromBitmap: (pixels: Buffer, size: { width: number; height: number }) => ({ pixels, ...size }),
};
export const nativeTheme = { themeSource: "system" };
export const clipboard = {
  writeText(text: string) {
    recorded.clipboard = text;
  },
};
const answerDialog = async (_window: BrowserWindow, options: unknown) => {
  recorded.dialogOptions = options;
  return { filePath: "", filePaths: [], ...recorded.dialogAnswer };
};
export const dialog = { showSaveDialog: answerDialog, showOpenDialog: answerDialog };
export const screen = { getAllDisplays: () => recorded.displays };

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
