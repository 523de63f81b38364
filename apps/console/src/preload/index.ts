import { contextBridge, ipcRenderer } from "electron";
import { methodNames } from "../shared/ipc.ts";

// One function a method and nothing else: the page never holds ipcRenderer and cannot name a channel.
contextBridge.exposeInMainWorld(
  "signet",
  Object.fromEntries(methodNames.map((name) => [name, (input?: unknown) => ipcRenderer.invoke(name, input)])),
);
