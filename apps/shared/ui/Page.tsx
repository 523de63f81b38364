import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createQueryClient } from "../api/query-client.ts";
import { styleNonce } from "../start.ts";
import { Boundary } from "./Boundary.tsx";
import "./styles.ts";
import { theme } from "./theme.ts";

const queries = createQueryClient();

/** Puts a page into the document with theme, query cache and the nonce for styles. */
export function show(page: ReactNode): void {
  const root = document.getElementById("root");
  if (!root) throw new Error("The page has no root element.");
  createRoot(root).render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={styleNonce}>
        <QueryClientProvider client={queries}>
          <Boundary>{page}</Boundary>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
