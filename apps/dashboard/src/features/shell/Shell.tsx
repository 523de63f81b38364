import { useDisclosure } from "@mantine/hooks";
import { Link, useRouterState } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect } from "react";
import type shell from "../../../../../locales/en/shell.json";
import { translator } from "../../../../shared/i18n.ts";
import { Brand } from "../../../../shared/ui/Brand.tsx";
import { Menu as MenuIcon } from "../../../../shared/ui/icons.tsx";
import { useMode } from "../../mode.tsx";
import { DropAnywhere } from "./DropAnywhere.tsx";
import { ModeBand, ModeSwitch } from "./Mode.tsx";
import { Navigation } from "./Navigation.tsx";
import { OrganizationSwitcher } from "./OrganizationSwitcher.tsx";
import { UserMenu } from "./UserMenu.tsx";
import { useOnce } from "./useOnce.ts";
import { useShortcuts } from "./useShortcuts.ts";
import "./shell.css";

declare module "../../../../shared/i18n.ts" {
  interface Catalogues {
    shell: typeof shell;
  }
}

const t = translator("shell");
const common = translator("common");

// Loaded when they are asked for the first time.
const PhoneDrawer = lazy(async () => ({ default: (await import("./PhoneDrawer.tsx")).PhoneDrawer }));
const ShortcutHelp = lazy(async () => ({ default: (await import("./ShortcutHelp.tsx")).ShortcutHelp }));

/** The frame of the workspace: where one is, where one can go, as whom and in which of the two worlds. */
export function Shell({ children }: { children: ReactNode }) {
  const { testMode } = useMode();
  const [drawer, { open, close }] = useDisclosure(false);
  const [help, { open: openHelp, close: closeHelp }] = useDisclosure(false);
  const drawerUsed = useOnce(drawer);
  const helpUsed = useOnce(help);
  useShortcuts(openHelp);
  const pathname = useRouterState({ select: (state) => state.location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever went somewhere is done with the menu
  useEffect(close, [pathname]);

  const side = (
    <>
      <OrganizationSwitcher />
      <Navigation />
      <div className="side-foot">
        <ModeSwitch />
        <UserMenu onShortcuts={openHelp} />
      </div>
    </>
  );
  return (
    <div className="shell" data-test={testMode || undefined}>
      <a className="skip" href="#content">
        {common("skipToContent")}
      </a>
      <ModeBand />
      <header className="phone-head">
        <button type="button" className="burger" aria-label={t("menu")} aria-expanded={drawer} onClick={open}>
          <MenuIcon size={24} />
        </button>
        <Link to="/" className="home" aria-label={t("home")}>
          <Brand />
        </Link>
      </header>
      {drawerUsed && (
        <Suspense>
          <PhoneDrawer opened={drawer} onClose={close}>
            {side}
          </PhoneDrawer>
        </Suspense>
      )}
      <aside className="side side-fixed" aria-label={t("side")}>
        <Link to="/" className="home" aria-label={t("home")}>
          <Brand />
        </Link>
        {side}
      </aside>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <DropAnywhere />
      {helpUsed && (
        <Suspense>
          <ShortcutHelp opened={help} onClose={closeHelp} />
        </Suspense>
      )}
    </div>
  );
}
