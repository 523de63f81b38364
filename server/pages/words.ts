import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import type { Locales } from "../../locales/read.ts";

/** The words of the pages: each page fetches its own catalogues, in its own language only. */

export type ServedWords = {
  /** @returns null where there is no such catalogue or language */
  read: (language: string, catalogue: string) => Promise<Served | null>;
};

type Served = { json: Uint8Array; brotli: Uint8Array; etag: string };

const compress = promisify(brotliCompress);

/** What was asked for once is kept in both forms. */
export function openWords({ languages, catalogues, words }: Locales): ServedWords {
  const kept = new Map<string, Promise<Served>>();
  return {
    async read(language, catalogue) {
      // No path is ever composed from a request.
      if (!languages.includes(language) || !catalogues.includes(catalogue)) return null;
      const key = `${language}/${catalogue}`;
      const known = kept.get(key);
      if (known) return known;
      const served = prepare(words(language, catalogue));
      kept.set(key, served);
      // What failed is tried again the next time.
      served.catch(() => kept.delete(key));
      return served;
    },
  };
}

async function prepare(words: object): Promise<Served> {
  const json = Buffer.from(JSON.stringify(words));
  const brotli = await compress(json, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
  return { json, brotli, etag: `"${createHash("sha256").update(json).digest("base64url").slice(0, 22)}"` };
}
