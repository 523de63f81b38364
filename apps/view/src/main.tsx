import "../../shared/start.ts";
import { startTranslations } from "../../shared/i18n.ts";
import { languageFor, loadCatalogues } from "../../shared/languages.ts";
import { show } from "../../shared/ui/Page.tsx";
import { enter, linkInFragment } from "./features/access.ts";
import { View } from "./routes.tsx";
import "../../shared/ui/kit/kit.css";
import "./view.css";

// A second link opened in the same tab changes only the fragment.
window.addEventListener("hashchange", () => {
  if (linkInFragment() !== null) window.location.reload();
});
const entry = await enter();
// The language that the sender chose for this person, else the browser's.
const chosen = entry.kind === "access" ? entry.status.viewer.locale : null;
startTranslations({}, languageFor([chosen, ...navigator.languages]));
await loadCatalogues(["common", "view"]);
show(<View entry={entry} />);
