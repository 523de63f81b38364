import { createRootRoute, createRoute, createRouter, redirect } from "@tanstack/react-router";
import { expectHeading } from "../../../shared/ui/kit/heading.ts";
import { history } from "./go.ts";
import { pages } from "./pages.ts";
import { Shell } from "./shell/Shell.tsx";

const root = createRootRoute({
  component: Shell,
  // An old link, or one to a page that this console does not have.
  notFoundComponent: () => null,
});

const routes = [
  createRoute({
    getParentRoute: () => root,
    path: "/",
    beforeLoad: () => {
      throw redirect({ href: "/overview", replace: true });
    },
  }),
  ...pages.map(({ name, component }) => createRoute({ getParentRoute: () => root, path: `/${name}`, component })),
];

export function createConsoleRouter() {
  const router = createRouter({ routeTree: root.addChildren(routes), history });
  router.subscribe("onBeforeNavigate", ({ fromLocation, pathChanged }) => {
    if (fromLocation && pathChanged) expectHeading();
  });
  return router;
}
