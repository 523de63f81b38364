import "../../shared/start.ts";
import verify from "../../shared/catalogue/en/verify.json" with { type: "json" };
import { startTranslations } from "../../shared/i18n.ts";
import { show } from "../../shared/ui/Page.tsx";
import { Verify } from "./routes.tsx";
import "./verify.css";

startTranslations("verify", verify);
show(<Verify />);
