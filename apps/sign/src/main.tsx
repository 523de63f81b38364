import "../../shared/start.ts";
import type sign from "../../../locales/en/sign.json";
import { languageFor, startTranslations, takeWordsFrom } from "../../shared/languages.ts";
import { servedWords } from "../../shared/served-words.ts";
import { opening } from "../../shared/ui/opening.ts";
import { show } from "../../shared/ui/Page.tsx";
import { enter } from "./features/access/access.ts";
import { Sign } from "./routes.tsx";
import "./sign.css";

declare module "../../shared/i18n.ts" {
  interface Catalogues {
    sign: typeof sign;
  }
}

takeWordsFrom(servedWords);
await opening(async () => {
  const entry = enter();
  // The language that the sender chose for this person, else the browser's.
  const entered = await entry;
  const language = languageFor(["locale" in entered ? entered.locale : null, ...navigator.languages]);
  await startTranslations(language, ["sign"]);
  show(<Sign entry={entry} />);
});
