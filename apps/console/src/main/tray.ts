import { Menu, Notification, nativeImage, Tray } from "electron";
import type { Connection, ConnectionState } from "../shared/native.ts";
import { trayPixels } from "./tray-icon.ts";
import type { Say } from "./words.ts";

export type TrayOptions = {
  words: () => Promise<Say>;
  /** Whether trouble is told by a notification. */
  notifies: () => boolean;
  open: (page: string) => void;
  quit: () => void;
};

/** The sign in the tray: how the appliance is, the way to the window, and a word when it gets into trouble. */
export function openTray(options: TrayOptions) {
  let tray: Tray | null = null;
  let shown: ConnectionState | null = null;

  async function draw(state: ConnectionState): Promise<void> {
    const t = await options.words();
    // It may have changed while the words were read.
    if (state !== shown) return;
    const { pixels, size } = trayPixels(state);
    const image = nativeImage.createFromBitmap(pixels, { width: size, height: size });
    if (tray) tray.setImage(image);
    else {
      tray = new Tray(image);
      tray.on("click", () => options.open("overview"));
    }
    tray.setToolTip(`Signet: ${t(`state.${state}`)}`);
    tray.setContextMenu(
      Menu.buildFromTemplate([
        { label: t(`state.${state}`), enabled: false },
        { type: "separator" },
        { label: t("tray.open"), click: () => options.open("overview") },
        { label: t("tray.logs"), click: () => options.open("diagnostics") },
        { type: "separator" },
        { label: t("tray.quit"), click: options.quit },
      ]),
    );
  }

  return {
    async show({ state }: Pick<Connection, "state">): Promise<void> {
      if (state === shown) return;
      const before = shown;
      shown = state;
      await draw(state);
      // Only what was well and is not any more; a start on the way is no trouble.
      if (before !== "running" || state === "starting" || !options.notifies()) return;
      const t = await options.words();
      const notification = new Notification({ title: t("tray.trouble"), body: t(`state.${state}`) });
      notification.on("click", () => options.open("overview"));
      notification.show();
    },
    /** In another language. */
    async redraw(): Promise<void> {
      if (shown !== null) await draw(shown);
    },
    close(): void {
      tray?.destroy();
      tray = null;
      shown = null;
    },
  };
}
