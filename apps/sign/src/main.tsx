import "../../shared/start.ts";
import sign from "../../shared/catalogue/en/sign.json" with { type: "json" };
import { startTranslations } from "../../shared/i18n.ts";
import { show } from "../../shared/ui/Page.tsx";
import { enter } from "./features/access/access.ts";
import { Sign } from "./routes.tsx";
import "./sign.css";

startTranslations("sign", sign);
// A second link opened in the same tab changes only the fragment.
window.addEventListener("hashchange", () => window.location.reload());
show(<Sign entry={enter()} />);
