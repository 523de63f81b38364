import "../../shared/start.ts";
import { startTranslations } from "../../shared/i18n.ts";
import { deviceLanguage, loadCatalogues } from "../../shared/languages.ts";
import { show } from "../../shared/ui/Page.tsx";
import { Verify } from "./routes.tsx";
import "./verify.css";

startTranslations({}, deviceLanguage());
await loadCatalogues(["common", "verify"]);
show(<Verify />);
