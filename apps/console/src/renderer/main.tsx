import "../../../shared/start.ts";
import { MantineProvider } from "@mantine/core";
import "@mantine/core/styles.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import type console from "../../../../locales/en/console.json";
import type findings from "../../../../locales/en/findings.json";
import { createQueryClient } from "../../../shared/api/query-client.ts";
import { onLanguage, pageLanguage } from "../../../shared/i18n.ts";
import { deviceLanguage, startTranslations, takeWordsFrom } from "../../../shared/languages.ts";
import { styleNonce } from "../../../shared/start.ts";
import { Boundary } from "../../../shared/ui/Boundary.tsx";
import { ConfirmProvider } from "../../../shared/ui/kit/Confirm.tsx";
import { Toasts } from "../../../shared/ui/kit/notify.tsx";
import "../../../shared/ui/styles.ts";
import "../../../shared/ui/kit/kit.css";
import "../../../shared/ui/kit/table.css";
import { theme } from "../../../shared/ui/theme.ts";
import { ask } from "./bridge.ts";
import { builtWords } from "./built-words.ts";
import "./console.css";
import { createConsoleRouter } from "./routes.tsx";
import { useTold } from "./shell/useTold.ts";

declare module "../../../shared/i18n.ts" {
  interface Catalogues {
    console: typeof console;
    findings: typeof findings;
  }
}

takeWordsFrom(builtWords);
await startTranslations(deviceLanguage(), ["console", "findings"]);

// The page has no permission to write to the clipboard itself; the shared copy fields ask for it in the usual way.
Object.defineProperty(navigator, "clipboard", {
  value: { writeText: async (text: string) => void (await ask("clipboard.write", { text })) },
});

const queries = createQueryClient();
const router = createConsoleRouter();

function Console() {
  const [language, setLanguage] = useState(pageLanguage);
  useEffect(() => onLanguage(() => setLanguage(pageLanguage())), []);
  useTold();
  return (
    // Every word is drawn anew in another language.
    <ConfirmProvider key={language}>
      <RouterProvider router={router} />
      <Toasts />
    </ConfirmProvider>
  );
}

const element = document.getElementById("root");
if (!element) throw new Error("The page has no root element.");
createRoot(element).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={styleNonce}>
      <QueryClientProvider client={queries}>
        <Boundary>
          <Console />
        </Boundary>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
