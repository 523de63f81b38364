import { Outlet } from "@tanstack/react-router";
import type access from "../../../../../locales/en/access.json";
import { translator } from "../../../../shared/i18n.ts";
import { languages } from "../../../../shared/languages.ts";
import { Brand } from "../../../../shared/ui/Brand.tsx";
import { Check } from "../../../../shared/ui/icons.tsx";
import { LanguageChoice } from "../shell/LanguageChoice.tsx";
import { Guilloche } from "./Guilloche.tsx";
import "./access.css";

declare module "../../../../shared/i18n.ts" {
  interface Catalogues {
    access: typeof access;
  }
}

const t = translator("access");
const common = translator("common");

/** Around the pages of whoever is not in yet: what this is on the left, the one thing to do on the right. */
export function AccessLayout() {
  return (
    <div className="access">
      <a className="skip" href="#content">
        {common("skipToContent")}
      </a>
      <aside className="access-side" aria-label={t("aside.label")}>
        <Guilloche />
        <div className="access-side-words">
          <Brand />
          <div>
            <p className="access-claim">{t("aside.claim")}</p>
            <ul>
              {([1, 2, 3] as const).map((point) => (
                <li key={point}>
                  <Check size={18} />
                  {t(`aside.point${point}`)}
                </li>
              ))}
            </ul>
          </div>
        </div>
      </aside>
      <div className="access-main">
        <header className="access-head">
          <Brand />
        </header>
        <main id="content" tabIndex={-1}>
          <Outlet />
        </main>
        <footer className="access-foot">
          <nav aria-label={t("foot.label")}>
            <a href="/verify">{t("foot.verify")}</a>
            <a href="/docs">{t("foot.docs")}</a>
          </nav>
          {languages().length > 1 && <LanguageChoice />}
        </footer>
      </div>
    </div>
  );
}
