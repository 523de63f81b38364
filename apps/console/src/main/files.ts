import { createWriteStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type BrowserWindow, dialog } from "electron";

/** Larger than any certificate, key or container of both, in bytes. */
const largestPick = 1024 * 1024;

const filters = {
  certificate: [{ name: "PEM, PFX", extensions: ["pem", "crt", "cer", "pfx", "p12"] }],
  key: [{ name: "PEM", extensions: ["pem", "key"] }],
  any: [],
};

/** Files, each by a dialog in which the person names it: no path ever comes from the page. */
export function createFiles(window: () => BrowserWindow | null) {
  const owner = () => {
    const current = window();
    if (!current) throw new Error("there is no window to ask in");
    return current;
  };
  return {
    /** @param content not begun when the person chooses no place */
    async save(name: string, content: () => AsyncIterable<string | Uint8Array>): Promise<{ saved: string | null }> {
      const { canceled, filePath } = await dialog.showSaveDialog(owner(), { defaultPath: name });
      if (canceled || !filePath) return { saved: null };
      // Beside it and renamed: what lay there stays whole until the new one is complete.
      const partial = `${filePath}.part`;
      try {
        await pipeline(Readable.from(content()), createWriteStream(partial, { mode: 0o600, flush: true }));
        await rename(partial, filePath);
      } catch (error) {
        await rm(partial, { force: true });
        throw error;
      }
      return { saved: filePath };
    },
    async pick(kind: keyof typeof filters): Promise<{ name: string; base64: string } | null> {
      const every = { name: "*", extensions: ["*"] };
      const { canceled, filePaths } = await dialog.showOpenDialog(owner(), {
        properties: ["openFile"],
        filters: [...filters[kind], every],
      });
      const [file] = filePaths;
      if (canceled || file === undefined) return null;
      const handle = await open(file);
      try {
        const { size } = await handle.stat();
        if (size > largestPick) throw new Error(`${file} is larger than ${largestPick} bytes`);
        return { name: path.basename(file), base64: (await handle.readFile()).toString("base64") };
      } finally {
        await handle.close();
      }
    },
    async place(kind: "folder" | "file"): Promise<{ path: string } | null> {
      const property = kind === "folder" ? "openDirectory" : "openFile";
      const { canceled, filePaths } = await dialog.showOpenDialog(owner(), { properties: [property] });
      const [chosen] = filePaths;
      return canceled || chosen === undefined ? null : { path: chosen };
    },
  };
}
export type Files = ReturnType<typeof createFiles>;
