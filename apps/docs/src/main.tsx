import "../../shared/start.ts";
import docs from "../../shared/catalogue/en/docs.json" with { type: "json" };
import { startTranslations } from "../../shared/i18n.ts";
import { show } from "../../shared/ui/Page.tsx";
import { Docs } from "./routes.tsx";
import "./docs.css";

startTranslations({ docs });
show(<Docs />);
