import { Button } from "@mantine/core";
import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { translator } from "../../../../shared/i18n.ts";
import { Gear, Home, Layers, Pages, Send } from "../../../../shared/ui/icons.tsx";
import { useCan, useSession } from "../../session.tsx";

const t = translator("shell");

/** The rooms of the workspace. */
export function Navigation() {
  const send = useCan("envelope:send");
  const { organization } = useSession();
  return (
    <nav className="side-nav" aria-label={t("navigation")}>
      {send && (
        <Button component={Link} to="/send" leftSection={<Send size={18} />} mb="sm" fullWidth>
          {t("nav.send")}
        </Button>
      )}
      {organization && (
        <>
          <Room to="/" icon={<Home />} exact>
            {t("nav.home")}
          </Room>
          <Room to="/envelopes" icon={<Pages />}>
            {t("nav.envelopes")}
          </Room>
          <Room to="/templates" icon={<Layers />}>
            {t("nav.templates")}
          </Room>
        </>
      )}
      <Room to="/settings" icon={<Gear />}>
        {t("nav.settings")}
      </Room>
    </nav>
  );
}

type RoomProps = { to: NonNullable<LinkProps["to"]>; icon: ReactNode; exact?: boolean; children: ReactNode };

function Room({ to, icon, exact = false, children }: RoomProps) {
  return (
    <Link to={to} className="room" activeOptions={{ exact, includeSearch: false }}>
      {icon}
      {children}
    </Link>
  );
}
