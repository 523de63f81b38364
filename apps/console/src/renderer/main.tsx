import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/source-serif-4/wght.css";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import catalogue from "../../../shared/catalogue/en/console.json" with { type: "json" };
import { startTranslations } from "../../../shared/i18n.ts";
import "../../../shared/ui/base.css";
import { Overview } from "./Overview.tsx";
import "./console.css";

startTranslations("console", catalogue);
const root = document.getElementById("root");
if (!root) throw new Error("The page has no root element.");
// The main process answers without any network: nothing waits for the browser to be online.
const queries = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: "always" } } });
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Overview />
    </QueryClientProvider>
  </StrictMode>,
);
