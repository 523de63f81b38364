import "../../shared/start.ts";
import type view from "../../../locales/en/view.json";
import { languageFor, startTranslations, takeWordsFrom } from "../../shared/languages.ts";
import { servedWords } from "../../shared/served-words.ts";
import { opening } from "../../shared/ui/opening.ts";
import { show } from "../../shared/ui/Page.tsx";
import { enter, linkInFragment } from "./features/access.ts";
import { View } from "./routes.tsx";
import "../../shared/ui/kit/kit.css";
import "./view.css";

declare module "../../shared/i18n.ts" {
  interface Catalogues {
    view: typeof view;
  }
}

// A second link opened in the same tab changes only the fragment.
window.addEventListener("hashchange", () => {
  if (linkInFragment() !== null) window.location.reload();
});
takeWordsFrom(servedWords);
await opening(async () => {
  const entry = await enter();
  // The language that the sender chose for this person, else the browser's.
  const chosen = entry.kind === "access" ? entry.status.viewer.locale : null;
  await startTranslations(languageFor([chosen, ...navigator.languages]), ["view"]);
  show(<View entry={entry} />);
});
