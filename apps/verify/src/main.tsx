import "../../shared/start.ts";
import type evidence from "../../../locales/en/evidence.json";
import type verify from "../../../locales/en/verify.json";
import { deviceLanguage, startTranslations, takeWordsFrom } from "../../shared/languages.ts";
import { servedWords } from "../../shared/served-words.ts";
import { opening } from "../../shared/ui/opening.ts";
import { show } from "../../shared/ui/Page.tsx";
import { Verify } from "./routes.tsx";
import "./verify.css";

declare module "../../shared/i18n.ts" {
  interface Catalogues {
    verify: typeof verify;
    evidence: typeof evidence;
  }
}

takeWordsFrom(servedWords);
await opening(async () => {
  await startTranslations(deviceLanguage(), ["verify", "evidence"]);
  show(<Verify />);
});
