import { Outlet, useLocation } from "@tanstack/react-router";
import { lazy } from "react";
import { loadCatalogues } from "../../../../shared/languages.ts";
import { FreshProvider } from "../../../../shared/ui/kit/useFresh.tsx";
import { ModeProvider } from "../../mode.tsx";
import { useSession } from "../../session.tsx";
import { NoOrganization } from "./NoOrganization.tsx";
import { SessionGuard } from "./SessionGuard.tsx";
import { Shell } from "./Shell.tsx";

// Loaded when a sign-in has become too old or ended.
const SignInAgain = lazy(async () => {
  const [{ SignInAgain: dialog }] = await Promise.all([import("./SignInAgain.tsx"), loadCatalogues(["access"])]);
  return { default: dialog };
});

/** Everything that a signed-in person sees around the pages. */
export function Workspace() {
  return (
    <ModeProvider>
      <FreshProvider dialog={SignInAgain}>
        <SessionGuard />
        <Shell>
          <Inside />
        </Shell>
      </FreshProvider>
    </ModeProvider>
  );
}

function Inside() {
  const { user, organization } = useSession();
  const { pathname } = useLocation();
  // The account belongs to the person, whatever organization there is.
  if (!organization && pathname !== "/settings/account") return <NoOrganization />;
  // Nothing of one organization or person may be left on the page of another.
  return <Outlet key={`${user.id} ${organization?.id ?? ""}`} />;
}
