import { useState } from "react";
import { translator } from "../../../../shared/i18n.ts";
import { Menu } from "../../../../shared/ui/icons.tsx";
import { PageLink } from "../PageLink.tsx";
import { groups, pages } from "../pages.ts";

const t = translator("console");

/** The pages in their groups. In a narrow window they are behind a button. */
export function Navigation({ current }: { current: string | null }) {
  const [open, setOpen] = useState(false);
  return (
    <nav aria-label={t("navigation")} data-open={open}>
      <button type="button" className="burger" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Menu /> {t("menu")}
      </button>
      <div className="groups">
        {groups.map((group) => {
          const inside = pages.filter((page) => page.group === group);
          if (inside.length === 0) return null;
          return (
            <div key={group}>
              <h2>{t(`groups.${group}`)}</h2>
              <ul>
                {inside.map(({ name, icon: Icon }) => (
                  <li key={name}>
                    <PageLink to={name} className="room" current={current === name} onGo={() => setOpen(false)}>
                      <Icon size={18} />
                      {t(`${name}.nav`)}
                    </PageLink>
                  </li>
                ))}
              </ul>
            </div>
          );
        })}
      </div>
    </nav>
  );
}
