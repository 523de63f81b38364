import path from "node:path";
import { beginLanguage, TagError, tellBegun } from "../../locales/add.ts";
import { CatalogueError } from "../../locales/read.ts";
import { AppError } from "../kernel/errors.ts";
import { type Command, optional, print, UsageError } from "./command.ts";
import { entryOf } from "./list.ts";

const installed = path.resolve(import.meta.dirname, "../../locales");

export const language: Command = {
  ...entryOf("language"),
  usage: [
    "signet language TAG [--folder FOLDER]",
    "TAG is a BCP 47 tag: fr, pt-BR, zh-Hant. Called again, it adds what is new and leaves what is translated.",
    "--folder names the folder of the languages; by default that of this installation.",
  ],
  async run(context) {
    const [tag, ...more] = context.positionals;
    if (tag === undefined || more.length > 0) throw new UsageError("name one language by its tag");
    const folder = path.resolve(optional(context, "folder") ?? installed);
    try {
      const begun = beginLanguage(folder, tag);
      print(
        context,
        { language: tag, folder: path.join(folder, tag), catalogues: begun },
        tellBegun(tag, folder, begun),
      );
      return 0;
    } catch (error) {
      if (error instanceof TagError) throw new UsageError(error.message);
      if (error instanceof CatalogueError) throw new AppError("conflict", { detail: error.message });
      throw error;
    }
  },
};
