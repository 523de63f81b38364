import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { z } from "zod";
import type { CatalogueName } from "../../shared/i18n.ts";
import { languageFor, loadCatalogues } from "../../shared/languages.ts";
import { changeLanguage } from "../../shared/ui/changeLanguage.ts";
import { expectHeading } from "../../shared/ui/kit/heading.ts";
import { Loading } from "../../shared/ui/kit/Loading.tsx";
import { AccessLayout } from "./features/access/AccessLayout.tsx";
import { localPath } from "./features/access/local-path.ts";
import { EnvelopeSearch, EnvelopesSearch } from "./features/envelopes/search.ts";
import { SendSearch } from "./features/send/search.ts";
import { Missing } from "./features/shell/Missing.tsx";
import { RouteFailure } from "./features/shell/RouteFailure.tsx";
import { loadSession } from "./session.tsx";

/** Every address of the dashboard. Each page is a file of its own, loaded together with its words when it is opened. */

/** A page with the catalogues that it speaks from. */
function page<T extends Record<string, unknown>>(words: readonly CatalogueName[], file: () => Promise<T>) {
  return async () => {
    const [loaded] = await Promise.all([file(), loadCatalogues(words)]);
    return loaded;
  };
}

const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  notFoundComponent: Missing,
  errorComponent: RouteFailure,
});

/* Access: for whoever is not signed in, or comes with a token in the fragment. */

const access = createRoute({
  getParentRoute: () => root,
  id: "access",
  component: AccessLayout,
  loader: () => loadCatalogues(["access"]),
});
const signInSearch = z.object({
  returnTo: z.string().optional().catch(undefined),
  problem: z.string().max(64).optional().catch(undefined),
});
/** Where to go after the sign-in: a path of the dashboard, never another site. */
const signIn = createRoute({
  getParentRoute: () => access,
  path: "/sign-in",
  validateSearch: signInSearch,
  beforeLoad: async ({ context, search }) => {
    if (await loadSession(context.queries)) throw redirect({ to: localPath(search.returnTo), replace: true });
  },
  component: lazyRouteComponent(
    page(["access"], () => import("./features/access/SignInPage.tsx")),
    "SignInPage",
  ),
});
const signUp = createRoute({
  getParentRoute: () => access,
  path: "/sign-up",
  component: lazyRouteComponent(
    page(["access"], () => import("./features/access/SignUpPage.tsx")),
    "SignUpPage",
  ),
});
const firstOwner = createRoute({
  getParentRoute: () => access,
  path: "/first-owner",
  component: lazyRouteComponent(
    page(["access"], () => import("./features/access/FirstOwnerPage.tsx")),
    "FirstOwnerPage",
  ),
});
const invite = createRoute({
  getParentRoute: () => access,
  path: "/invite",
  component: lazyRouteComponent(
    page(["access"], () => import("./features/access/InvitePage.tsx")),
    "InvitePage",
  ),
});
const magic = createRoute({
  getParentRoute: () => access,
  path: "/magic",
  component: lazyRouteComponent(
    page(["access"], () => import("./features/access/MagicPage.tsx")),
    "MagicPage",
  ),
});
const forgotPassword = createRoute({
  getParentRoute: () => access,
  path: "/password/forgot",
  component: lazyRouteComponent(
    page(["access"], () => import("./features/access/ForgotPasswordPage.tsx")),
    "ForgotPasswordPage",
  ),
});
const resetPassword = createRoute({
  getParentRoute: () => access,
  path: "/password/reset",
  component: lazyRouteComponent(
    page(["access"], () => import("./features/access/ResetPasswordPage.tsx")),
    "ResetPasswordPage",
  ),
});

/* The workspace: for whoever is signed in. */

/** Whose language the page has taken. */
let greeted: string | null = null;

const workspace = createRoute({
  getParentRoute: () => root,
  id: "workspace",
  beforeLoad: async ({ context, location, preload }) => {
    const session = await loadSession(context.queries);
    if (!session) {
      const returnTo = location.href === "/" ? undefined : location.href;
      throw redirect({ to: "/sign-in", search: returnTo ? { returnTo } : {}, replace: true });
    }
    // Once for each person: a choice made elsewhere does not redraw what somebody is working on here.
    if (preload || greeted === session.user.id) return;
    const { id, locale } = session.user;
    // Where it cannot be shown the workspace opens all the same, and the next page tries again.
    if (locale === null || (await changeLanguage(languageFor([locale])))) greeted = id;
  },
  pendingComponent: () => <Loading rows={6} />,
  component: lazyRouteComponent(
    page(["shell"], () => import("./features/shell/Workspace.tsx")),
    "Workspace",
  ),
});
const welcome = createRoute({
  getParentRoute: () => workspace,
  path: "/",
  component: lazyRouteComponent(
    page(["templates", "shell"], () => import("./features/welcome/WelcomePage.tsx")),
    "WelcomePage",
  ),
});
const envelopes = createRoute({
  getParentRoute: () => workspace,
  path: "/envelopes",
  validateSearch: EnvelopesSearch,
  component: lazyRouteComponent(
    page(["envelopes"], () => import("./features/envelopes/EnvelopesPage.tsx")),
    "EnvelopesPage",
  ),
});
const envelope = createRoute({
  getParentRoute: () => workspace,
  path: "/envelopes/$id",
  validateSearch: EnvelopeSearch,
  component: lazyRouteComponent(
    page(["envelopes", "templates"], () => import("./features/envelopes/EnvelopePage.tsx")),
    "EnvelopePage",
  ),
});
const send = createRoute({
  getParentRoute: () => workspace,
  path: "/send",
  validateSearch: SendSearch,
  component: lazyRouteComponent(
    page(["send", "templates"], () => import("./features/send/SendPage.tsx")),
    "SendPage",
  ),
});
const bulk = createRoute({
  getParentRoute: () => workspace,
  path: "/bulk",
  validateSearch: SendSearch.pick({ template: true }),
  component: lazyRouteComponent(
    page(["send", "templates"], () => import("./features/bulk/BulkPage.tsx")),
    "BulkPage",
  ),
});
const templates = createRoute({
  getParentRoute: () => workspace,
  path: "/templates",
  component: lazyRouteComponent(
    page(["templates"], () => import("./features/templates/TemplatesPage.tsx")),
    "TemplatesPage",
  ),
});
const template = createRoute({
  getParentRoute: () => workspace,
  path: "/templates/$id",
  component: lazyRouteComponent(
    page(["templates"], () => import("./features/templates/TemplatePage.tsx")),
    "TemplatePage",
  ),
});
const settings = createRoute({
  getParentRoute: () => workspace,
  path: "/settings",
  component: lazyRouteComponent(
    page(["settings"], () => import("./features/settings/SettingsLayout.tsx")),
    "SettingsLayout",
  ),
});
const settingsStart = createRoute({
  getParentRoute: () => settings,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/settings/account", replace: true });
  },
});
const organization = createRoute({
  getParentRoute: () => settings,
  path: "/organization",
  component: lazyRouteComponent(
    page(["settings"], () => import("./features/settings/OrganizationPage.tsx")),
    "OrganizationPage",
  ),
});
const members = createRoute({
  getParentRoute: () => settings,
  path: "/members",
  component: lazyRouteComponent(
    page(["settings"], () => import("./features/settings/MembersPage.tsx")),
    "MembersPage",
  ),
});
const keys = createRoute({
  getParentRoute: () => settings,
  path: "/keys",
  component: lazyRouteComponent(
    page(["settings"], () => import("./features/settings/KeysPage.tsx")),
    "KeysPage",
  ),
});
const webhooks = createRoute({
  getParentRoute: () => settings,
  path: "/webhooks",
  component: lazyRouteComponent(
    page(["settings", "webhooks"], () => import("./features/webhooks/WebhooksPage.tsx")),
    "WebhooksPage",
  ),
});
const webhook = createRoute({
  getParentRoute: () => settings,
  path: "/webhooks/$id",
  component: lazyRouteComponent(
    page(["settings", "webhooks"], () => import("./features/webhooks/WebhookPage.tsx")),
    "WebhookPage",
  ),
});
const webhookEvents = createRoute({
  getParentRoute: () => settings,
  path: "/webhooks/events",
  component: lazyRouteComponent(
    page(["settings", "webhooks"], () => import("./features/webhooks/EventsPage.tsx")),
    "EventsPage",
  ),
});
const webhookCheck = createRoute({
  getParentRoute: () => settings,
  path: "/webhooks/check",
  component: lazyRouteComponent(
    page(["settings", "webhooks"], () => import("./features/webhooks/CheckPage.tsx")),
    "CheckPage",
  ),
});
const branding = createRoute({
  getParentRoute: () => settings,
  path: "/branding",
  component: lazyRouteComponent(
    page(["settings"], () => import("./features/settings/BrandingPage.tsx")),
    "BrandingPage",
  ),
});
const audit = createRoute({
  getParentRoute: () => settings,
  path: "/audit",
  component: lazyRouteComponent(
    page(["settings"], () => import("./features/settings/AuditPage.tsx")),
    "AuditPage",
  ),
});
const account = createRoute({
  getParentRoute: () => settings,
  path: "/account",
  component: lazyRouteComponent(
    page(["settings", "sign"], () => import("./features/settings/AccountPage.tsx")),
    "AccountPage",
  ),
});

const tree = root.addChildren([
  access.addChildren([signIn, signUp, firstOwner, invite, magic, forgotPassword, resetPassword]),
  workspace.addChildren([
    welcome,
    envelopes,
    envelope,
    send,
    bulk,
    templates,
    template,
    settings.addChildren([
      settingsStart,
      organization,
      members,
      keys,
      webhooks,
      webhook,
      webhookEvents,
      webhookCheck,
      branding,
      audit,
      account,
    ]),
  ]),
]);

/** The router of the dashboard over a query cache. */
export function createDashboardRouter(queries: QueryClient) {
  const router = createRouter({
    routeTree: tree,
    context: { queries },
    defaultPreload: "intent",
    scrollRestoration: true,
    defaultPendingMs: 300,
    defaultPendingMinMs: 200,
  });
  router.subscribe("onBeforeNavigate", ({ pathChanged, fromLocation }) => {
    if (pathChanged && fromLocation) expectHeading();
  });
  return router;
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createDashboardRouter>;
  }
}
