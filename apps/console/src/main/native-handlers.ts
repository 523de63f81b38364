import { clipboard } from "electron";
import { getStatus } from "../../../../server/features/appliance/status-contract.ts";
import { callLocal } from "../../../../server/local-client.ts";
import type { Connection, NativeMethod, NativeOutput, NativeParsed, Preferences } from "../shared/native.ts";
import type { ApplianceConnection } from "./connection.ts";
import type { Files } from "./files.ts";
import type { Handlers } from "./ipc.ts";
import { openPage } from "./open-external.ts";
import { controlService } from "./service-control.ts";
import type { Store } from "./store.ts";

export type NativeOptions = {
  store: Store;
  connection: ApplianceConnection;
  /** Looks and tells the tray what it saw. */
  look: () => Promise<Connection>;
  files: Files;
  unfollow: (subscription: string) => void;
  onPreferences: (preferences: Preferences) => void;
  serviceProgram?: string;
};
type NativeHandlers = { [M in NativeMethod]: (input: NativeParsed<M>) => Promise<NativeOutput<M>> };

/** What the console does itself. */
export function createNativeHandlers(options: NativeOptions): Handlers {
  const { store, connection, files } = options;
  const handlers: NativeHandlers = {
    "connection.look": options.look,
    "connection.get": async () => ({ ...connection.chosen(), platform: process.platform }),
    "connection.set": async ({ chosen }) => {
      store.set({ connection: chosen });
      return connection.chosen();
    },
    "service.control": async ({ verb }) => {
      const { remote } = connection.chosen();
      // The service behind a forwarded socket is another machine's.
      if (remote) return { outcome: "unavailable", detail: "" };
      return await controlService(process.platform, verb, options.serviceProgram);
    },
    "preferences.get": async () => store.get().preferences,
    "preferences.set": async (change) => {
      const preferences = { ...store.get().preferences, ...defined(change) };
      store.set({ preferences });
      options.onPreferences(preferences);
      return preferences;
    },
    openInBrowser: async ({ page }) => {
      const { url } = await callLocal(connection.address(), getStatus, {});
      return { opened: await openPage(url, page) };
    },
    "file.save": ({ name, text }) =>
      files.save(name, async function* () {
        yield text;
      }),
    "file.pick": ({ kind }) => files.pick(kind),
    "path.pick": ({ kind }) => files.place(kind),
    "clipboard.write": async ({ text }) => {
      clipboard.writeText(text);
      return {};
    },
    unfollow: async ({ subscription }) => {
      options.unfollow(subscription);
      return {};
    },
  };
  // The schema of this very method parsed the input, which the compiler cannot follow through the lookup.
  return new Map(
    Object.entries(handlers).map(([name, handler]) => [name, handler as (input: unknown) => Promise<unknown>]),
  );
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };
const defined = <T extends object>(change: T) =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Defined<T>;
