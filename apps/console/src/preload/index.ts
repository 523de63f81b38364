import { contextBridge, ipcRenderer } from "electron";
import { messageChannel, methodNames } from "../shared/ipc.ts";

// One function a method and nothing else: the page never holds ipcRenderer and cannot name a channel.
contextBridge.exposeInMainWorld("signet", {
  methods: Object.fromEntries(methodNames.map((name) => [name, (input?: unknown) => ipcRenderer.invoke(name, input)])),
  listen: (listener: (message: unknown) => void) => {
    const told = (_event: unknown, message: unknown) => listener(message);
    ipcRenderer.on(messageChannel, told);
    return () => {
      ipcRenderer.off(messageChannel, told);
    };
  },
});
