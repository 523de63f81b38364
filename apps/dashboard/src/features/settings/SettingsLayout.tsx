import { Link, type LinkProps, Outlet, useLocation } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import type settings from "../../../../../locales/en/settings.json";
import { translator } from "../../../../shared/i18n.ts";
import { useCan, useSession } from "../../session.tsx";
import "./settings.css";

declare module "../../../../shared/i18n.ts" {
  interface Catalogues {
    settings: typeof settings;
  }
}

type Section = { to: NonNullable<LinkProps["to"]>; label: string };

/** What this person may see of the settings, their own first. */
function useSections(): Section[] {
  const t = translator("settings");
  const { organization, canCreateOrganization } = useSession();
  const manages = {
    members: useCan("member:manage"),
    keys: useCan("apikey:manage"),
    organization: useCan("org:manage"),
  };
  const all: (Section & { shown: boolean })[] = [
    { to: "/settings/account", label: t("sections.account"), shown: true },
    {
      to: "/settings/organization",
      label: t("sections.organization"),
      shown: organization !== null || canCreateOrganization,
    },
    { to: "/settings/members", label: t("sections.members"), shown: manages.members },
    { to: "/settings/keys", label: t("sections.keys"), shown: manages.keys },
    { to: "/settings/webhooks", label: t("sections.webhooks"), shown: manages.organization },
    { to: "/settings/audit", label: t("sections.audit"), shown: manages.organization },
    { to: "/settings/branding", label: t("sections.branding"), shown: manages.organization },
  ];
  return all.filter(({ shown }) => shown);
}

/** The settings and the way between them: a list beside them, on a phone a row above. */
export function SettingsLayout() {
  const t = translator("settings");
  const { pathname } = useLocation();
  const row = useRef<HTMLElement>(null);
  // On a phone the present section may lie outside of the row.
  useEffect(() => {
    const links = row.current?.querySelectorAll("a") ?? [];
    const present = [...links].find((link) => pathname.startsWith(link.getAttribute("href") ?? "\0"));
    present?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [pathname]);
  return (
    <div className="settings">
      <nav ref={row} className="settings-nav" aria-label={t("sections.label")}>
        <ul>
          {useSections().map(({ to, label }) => (
            <li key={to}>
              <Link to={to} activeProps={{ "aria-current": "page" }}>
                {label}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div className="settings-page">
        <Outlet />
      </div>
    </div>
  );
}
