import "../../shared/start.ts";
import type docs from "../../../locales/en/docs.json";
import { deviceLanguage, startTranslations, takeWordsFrom } from "../../shared/languages.ts";
import { servedWords } from "../../shared/served-words.ts";
import { opening } from "../../shared/ui/opening.ts";
import { show } from "../../shared/ui/Page.tsx";
import { Docs } from "./routes.tsx";
import "./docs.css";

declare module "../../shared/i18n.ts" {
  interface Catalogues {
    docs: typeof docs;
  }
}

takeWordsFrom(servedWords);
await opening(async () => {
  await startTranslations(deviceLanguage(), ["docs"]);
  show(<Docs />);
});
