import "../../shared/start.ts";
import { startTranslations } from "../../shared/i18n.ts";
import { languageFor, loadCatalogues } from "../../shared/languages.ts";
import { show } from "../../shared/ui/Page.tsx";
import { enter } from "./features/access/access.ts";
import { Sign } from "./routes.tsx";
import "./sign.css";

const entry = enter();
// The language that the sender chose for this person, else the browser's.
const entered = await entry;
startTranslations({}, languageFor(["locale" in entered ? entered.locale : null, ...navigator.languages]));
await loadCatalogues(["common", "sign"]);
show(<Sign entry={entry} />);
