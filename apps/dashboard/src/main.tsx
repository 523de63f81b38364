import "../../shared/start.ts";
import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { NoAnswer, ProblemResponse } from "../../shared/api/client.ts";
import { createQueryClient } from "../../shared/api/query-client.ts";
import { onLanguage, pageLanguage, translator } from "../../shared/i18n.ts";
import { deviceLanguage, startTranslations, takeWordsFrom } from "../../shared/languages.ts";
import { servedWords } from "../../shared/served-words.ts";
import { styleNonce } from "../../shared/start.ts";
import { Boundary } from "../../shared/ui/Boundary.tsx";
import { requestIdOf } from "../../shared/ui/Failure.tsx";
import { ConfirmProvider } from "../../shared/ui/kit/Confirm.tsx";
import { notify, Toasts } from "../../shared/ui/kit/notify.tsx";
import { opening } from "../../shared/ui/opening.ts";
import "../../shared/ui/styles.ts";
import "./styles.ts";
import { theme } from "../../shared/ui/theme.ts";
import { hideToken } from "./features/access/token.ts";
import { createDashboardRouter } from "./routes.tsx";
import { shareOrganization } from "./session.tsx";

hideToken();
takeWordsFrom(servedWords);

const queries = createQueryClient();
shareOrganization(queries);
const router = createDashboardRouter(queries);

function Dashboard() {
  const [language, setLanguage] = useState(pageLanguage);
  useEffect(() => onLanguage(() => setLanguage(pageLanguage())), []);
  return (
    // Every word is drawn anew in another language.
    <ConfirmProvider key={language}>
      <RouterProvider router={router} />
      <Toasts />
    </ConfirmProvider>
  );
}

// A failed call that no page shows is told here, in the service's own words: nothing fails in silence.
window.addEventListener("unhandledrejection", (event) => {
  const failure: unknown = event.reason;
  if (!(failure instanceof ProblemResponse || failure instanceof NoAnswer)) return;
  event.preventDefault();
  const id = requestIdOf(failure);
  const t = translator("common");
  notify({ message: id === null ? failure.message : `${failure.message} (${t("requestId")}: ${id})`, tone: "bad" });
});

const element = document.getElementById("root");
if (!element) throw new Error("The page has no root element.");
await opening(async () => {
  await startTranslations(deviceLanguage());
  createRoot(element).render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={styleNonce}>
        <QueryClientProvider client={queries}>
          <Boundary>
            <Dashboard />
          </Boundary>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
});
